"""Playback: where the playhead of a replay or a video is, and how it moves by itself.

Plain arithmetic over a clock that is handed in; `ReplayModel` and `VideoModel` drive it.
"""

from collections.abc import Callable

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
DEFAULT_FPS = 30.0
_MAX_LEAP_S = 0.25
"""After a stall it continues from the same index."""


class Playback:
    """Frames 0 to `last`, both included."""

    def __init__(self) -> None:
        self.index = 0
        self.last = 0
        self.fps = DEFAULT_FPS
        self.speed = 1.0
        self.is_playing = False
        self.is_looping = False
        self.is_waiting = False
        """It would go on, but what comes next is not there yet."""
        self._position = 0.0
        self._then: float | None = None

    @property
    def is_at_end(self) -> bool:
        return self.index >= self.last

    def move_to(self, index: int) -> bool:
        """Whether that is somewhere else."""
        index = max(0, min(index, self.last))
        self._position = float(index)
        has_moved, self.index = index != self.index, index
        return has_moved

    def play(self) -> None:
        """From the playhead on; from the start when it stands at the end."""
        if self.is_at_end:
            self.move_to(0)
        self.is_playing, self._then = True, None

    def pause(self) -> None:
        self.is_playing = self.is_waiting = False
        self._then = None

    def advance(self, now: float, is_there: Callable[[int], bool]) -> bool:
        """Move on by the time that has passed, as far as frames are there. Whether it moved."""
        if not self.is_playing:
            return False
        passed = 0.0 if self._then is None else min(now - self._then, _MAX_LEAP_S)
        self._then = now
        before = self.index
        target = self._position + passed * self.fps * self.speed
        target = target % (self.last + 1) if self.is_looping else min(target, float(self.last))
        self.index = _as_far_as_there(before, int(target), is_there)
        self.is_waiting = self.index != int(target)
        self._position = float(self.index) if self.is_waiting else target
        if self.is_at_end and not self.is_looping and not self.is_waiting:
            self.pause()
        return self.index != before


def _as_far_as_there(before: int, target: int, is_there: Callable[[int], bool]) -> int:
    if target < before:  # around the end of a loop
        return target if is_there(target) else 0
    while target > before and not is_there(target):
        target -= 1
    return target
