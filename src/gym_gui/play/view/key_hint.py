"""KeyHintLabel: key caps with a label; a click presses the key."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.key_cap import KeyCap

_PRESSING = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KeyHintLabel(QWidget):
    """Emits `pressed` and `released` with the name of the key."""

    pressed = Signal(str)
    released = Signal(str)

    def __init__(
        self,
        keys: Sequence[tuple[str, str]],
        label: str,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        """`keys` are pairs of key name and cap text."""
        super().__init__(parent)
        self._theme = theme
        self._caps: dict[str, KeyCap] = {}
        self._down = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(f"{label.capitalize()}. Press the key, or click.")
        self.setAccessibleName(f"{label}, {' or '.join(cap for _, cap in keys)}")
        line = self.fontMetrics().height()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2, 2, 2, 2)
        layout.setSpacing(line // 4)
        for key, cap in keys:
            self._caps[key] = KeyCap(cap, theme)
            layout.addWidget(self._caps[key])
        self._label = QLabel(label)
        self._label.setProperty("role", "muted")
        layout.addWidget(self._label)
        for child in (*self._caps.values(), self._label):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.update)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self._caps)

    @property
    def label(self) -> str:
        return self._label.text()

    def set_label(self, label: str) -> None:
        self._label.setText(label)

    def set_lit(self, key: str, is_lit: bool) -> None:
        self._caps[key].set_pressed(is_lit)

    def is_lit(self, key: str) -> bool:
        return self._caps[key].is_pressed

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if event.button() is Qt.MouseButton.LeftButton:
            self._press(self._key_at(event.position().x()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self._release()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in _PRESSING:
            if not event.isAutoRepeat():
                self._press(next(iter(self._caps)))
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in _PRESSING and not event.isAutoRepeat():
            self._release()
        else:
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        self._release()
        self.update()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() is QEvent.Type.EnabledChange and not self.isEnabled():
            self._release()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.colours.accent), 1.5))
            painter.drawRoundedRect(self.rect().adjusted(1, 1, -1, -1), 5, 5)
            painter.end()

    def _key_at(self, x: float) -> str:
        """The key at `x`; the first key next to the caps."""
        for key, cap in self._caps.items():
            if cap.x() <= x <= cap.x() + cap.width():
                return key
        return next(iter(self._caps))

    def _press(self, key: str) -> None:
        self._down = key
        self.pressed.emit(key)

    def _release(self) -> None:
        key, self._down = self._down, ""
        if key:
            self.released.emit(key)
