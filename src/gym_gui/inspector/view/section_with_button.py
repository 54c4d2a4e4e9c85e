"""SectionWithButton: a section that has one more thing to do in the line of its heading."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QToolButton, QWidget

from gym_gui.widgets.section import Section


class SectionWithButton(QWidget):
    """The button stands beside the mark that folds the section."""

    def __init__(
        self, section: Section, button: QToolButton, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, round(line * 1.3), 0)
        row.addWidget(button)
        holder.setFixedHeight(round(line * 1.7))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(section, 0, 0)
        layout.addWidget(holder, 0, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
