"""Matches what a script prints with what its event files contain.

CleanRL prints returns, and writes returns and lengths to the event file, which is read up to two
minutes later. Either may be read first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_WAITING = 2_000
_MAX_LENGTH = 2**63 - 1
_MAX_REMEMBERED = 100_000


class EndedEpisode(NamedTuple):
    """`length` is None if it is unknown."""

    episode_return: float
    length: int | None
    t_end: float


class EpisodeMatcher:
    """Combines the return and the length of an episode, by their step."""

    def __init__(self) -> None:
        self._returns: dict[int, deque[tuple[float, float]]] = {}
        self._lengths: dict[int, deque[int]] = {}
        self._waiting = 0

    def add_return(self, step: int, value: float, t: float) -> Iterator[EndedEpisode]:
        self._returns.setdefault(step, deque()).append((value, t))
        self._waiting += 1
        yield from self._match(step)
        while self._waiting > _MAX_WAITING:
            yield self._pop_without_length(next(iter(self._returns)))

    def add_length(self, step: int, value: float) -> Iterator[EndedEpisode]:
        if not 0 <= value <= _MAX_LENGTH:
            return  # not a length; also NaN
        self._lengths.setdefault(step, deque()).append(int(value))
        yield from self._match(step)
        while len(self._lengths) > _MAX_WAITING:
            del self._lengths[next(iter(self._lengths))]

    def flush_before(self, t: float) -> Iterator[EndedEpisode]:
        """Yield returns from before `t` without a length: it will not arrive."""
        while self._returns:
            step = next(iter(self._returns))
            if self._returns[step][0][1] >= t:
                return
            yield self._pop_without_length(step)

    def flush(self) -> Iterator[EndedEpisode]:
        """Yield all waiting returns without a length."""
        while self._returns:
            yield self._pop_without_length(next(iter(self._returns)))

    def _match(self, step: int) -> Iterator[EndedEpisode]:
        returns, lengths = self._returns.get(step), self._lengths.get(step)
        while returns and lengths:
            value, t = returns.popleft()
            self._waiting -= 1
            yield EndedEpisode(value, lengths.popleft(), t)
        if not returns:
            self._returns.pop(step, None)
        if not lengths:
            self._lengths.pop(step, None)

    def _pop_without_length(self, step: int) -> EndedEpisode:
        value, t = self._returns[step].popleft()
        self._waiting -= 1
        if not self._returns[step]:
            del self._returns[step]
        return EndedEpisode(value, None, t)


class SeenPoints:
    """Recognises points that are both printed and written, so that each counts once.

    Points are matched by tag and step. A step may have several points, one for each episode that
    ended there.
    """

    def __init__(self) -> None:
        self._unmatched: dict[tuple[str, int], int] = {}
        """Positive: points printed but not yet read from a file; negative: the reverse."""
        self._printed_tags: set[str] = {"charts/episodic_return", "eval/episodic_return"}

    def is_new_in_print(self, tag: str, step: int) -> bool:
        self._printed_tags.add(tag)
        return self._is_new(tag, step, 1)

    def is_new_in_file(self, tag: str, step: int) -> bool:
        """Tags that are never printed are not remembered."""
        return tag not in self._printed_tags or self._is_new(tag, step, -1)

    def _is_new(self, tag: str, step: int, side: int) -> bool:
        key = (tag, step)
        before = self._unmatched.get(key, 0)
        if before == -side:
            del self._unmatched[key]
        else:
            self._unmatched[key] = before + side
        if len(self._unmatched) > _MAX_REMEMBERED:
            del self._unmatched[next(iter(self._unmatched))]
        return before * side >= 0
