"""Sheet: a small paper beside a row of the list of runs, on which something is written."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QFrame, QWidget


class Sheet(QFrame):
    """Closed by a click elsewhere; what becomes of what was written, subclasses decide."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")

    def show_beside(self, row: QRect) -> None:
        """Below the row, whose place on the screen is given, or above it where there is no room."""
        self.adjustSize()
        room = self.screen().availableGeometry()
        top = row.bottom() + 1
        if top + self.height() > room.bottom():
            top = max(room.top(), row.top() - self.height())
        left = min(row.left(), room.right() - self.width())
        self.move(max(room.left(), left), top)
        self.show()
