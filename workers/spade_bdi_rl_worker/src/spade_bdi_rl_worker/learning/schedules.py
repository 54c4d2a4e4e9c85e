"""Schedules of epsilon and of the learning rate over a training run."""

from __future__ import annotations

from dataclasses import dataclass

CONSTANT, LINEAR, EXPONENTIAL = "constant", "linear", "exponential"
SCHEDULES = (LINEAR, EXPONENTIAL, CONSTANT)

_MIN_EXPONENTIAL = 1e-4  # an exponential schedule cannot start or end at 0


@dataclass
class EpsilonSchedule:
    """The probability of a random action, by the fraction of the training that is done (0 to 1).

    It changes from `start` to `end` over the first `fraction` of the training. Plans can override
    it: `explore` sets a minimum, `consolidate` uses the final value.
    """

    start: float
    end: float
    fraction: float
    schedule: str = LINEAR
    _min_epsilon: float = 0.0
    _is_consolidating: bool = False

    def epsilon(self, done: float) -> float:
        if self._is_consolidating:
            return self._final
        return max(self._scheduled(done), self._min_epsilon)

    def explore(self, min_epsilon: float) -> None:
        self._is_consolidating = False
        self._min_epsilon = min(1.0, max(0.0, min_epsilon))

    def consolidate(self) -> None:
        self._is_consolidating = True

    @property
    def _final(self) -> float:
        return self.start if self.schedule == CONSTANT else self.end

    def _scheduled(self, done: float) -> float:
        if self.schedule == CONSTANT or done >= self.fraction:
            return self._final
        t = done / self.fraction
        if self.schedule == EXPONENTIAL:
            start, end = max(self.start, _MIN_EXPONENTIAL), max(self.end, _MIN_EXPONENTIAL)
            return float(start * (end / start) ** t)
        return self.start + (self.end - self.start) * t


def learning_rate(start: float, end: float, done: float) -> float:
    """Interpolate linearly from `start` to `end` over the complete training."""
    return start + (end - start) * min(1.0, done)
