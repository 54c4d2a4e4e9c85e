"""PlayheadModel: moving through pictures, by hand and by itself. A replay and a video are such."""

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.playback import SPEEDS, Playback
from gym_gui.runtime.ui_ticker import UiTicker


class PlayheadModel(QObject):
    """A base class: says what there is to play in `can_play`, shows it in `_show_playhead`."""

    changed = Signal()
    """Anything but the playhead and the picture; once per tick at most."""
    playhead_changed = Signal()
    """The playhead, or the picture at it."""

    def __init__(self, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ticker = ticker
        self.playback = Playback()

    @property
    def playhead(self) -> int:
        return self.playback.index

    @property
    def can_play(self) -> bool:
        """There is more than one picture."""
        raise NotImplementedError

    def seek(self, index: int) -> None:
        if self.playback.move_to(index):
            self._show_playhead()

    def step_by(self, count: int) -> None:
        """Who goes step by step wants to look: it pauses."""
        self.pause()
        self.seek(self.playhead + count)

    def play_or_pause(self) -> None:
        if self.playback.is_playing:
            self.pause()
        elif self.can_play:
            before = self.playhead
            self.playback.play()
            if self.playhead != before:
                self._show_playhead()
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

    def _show_playhead(self) -> None:
        """The playhead is somewhere else."""
        raise NotImplementedError
