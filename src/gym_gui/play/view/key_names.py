"""Names of keys as key maps have them, from what Qt calls them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

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
