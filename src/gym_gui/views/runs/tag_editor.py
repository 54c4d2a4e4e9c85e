"""TagEditor: a small line under a run in which its tags are written. Enter keeps them."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QVBoxLayout, QWidget


class TagEditor(QFrame):
    """Goes away by itself; Escape or a click elsewhere changes nothing."""

    chosen = Signal(object)
    """A tuple of all tags the run is to have."""

    def __init__(self, tags: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("role", "card")
        self.line = QLineEdit(", ".join(tags))
        self.line.setPlaceholderText("baseline, paper")
        self.line.returnPressed.connect(self._keep)
        label = QLabel("Tags, separated by commas")
        label.setProperty("role", "caption")
        label.setBuddy(self.line)
        edge = self.fontMetrics().height() // 2
        layout = QVBoxLayout(self)
        layout.setContentsMargins(edge, edge, edge, edge)
        layout.addWidget(label)
        layout.addWidget(self.line)
        self.setMinimumWidth(self.fontMetrics().height() * 18)

    def show_at(self, place: QPoint) -> None:
        self.move(place)
        self.show()
        self.line.setFocus()
        self.line.selectAll()

    def _keep(self) -> None:
        tags = (tag.strip() for tag in self.line.text().split(","))
        self.chosen.emit(tuple(dict.fromkeys(tag for tag in tags if tag)))
        self.close()
