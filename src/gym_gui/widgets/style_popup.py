"""dress: a completer's list, which is a window of its own, in the style of the window it serves."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QCompleter, QLineEdit


def style_popup(completer: QCompleter, line: QLineEdit) -> None:
    """`line` is what is written in."""
    line.installEventFilter(_PopupStyle(completer, line))


class _PopupStyle(QObject):
    """The style sheet is the window's, so a window without parent has none."""

    def __init__(self, completer: QCompleter, line: QLineEdit) -> None:
        super().__init__(line)
        self._completer = completer
        self._line = line

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        # Before anything is offered: the list is measured when it is opened.
        if event.type() == QEvent.Type.FocusIn:
            popup, sheet = self._completer.popup(), self._line.window().styleSheet()
            if popup is not None and popup.styleSheet() != sheet:
                popup.setStyleSheet(sheet)
        return super().eventFilter(watched, event)
