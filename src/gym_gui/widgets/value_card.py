"""ValueCard: one number or word with its caption above it."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget


class ValueCard(QFrame):
    """Too long values end in dots; the whole stands in the tooltip."""

    def __init__(self, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setProperty("role", "card")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line = self.fontMetrics().height()
        label = QLabel(caption)
        label.setProperty("role", "caption")
        self._caption = caption
        self._value = QLabel()
        self._value.setProperty("role", "value")
        self._value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        font = self._value.font()
        font.setBold(True)
        self._value.setFont(font)
        self._value.setMinimumWidth(0)
        self._value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line // 2, line // 2)
        layout.setSpacing(line // 8)
        layout.addWidget(label)
        layout.addWidget(self._value)

    def show_value(self, text: str, tone: str = "") -> None:
        """`tone` is good, bad, or nothing."""
        if self._value.property("tone") != tone:
            self._value.setProperty("tone", tone)
            self._value.style().unpolish(self._value)
            self._value.style().polish(self._value)
        self._whole = text
        self.setToolTip(text)
        self._value.setAccessibleName(f"{self._caption} {text}")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        metrics = self._value.fontMetrics()
        room = max(metrics.height(), self.contentsRect().width() - metrics.height() * 7 // 6)
        self._value.setText(metrics.elidedText(self._whole, Qt.TextElideMode.ElideRight, room))
