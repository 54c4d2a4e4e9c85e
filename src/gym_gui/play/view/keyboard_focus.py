"""KeyboardFocus: routes keys to the environment during play, wherever the focus is.

An event filter on the focused widget and on the window, not on the application. It never takes
keys from input fields, nor during Tab navigation.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QKeySequenceEdit,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.play_area import PlayArea
from gym_gui.play.view.play_surface import PlaySurface

_NAMES = {
    Qt.Key.Key_Left: "left",
    Qt.Key.Key_Right: "right",
    Qt.Key.Key_Up: "up",
    Qt.Key.Key_Down: "down",
    Qt.Key.Key_Space: "space",
    Qt.Key.Key_Return: "enter",
    Qt.Key.Key_Enter: "enter",
    Qt.Key.Key_Tab: "tab",
    Qt.Key.Key_Comma: "comma",
    Qt.Key.Key_F10: "f10",
}
_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


def plain_key_name(event: QKeyEvent) -> str:
    """Name of a key without its modifiers, for key releases."""
    key = event.key()
    if ord("A") <= key <= ord("Z") or ord("0") <= key <= ord("9"):
        return chr(key).lower()
    return _NAMES.get(Qt.Key(key), "") if key in _KNOWN else ""


def key_name(event: QKeyEvent) -> str:
    """`a`, `left`, `ctrl+shift+r`; empty for keys that sessions do not use."""
    name = plain_key_name(event)
    modifiers = event.modifiers() & _MODIFIERS
    if not modifiers or not name:
        return name
    if modifiers != Qt.KeyboardModifier.ControlModifier:
        return ""
    shift = "shift+" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else ""
    return f"ctrl+{shift}{name}"


_KNOWN = frozenset(int(key) for key in _NAMES)


_TAB_KEYS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class KeyboardFocus(QObject):
    """Created once, by the wiring, for the window of the play area."""

    def __init__(self, model: PlayModel, area: PlayArea, window: QWidget) -> None:
        super().__init__(window)
        self._model = model
        self._area = area
        self._window = window
        self._watched: QWidget | None = None
        self._is_active = True
        self._is_tab_navigating = False
        self._was_playing = False
        window.installEventFilter(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus_changed)
        for page in area.pages:
            page.installEventFilter(self)
        model.changed.connect(self._on_state)
        model.keyboard_requested.connect(self.return_keyboard)

    def return_keyboard(self) -> None:
        """Move the focus to the visible play view."""
        self._is_tab_navigating = False
        page = self._area.visible_page
        if page is not None:
            page.setFocus(Qt.FocusReason.OtherFocusReason)
        self._update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind = event.type()
        if isinstance(event, QKeyEvent):
            if kind is QEvent.Type.KeyRelease:
                return self._on_release(event)
            return self._on_press(event, is_override=kind is QEvent.Type.ShortcutOverride)
        if kind is QEvent.Type.FocusOut:
            self._model.release_all()
        elif watched is self._window and kind in (
            QEvent.Type.WindowActivate,
            QEvent.Type.WindowDeactivate,
        ):
            self._is_active = kind is QEvent.Type.WindowActivate
            self._update()
            if not self._is_active and isValid(self._model):
                self._model.pause_unattended("the window is inactive")
        elif kind in (QEvent.Type.Show, QEvent.Type.Hide) and isinstance(watched, PlaySurface):
            self._update()
        return False

    def _on_press(self, event: QKeyEvent, *, is_override: bool) -> bool:
        """`is_override`: Qt asks whether the key overrides a shortcut."""
        if event.key() == Qt.Key.Key_F2 and self._model.is_playing:
            if not is_override:
                self.return_keyboard()
            event.accept()
            return True
        if event.key() == Qt.Key.Key_Escape:
            return self._on_escape(event, is_override=is_override)
        name = key_name(event)
        if not name or not self._has_keyboard() or not self._model.handles_key(name):
            if event.key() in _TAB_KEYS and not is_override and self._model.is_playing:
                self._is_tab_navigating = True
                self._update()
            return False
        if not is_override and not event.isAutoRepeat():
            self._model.press(name)
        event.accept()
        return True

    def _on_escape(self, event: QKeyEvent, *, is_override: bool) -> bool:
        """Leave an input field or Tab navigation."""
        if not self._model.is_playing or self._has_keyboard() or self._area.visible_page is None:
            return False
        if not _is_field(QApplication.focusWidget()) and not self._is_tab_navigating:
            return False
        if not is_override:
            self.return_keyboard()
        event.accept()
        return True

    def _on_release(self, event: QKeyEvent) -> bool:
        name = plain_key_name(event)
        if event.isAutoRepeat() or name not in self._model.held_keys:
            return False
        self._model.release_key(name)
        return True

    def _has_keyboard(self) -> bool:
        if not (self._is_active and self._model.is_playing) or self._area.visible_page is None:
            return False
        if QApplication.activePopupWidget() is not None or QApplication.activeModalWidget():
            return False
        focused = QApplication.focusWidget()
        if focused is None or isinstance(focused, PlaySurface):
            return True
        return not self._is_tab_navigating and not _is_field(focused)

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None:
            if isValid(self._watched):  # else it was deleted while focused
                self._watched.removeEventFilter(self)
            self._watched = None
        if new is not None and new is not self._window and _belongs_to(new, self._window):
            if not isinstance(new, PlaySurface):
                new.installEventFilter(self)
                self._watched = new
            else:
                self._is_tab_navigating = False
        self._update()

    def _on_state(self) -> None:
        """A session that starts gets the focus, unless an input field has it."""
        is_playing = self._model.is_playing
        starts = is_playing and not self._was_playing
        self._was_playing = is_playing
        if starts and not _is_field(QApplication.focusWidget()):
            self.return_keyboard()
        else:
            self._update()

    def _update(self) -> None:
        if isValid(self._model):  # the focus still changes while the window is destroyed
            self._model.set_has_keyboard(self._has_keyboard())


def _is_field(widget: QWidget | None) -> bool:
    """Whether the widget accepts typed text or values."""
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        return not widget.isReadOnly()
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QAbstractSpinBox | QKeySequenceEdit)


def _belongs_to(widget: QObject, window: QWidget) -> bool:
    """Also true for floating panels of the window."""
    owner: QObject | None = widget
    while owner is not None and owner is not window:
        owner = owner.parent()
    return owner is window
