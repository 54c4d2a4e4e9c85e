"""SteadyLabel: a number that changes many times a second without moving anything around it.

A QLabel asks for a new layout of the whole window whenever its text changes, unless its size is
fixed. This one keeps its size fixed, and grows when a text needs more.
"""

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QLabel, QWidget


class SteadyLabel(QLabel):
    """`widest` is a text that it has room for from the start."""

    def __init__(
        self, widest: str = "", role: str = "value", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self._widest = widest
        self._room = QSize()
        self._make_room(widest)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        if text != self.text():
            super().setText(text)
            self._make_room(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Another font, as of a style sheet that was set later: the room is measured anew."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._room = QSize()
            self._make_room(self._widest)
            self._make_room(self.text())

    def _make_room(self, text: str) -> None:
        metrics = self.fontMetrics()
        needed = QSize(metrics.horizontalAdvance(text), metrics.height())
        room = self._room.expandedTo(needed)
        if room != self._room:
            self._room = room
            self.setFixedSize(room)
