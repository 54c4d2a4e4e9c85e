"""FrameRate: how many pictures a second are seen. Time is a parameter. Owned by `PlayModel`."""

from collections import deque

_OVER_S = 1.0
_MOST = 240


class FrameRate:
    """Counts what came within the last second."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MOST)

    def note(self, now: float) -> None:
        self._times.append(now)

    def per_second(self, now: float) -> float:
        """0 when nothing came for a second."""
        while self._times and now - self._times[0] > _OVER_S:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(1e-3, now - self._times[0])

    def clear(self) -> None:
        self._times.clear()
