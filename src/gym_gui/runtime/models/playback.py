"""Playback: the position of a playhead, and PlayheadModel, the base of replay and video models."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.ui_ticker import UiTicker

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
DEFAULT_FPS = 30.0
_MAX_ELAPSED_S = 0.25
"""Longer pauses between ticks, such as a stall, do not skip frames."""


class Playback:
    """Frames 0 to `last`, inclusive. `advance` gets the time from its caller."""

    def __init__(self) -> None:
        self.index = 0
        self.last = 0
        self.fps = DEFAULT_FPS
        self.speed = 1.0
        self.is_playing = False
        self.is_looping = False
        self.is_waiting = False
        """Playing, but the next frame is not available yet."""
        self._position = 0.0
        self._last_time: float | None = None

    @property
    def is_at_end(self) -> bool:
        return self.index >= self.last

    def move_to(self, index: int) -> bool:
        """Return whether the index changed."""
        index = max(0, min(index, self.last))
        self._position = float(index)
        has_moved, self.index = index != self.index, index
        return has_moved

    def play(self) -> None:
        """Play from the playhead; from the start if it is at the end."""
        if self.is_at_end:
            self.move_to(0)
        self.is_playing, self._last_time = True, None

    def pause(self) -> None:
        self.is_playing = self.is_waiting = False
        self._last_time = None

    def advance(self, now: float, is_available: Callable[[int], bool]) -> bool:
        """Advance by the elapsed time, up to the last available frame. Return whether it moved."""
        if not self.is_playing:
            return False
        elapsed_s = 0.0 if self._last_time is None else min(now - self._last_time, _MAX_ELAPSED_S)
        self._last_time = now
        before = self.index
        target = self._position + elapsed_s * self.fps * self.speed
        target = target % (self.last + 1) if self.is_looping else min(target, float(self.last))
        self.index = _last_available(before, int(target), is_available)
        self.is_waiting = self.index != int(target)
        self._position = float(self.index) if self.is_waiting else target
        if self.is_at_end and not self.is_looping and not self.is_waiting:
            self.pause()
        return self.index != before


def _last_available(before: int, target: int, is_available: Callable[[int], bool]) -> int:
    if target < before:  # wrapped around
        return target if is_available(target) else 0
    while target > before and not is_available(target):
        target -= 1
    return target


class PlayheadModel(QObject):
    """Subclasses define `can_play` and `_on_playhead_moved`."""

    changed = Signal()
    """Anything but the playhead and its frame; at most once per tick."""
    playhead_changed = Signal()
    """The playhead, or its frame."""

    def __init__(self, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ticker = ticker
        self.playback = Playback()

    @property
    def playhead(self) -> int:
        return self.playback.index

    @property
    def can_play(self) -> bool:
        """There is more than one frame."""
        raise NotImplementedError

    def seek(self, index: int) -> None:
        if self.playback.move_to(index):
            self._on_playhead_moved()

    def step_by(self, count: int) -> None:
        """Pause, and move by `count` frames."""
        self.pause()
        self.seek(self.playhead + count)

    def play_or_pause(self) -> None:
        if self.playback.is_playing:
            self.pause()
        elif self.can_play:
            before = self.playhead
            self.playback.play()
            if self.playhead != before:
                self._on_playhead_moved()
            self._ticker.wake()
            self.changed.emit()

    def pause(self) -> None:
        if self.playback.is_playing:
            self.playback.pause()
            self.changed.emit()

    def set_speed(self, speed: float) -> None:
        self.playback.speed = max(SPEEDS[0], min(speed, SPEEDS[-1]))
        self.changed.emit()

    def set_looping(self, is_looping: bool) -> None:
        self.playback.is_looping = is_looping
        self.changed.emit()

    def _on_playhead_moved(self) -> None:
        raise NotImplementedError
