"""TransportBar: buttons and keys that move a playhead, for the Replay and the Video tab."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QActionGroup, QKeyEvent, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from gym_gui.runtime.models.playback import SPEEDS, Playback
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.styling import set_disabled_reason

_SHIFT_STEPS = 10


class Transport(Protocol):
    """What buttons and keys control; implemented by `PlayheadModel`."""

    playback: Playback

    def play_or_pause(self) -> None: ...
    def step_by(self, steps: int) -> None: ...
    def seek(self, index: int) -> None: ...
    def set_speed(self, speed: float) -> None: ...
    def set_looping(self, is_looping: bool) -> None: ...


class TransportBar(QWidget):
    """`show_state` updates it; `trailing` is a layout for more buttons at the right."""

    def __init__(
        self, transport: Transport, unit: str, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        """`unit` is `step` or `frame`."""
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
        self.loop = self._button("replay", "Loop (L)", lambda: None)
        self.loop.setCheckable(True)
        self.loop.toggled.connect(transport.set_looping)
        self.hint = _Hint("muted")
        self.position = QLabel()
        self.position.setProperty("role", "value")
        self.position.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.position.setAccessibleName(f"Position in {unit}s")
        self.trailing = QHBoxLayout()
        self._arrange(line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Without the buttons to start and end: keys and the timeline can replace them."""
        minimum = super().minimumSizeHint()
        return (
            minimum
            if self._to_start.isHidden()
            else minimum - QSize(self._width_of_end_buttons(), 0)
        )

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.minimumSizeHint().width() + self._width_of_end_buttons()
        for button in (self._to_start, self._to_end):
            button.setVisible(is_wide)

    def _width_of_end_buttons(self) -> int:
        ends = (self._to_start, self._to_end)
        return sum(button.sizeHint().width() + self._gap for button in ends)

    def show_state(self, position: str, hint: str, *, is_enabled: bool) -> None:
        """Update buttons and texts."""
        playback = self._transport.playback
        if playback.is_playing != self._shows_pause:
            self._shows_pause = playback.is_playing
            name: IconName = "pause" if playback.is_playing else "play"
            set_icon(self.play, name, self._theme, "on_accent")
            text = "Pause" if playback.is_playing else "Play"
            self.play.setAccessibleName(text)
        for button in (self._to_start, self._back, self.play, self._forward, self._to_end):
            set_disabled_reason(button, "" if is_enabled else "Nothing to play.")
        if is_enabled:
            self.play.setToolTip(f"{self.play.accessibleName()} (Space)")
        self.speed.setText(speed_text(playback.speed))
        self.loop.setChecked(playback.is_looping)
        self.hint.show_text(hint)
        self._show_position(position)

    def _show_position(self, text: str) -> None:
        """In a fixed size that only grows: otherwise each text would cause a layout of the window,
        which takes longer than painting the frame."""
        self.position.setText(text)
        needed = self.position.sizeHint().expandedTo(self.position.minimumSize())
        if needed != self.position.minimumSize():
            self.position.setFixedSize(needed)

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
        layout.addLayout(self.trailing)

    def _button(
        self, name: IconName, tip: str, on_click: Callable[[], None], colour: str = "text"
    ) -> QToolButton:
        button = QToolButton()
        set_icon(button, name, self._theme, "on_accent" if colour == "on_accent" else "text")
        button.setIconSize(QSize(self._side, self._side))
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        button.clicked.connect(lambda _=False: on_click())
        return button

    def _speed_button(self) -> QToolButton:
        button = QToolButton()
        button.setText(speed_text(1.0))
        set_icon(button, "speed", self._theme)
        button.setIconSize(QSize(self._side, self._side))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setToolTip("Speed (− and +)")  # noqa: RUF001 - a minus sign
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
    """Shown only if it fits completely."""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.fontMetrics().horizontalAdvance(self.text()) <= self.contentsRect().width():
            super().paintEvent(event)


def speed_text(speed: float) -> str:
    """`1x`, `0.25x`."""
    return f"{speed:g}\N{MULTIPLICATION SIGN}"


def next_speed(speed: float, direction: int) -> float:
    """The next slower (-1) or faster (1) speed."""
    nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - speed))
    return SPEEDS[max(0, min(nearest + direction, len(SPEEDS) - 1))]


def handle_key(event: QKeyEvent, transport: Transport) -> bool:
    """Return whether the key was handled. Keys with Ctrl, Alt or Meta are left to the window."""
    other_modifiers = event.modifiers() & ~(
        Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
    )
    if other_modifiers:
        return False
    playback = transport.playback
    page = max(1, playback.last // 10)
    stride = _SHIFT_STEPS if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
    steps = {
        Qt.Key.Key_Left: -stride,
        Qt.Key.Key_Right: stride,
        Qt.Key.Key_PageUp: -page,
        Qt.Key.Key_PageDown: page,
        Qt.Key.Key_Home: -playback.last,
        Qt.Key.Key_End: playback.last,
    }
    key = Qt.Key(event.key())
    if key in steps:
        transport.step_by(steps[key])
    elif key is Qt.Key.Key_Space:
        if not event.isAutoRepeat():
            transport.play_or_pause()
    elif key is Qt.Key.Key_L:
        transport.set_looping(not playback.is_looping)
    elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
        transport.set_speed(next_speed(playback.speed, 1))
    elif key is Qt.Key.Key_Minus:
        transport.set_speed(next_speed(playback.speed, -1))
    else:
        return False
    return True
