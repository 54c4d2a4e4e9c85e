"""How much is explored, and how fast is learnt, as a training goes on."""

from __future__ import annotations

from dataclasses import dataclass

CONSTANT, LINEAR, EXPONENTIAL = "constant", "linear", "exponential"
SCHEDULES = (LINEAR, EXPONENTIAL, CONSTANT)

_LEAST = 1e-4  # from which, and to which, an exponential schedule can go


@dataclass
class Exploration:
    """The share of random actions. `done` is how much of the training is over, from 0 to 1.

    The schedule goes from `start` to `end` while the first `fraction` of the training lasts. Plans
    may decide otherwise: `explore` for at least so much, `consolidate` for as little as there is.
    """

    start: float
    end: float
    fraction: float
    schedule: str = LINEAR
    _least: float = 0.0
    _is_consolidating: bool = False

    def epsilon(self, done: float) -> float:
        if self._is_consolidating:
            return self._last
        return max(self._scheduled(done), self._least)

    def explore(self, least: float) -> None:
        self._is_consolidating = False
        self._least = min(1.0, max(0.0, least))

    def consolidate(self) -> None:
        self._is_consolidating = True

    @property
    def _last(self) -> float:
        return self.start if self.schedule == CONSTANT else self.end

    def _scheduled(self, done: float) -> float:
        if self.schedule == CONSTANT or done >= self.fraction:
            return self._last
        way = done / self.fraction
        if self.schedule == EXPONENTIAL:
            first, last = max(self.start, _LEAST), max(self.end, _LEAST)
            return float(first * (last / first) ** way)
        return self.start + (self.end - self.start) * way


def learning_rate(start: float, end: float, done: float) -> float:
    """Straight from `start` to `end` over the whole training."""
    return start + (end - start) * min(1.0, done)
