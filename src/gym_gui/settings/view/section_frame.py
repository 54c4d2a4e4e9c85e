"""SectionFrame: one topic of the settings page: its heading, a sentence, and its rows."""

from PySide6.QtWidgets import QFrame, QLabel, QLayout, QVBoxLayout, QWidget


class SectionFrame(QFrame):
    """`add` puts rows below each other."""

    def __init__(self, title: str, says: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.setAccessibleName(title)
        line = self.fontMetrics().height()
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(line * 3 // 4)
        self._column.addWidget(heading)
        if says:
            words = QLabel(says)
            words.setWordWrap(True)
            words.setProperty("role", "muted")
            self._column.addWidget(words)

    def add(self, row: QWidget | QLayout) -> None:
        if isinstance(row, QWidget):
            self._column.addWidget(row)
        else:
            self._column.addLayout(row)
