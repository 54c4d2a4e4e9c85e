"""RewardTrack: the rewards of one episode for the timeline.

Filled by `ReplayModel` in chunks; read by the timeline on every paint.
"""

import math
from array import array
from bisect import bisect_right
from itertools import accumulate

from gym_gui.replay.feed.replays import EpisodeChunk

_BLOCK = 16
"""Steps per block of cached extrema, so that a million steps paint quickly."""

_SAMPLES = 2_000
_USUAL = 0.9

Extent = tuple[float, float]
"""The lowest and the highest reward of some steps; (0, 0) without rewards."""


class RewardTrack:
    """Rewards, returns and actors by step."""

    def __init__(self) -> None:
        self.rewards = array("d")
        self._returns = array("d", [0.0])
        self._lows = array("d")
        self._highs = array("d")
        self._actor_starts: list[int] = []
        self._actors: list[str] = []
        self.lowest = 0.0
        self.highest = 0.0

    def __len__(self) -> int:
        return len(self.rewards)

    def extend(self, chunk: EpisodeChunk) -> None:
        """Append the next chunk."""
        known = array("d", [0.0 if math.isnan(value) else value for value in chunk.rewards])
        self.rewards.extend(chunk.rewards)
        totals = accumulate(known, initial=self._returns[-1])
        next(totals)
        self._returns.extend(totals)
        if known:
            self.lowest = min(self.lowest, *known, 0.0)
            self.highest = max(self.highest, *known, 0.0)
        for start in range(len(self._lows) * _BLOCK, len(self.rewards) - _BLOCK + 1, _BLOCK):
            low, high = _extent(self.rewards[start : start + _BLOCK])
            self._lows.append(low)
            self._highs.append(high)
        for step, actor in chunk.actors:
            if not self._actors or self._actors[-1] != actor:
                self._actor_starts.append(step)
                self._actors.append(actor)

    @property
    def usual_size(self) -> float:
        """The 90th percentile of absolute rewards, for the scale of the timeline."""
        stride = max(1, len(self.rewards) // _SAMPLES)
        sizes = sorted(
            abs(value) for value in self.rewards[::stride] if value and math.isfinite(value)
        )
        return sizes[int(len(sizes) * _USUAL)] if sizes else 0.0

    def return_after(self, steps: int) -> float | None:
        """The sum of the first `steps` rewards; None until they are read."""
        return self._returns[steps] if 0 <= steps < len(self._returns) else None

    def reward(self, step: int) -> float | None:
        """None where it is not stored or not read yet."""
        if not 0 <= step < len(self.rewards) or math.isnan(self.rewards[step]):
            return None
        return self.rewards[step]

    def actor(self, step: int) -> str | None:
        """The actor of a step; None until it is read."""
        at = bisect_right(self._actor_starts, step) - 1
        return self._actors[at] if at >= 0 and step < len(self.rewards) else None

    @property
    def actor_spans(self) -> tuple[tuple[range, str], ...]:
        """Ranges of steps and their actors, in order."""
        if not self._actors:
            return ()
        ends = (*self._actor_starts[1:], len(self.rewards))
        return tuple(
            (range(start, end), actor)
            for start, end, actor in zip(self._actor_starts, ends, self._actors, strict=True)
        )

    @property
    def all_actors(self) -> tuple[str, ...]:
        """All actors, in order of appearance."""
        return tuple(dict.fromkeys(self._actors))

    def extent(self, first: int, end: int) -> Extent:
        """The lowest and the highest reward of the steps from `first` to before `end`."""
        first, end = max(0, first), min(end, len(self.rewards))
        if end - first <= 2 * _BLOCK:
            return _extent(self.rewards[first:end])
        blocks = slice(-(-first // _BLOCK), min(end // _BLOCK, len(self._lows)))
        low, high = _extent(self.rewards[first : blocks.start * _BLOCK])
        low_after, high_after = _extent(self.rewards[blocks.stop * _BLOCK : end])
        return (
            min(low, low_after, *self._lows[blocks]),
            max(high, high_after, *self._highs[blocks]),
        )


def _extent(rewards: "array[float]") -> Extent:
    """Always contains zero, where bars start."""
    if math.isnan(sum(rewards)):  # a step that was not stored, or opposite infinities
        rewards = array("d", [value for value in rewards if not math.isnan(value)])
    return (min(min(rewards, default=0.0), 0.0), max(max(rewards, default=0.0), 0.0))
