"""SearchField: Enter requests the next match, Shift+Enter the previous one, Escape clears."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import themed_icon


class SearchField(QLineEdit):
    next_requested = Signal()
    previous_requested = Signal()

    def __init__(self, name: str, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setPlaceholderText("Search")
        self.setToolTip(name)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(self.fontMetrics().height() * 6)
        self.addAction(
            themed_icon("search", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.previous_requested if is_back else self.next_requested).emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)
