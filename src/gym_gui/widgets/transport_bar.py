"""TransportBar: the buttons that move a playhead. The Replay and the Video tab have one each."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QActionGroup, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from gym_gui.runtime.models.playback import SPEEDS, Playback
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import IconName, keep_icon
from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class Transport(Protocol):
    """What the buttons do; `ReplayModel` and `VideoModel` have it."""

    playback: Playback

    def play_or_pause(self) -> None: ...
    def step_by(self, steps: int) -> None: ...
    def seek(self, index: int) -> None: ...
    def set_speed(self, speed: float) -> None: ...
    def set_looping(self, is_looping: bool) -> None: ...


class TransportBar(QWidget):
    """`show_state` brings it up to date; `end` has room for more buttons at its right."""

    def __init__(
        self, transport: Transport, unit: str, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        """`unit` is what one goes by: step or frame."""
        super().__init__(parent)
        self._transport = transport
        self._theme = theme
        self._shows_pause = False
        line = self.fontMetrics().height()
        self._side = round(line * 1.15)
        self._gap = line // 4
        go_to_end: Callable[[], None] = lambda: transport.seek(transport.playback.last)  # noqa: E731
        self._to_start = self._button(
            "skip-start", "To the start (Home)", lambda: transport.seek(0)
        )
        self._back = self._button(
            "step-back", f"One {unit} back (Left)", lambda: transport.step_by(-1)
        )
        self.play = self._button("play", "Play (Space)", transport.play_or_pause, "on_accent")
        self.play.setProperty("role", "primary")
        self._forward = self._button(
            "step", f"One {unit} forward (Right)", lambda: transport.step_by(1)
        )
        self._to_end = self._button("skip-end", "To the end (End)", go_to_end)
        self.speed = self._speed_button()
        self.loop = self._button("replay", "Play again and again (L)", lambda: None)
        self.loop.setCheckable(True)
        self.loop.toggled.connect(transport.set_looping)
        self.hint = _Hint("muted")
        self.position = QLabel()
        self.position.setProperty("role", "value")
        self.position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.position.setAccessibleName(f"Position in {unit}s")
        self.end = QHBoxLayout()
        self._arrange(line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Without the ends, which keys and the timeline reach as well."""
        least = super().minimumSizeHint()
        return least if self._to_start.isHidden() else least - QSize(self._room_of_ends(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.minimumSizeHint().width() + self._room_of_ends()
        for button in (self._to_start, self._to_end):
            button.setVisible(is_wide)

    def _room_of_ends(self) -> int:
        ends = (self._to_start, self._to_end)
        return sum(button.sizeHint().width() + self._gap for button in ends)

    def show_state(self, position: str, hint: str, *, is_enabled: bool) -> None:
        """Bring buttons and texts up to date."""
        playback = self._transport.playback
        if playback.is_playing != self._shows_pause:
            self._shows_pause = playback.is_playing
            name: IconName = "pause" if playback.is_playing else "play"
            keep_icon(self.play, name, self._theme, "on_accent")
            text = "Pause" if playback.is_playing else "Play"
            self.play.setAccessibleName(text)
        for button in (self._to_start, self._back, self.play, self._forward, self._to_end):
            set_disabled_reason(button, "" if is_enabled else "There is nothing to play.")
        if is_enabled:
            self.play.setToolTip(f"{self.play.accessibleName()} (Space)")
        self.speed.setText(speed_text(playback.speed))
        self.loop.setChecked(playback.is_looping)
        self.hint.say(hint)
        self._show_position(position)

    def _show_position(self, text: str) -> None:
        """In room that only grows: a label without a fixed size lays out the whole window anew
        with each text, which takes longer than to paint the picture."""
        self.position.setText(text)
        wanted = self.position.sizeHint().expandedTo(self.position.minimumSize())
        if wanted != self.position.minimumSize():
            self.position.setFixedSize(wanted)

    def _arrange(self, line: int) -> None:
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self._gap)
        for button in (self._to_start, self._back, self.play, self._forward, self._to_end):
            layout.addWidget(button)
        layout.addSpacing(line // 2)
        layout.addWidget(self.speed)
        layout.addWidget(self.loop)
        layout.addSpacing(line // 2)
        layout.addWidget(self.hint, 1)
        layout.addSpacing(line // 2)
        layout.addWidget(self.position)
        layout.addLayout(self.end)

    def _button(
        self, name: IconName, tip: str, act: Callable[[], None], colour: str = "text"
    ) -> QToolButton:
        button = QToolButton()
        keep_icon(button, name, self._theme, "on_accent" if colour == "on_accent" else "text")
        button.setIconSize(QSize(self._side, self._side))
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.clicked.connect(lambda _=False: act())
        return button

    def _speed_button(self) -> QToolButton:
        button = QToolButton()
        button.setText(speed_text(1.0))
        keep_icon(button, "speed", self._theme)
        button.setIconSize(QSize(self._side, self._side))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setToolTip("Speed (− and +)")  # noqa: RUF001 - as it is printed on keys
        button.setAccessibleName("Speed")
        menu = QMenu(button)
        group = QActionGroup(menu)
        for speed in SPEEDS:
            action = menu.addAction(speed_text(speed))
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _=False, value=speed: self._transport.set_speed(value))
        menu.aboutToShow.connect(lambda: self._check_speed(group))
        button.setMenu(menu)
        return button

    def _check_speed(self, group: QActionGroup) -> None:
        for action, speed in zip(group.actions(), SPEEDS, strict=True):
            action.setChecked(speed == self._transport.playback.speed)


class _Hint(ElidedLabel):
    """Nobody misses it: where there is no room for all of it, there is none of it."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.fontMetrics().horizontalAdvance(self.text()) <= self.contentsRect().width():
            super().paintEvent(event)


def speed_text(speed: float) -> str:
    """`1x`, `0.25x`."""
    return f"{speed:g}\N{MULTIPLICATION SIGN}"


def next_speed(speed: float, direction: int) -> float:
    """The next slower (-1) or faster (1) one."""
    at = min(range(len(SPEEDS)), key=lambda each: abs(SPEEDS[each] - speed))
    return SPEEDS[max(0, min(at + direction, len(SPEEDS) - 1))]
