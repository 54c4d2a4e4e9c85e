"""Puts an episode's return and its length together, which scripts tell in different places.

CleanRL prints returns and writes lengths to the event file only, and two minutes later.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_WAITING = 2_000
_LONGEST = 2**63 - 1


class EndedEpisode(NamedTuple):
    """`length` is None when nobody has told it."""

    episode_return: float
    length: int | None
    t_end: float


class EpisodeMatching:
    """Returns wait here for their lengths, by the step at which both were told."""

    def __init__(self) -> None:
        self._returns: dict[int, deque[tuple[float, float]]] = {}
        self._lengths: dict[int, deque[int]] = {}
        self._waiting = 0

    def add_return(self, step: int, value: float, t: float) -> Iterator[EndedEpisode]:
        self._returns.setdefault(step, deque()).append((value, t))
        self._waiting += 1
        yield from self._matched(step)
        while self._waiting > _MOST_WAITING:
            yield self._without_length(next(iter(self._returns)))

    def add_length(self, step: int, value: float) -> Iterator[EndedEpisode]:
        if not 0 <= value <= _LONGEST:
            return  # no length, NaN included
        self._lengths.setdefault(step, deque()).append(int(value))
        yield from self._matched(step)
        while len(self._lengths) > _MOST_WAITING:
            del self._lengths[next(iter(self._lengths))]

    def leave_before(self, t: float) -> Iterator[EndedEpisode]:
        """Those that were told before `t`: their lengths will not come any more."""
        while self._returns:
            step = next(iter(self._returns))
            if self._returns[step][0][1] >= t:
                return
            yield self._without_length(step)

    def leave(self) -> Iterator[EndedEpisode]:
        """All that still wait, as they are."""
        while self._returns:
            yield self._without_length(next(iter(self._returns)))

    def _matched(self, step: int) -> Iterator[EndedEpisode]:
        returns, lengths = self._returns.get(step), self._lengths.get(step)
        while returns and lengths:
            value, t = returns.popleft()
            self._waiting -= 1
            yield EndedEpisode(value, lengths.popleft(), t)
        if not returns:
            self._returns.pop(step, None)
        if not lengths:
            self._lengths.pop(step, None)

    def _without_length(self, step: int) -> EndedEpisode:
        value, t = self._returns[step].popleft()
        self._waiting -= 1
        if not self._returns[step]:
            del self._returns[step]
        return EndedEpisode(value, None, t)
