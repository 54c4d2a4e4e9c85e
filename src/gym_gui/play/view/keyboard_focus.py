"""KeyboardFocus: keys reach the environment while a person plays, wherever the focus went.

It sits before the widget that has the focus and before the window, not before the whole
application: only these get keys, so only these need to be watched. What is typed into a field is
never taken, and who walks through the window with Tab keeps the keys until they come back.
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
    """Whatever is held beside it: for a key that goes up."""
    key = event.key()
    if ord("A") <= key <= ord("Z") or ord("0") <= key <= ord("9"):
        return chr(key).lower()
    return _NAMES.get(Qt.Key(key), "") if key in _KNOWN else ""


def key_name(event: QKeyEvent) -> str:
    """`a`, `left`, `ctrl+shift+r`; empty for keys that mean nothing in a session."""
    name = plain_key_name(event)
    modifiers = event.modifiers() & _MODIFIERS
    if not modifiers or not name:
        return name
    if modifiers != Qt.KeyboardModifier.ControlModifier:
        return ""
    shift = "shift+" if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else ""
    return f"ctrl+{shift}{name}"


_KNOWN = frozenset(int(key) for key in _NAMES)


_WALKING = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class KeyboardFocus(QObject):
    """Made once, by the wiring, for the window that holds the play area."""

    def __init__(self, model: PlayModel, area: PlayArea, window: QWidget) -> None:
        super().__init__(window)
        self._model = model
        self._area = area
        self._window = window
        self._watched: QWidget | None = None
        self._is_active = True
        self._walks_by_tab = False
        self._was_playing = False
        window.installEventFilter(self)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._on_focus_changed)
        for page in area.pages:
            page.installEventFilter(self)
        model.changed.connect(self._on_state)
        model.keyboard_wanted.connect(self.give_back)

    def give_back(self) -> None:
        """To the environment, from wherever the keyboard is now."""
        self._walks_by_tab = False
        page = self._area.shown_page
        if page is not None:
            page.setFocus(Qt.FocusReason.OtherFocusReason)
        self._update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind = event.type()
        if isinstance(event, QKeyEvent):
            if kind is QEvent.Type.KeyRelease:
                return self._on_release(event)
            return self._on_press(event, is_asking=kind is QEvent.Type.ShortcutOverride)
        if kind is QEvent.Type.FocusOut:
            self._model.release_all()
        elif watched is self._window and kind in (
            QEvent.Type.WindowActivate,
            QEvent.Type.WindowDeactivate,
        ):
            self._is_active = kind is QEvent.Type.WindowActivate
            self._update()
            if not self._is_active and isValid(self._model):
                self._model.pause_unattended("this window was not in front")
        elif kind in (QEvent.Type.Show, QEvent.Type.Hide) and isinstance(watched, PlaySurface):
            self._update()
        return False

    def _on_press(self, event: QKeyEvent, *, is_asking: bool) -> bool:
        """`is_asking`: whether the key shall come here rather than start a command."""
        if event.key() == Qt.Key.Key_F2 and self._model.is_playing:
            if not is_asking:
                self.give_back()
            event.accept()
            return True
        if event.key() == Qt.Key.Key_Escape:
            return self._on_escape(event, is_asking=is_asking)
        name = key_name(event)
        if not name or not self._takes_keys() or not self._model.wants_key(name):
            if event.key() in _WALKING and not is_asking and self._model.is_playing:
                self._walks_by_tab = True
                self._update()
            return False
        if not is_asking and not event.isAutoRepeat():
            self._model.press(name)
        event.accept()
        return True

    def _on_escape(self, event: QKeyEvent, *, is_asking: bool) -> bool:
        """Out of a field and back into the game."""
        if not self._model.is_playing or self._takes_keys() or self._area.shown_page is None:
            return False
        if not _is_field(QApplication.focusWidget()) and not self._walks_by_tab:
            return False
        if not is_asking:
            self.give_back()
        event.accept()
        return True

    def _on_release(self, event: QKeyEvent) -> bool:
        name = plain_key_name(event)
        if event.isAutoRepeat() or name not in self._model.held_keys:
            return False
        self._model.release_key(name)
        return True

    def _takes_keys(self) -> bool:
        if not (self._is_active and self._model.is_playing) or self._area.shown_page is None:
            return False
        if QApplication.activePopupWidget() is not None or QApplication.activeModalWidget():
            return False
        focused = QApplication.focusWidget()
        if focused is None or isinstance(focused, PlaySurface):
            return True
        return not self._walks_by_tab and not _is_field(focused)

    def _on_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if self._watched is not None:
            if isValid(self._watched):  # else it was deleted with the focus on it
                self._watched.removeEventFilter(self)
            self._watched = None
        if new is not None and new is not self._window and _belongs_to(new, self._window):
            if not isinstance(new, PlaySurface):
                new.installEventFilter(self)
                self._watched = new
            else:
                self._walks_by_tab = False
        self._update()

    def _on_state(self) -> None:
        """A session that begins gets the keyboard, unless somebody is typing."""
        is_playing = self._model.is_playing
        begins = is_playing and not self._was_playing
        self._was_playing = is_playing
        if begins and not _is_field(QApplication.focusWidget()):
            self.give_back()
        else:
            self._update()

    def _update(self) -> None:
        if isValid(self._model):  # the focus still moves while the window is taken apart
            self._model.set_has_keyboard(self._takes_keys())


def _is_field(widget: QWidget | None) -> bool:
    """Whether what is typed there is text or a value."""
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        return not widget.isReadOnly()
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, QAbstractSpinBox | QKeySequenceEdit)


def _belongs_to(widget: QObject, window: QWidget) -> bool:
    """Also in a panel of the window that floats."""
    owner: QObject | None = widget
    while owner is not None and owner is not window:
        owner = owner.parent()
    return owner is window
