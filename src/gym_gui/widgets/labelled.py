"""A label above its input, as every field of the panel has it."""

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget


class Labelled(QWidget):
    """`text` names `field` for the eye, for the keyboard (buddy) and for screen readers."""

    def __init__(self, text: str, field: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        label = QLabel(text)
        label.setProperty("role", "caption")
        label.setBuddy(field)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(max(2, self.fontMetrics().height() // 4))
        layout.addWidget(label)
        layout.addWidget(field)
        layout.addStretch(1)
