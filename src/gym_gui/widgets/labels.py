"""Labels: elided text, text of a stable size, a labelled field, a card with one value."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget


class ElidedLabel(QLabel):
    """One line of text that is elided to the available width; the tool tip has the full text."""

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_text(self, text: str) -> None:
        """Set text and tool tip."""
        if text != self.text():
            self.setText(text)
            self.setToolTip(text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        rect = self.contentsRect()
        elided = self.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, rect.width()
        )
        painter.drawText(rect, self.alignment(), elided)
        painter.end()


class SteadyLabel(QLabel):
    """A text that changes many times per second without moving its neighbours.

    A QLabel without a fixed size requests a layout of the window with each text. This one has a
    fixed size, which grows when a text needs more. `widest` is a text that fits from the start.
    """

    def __init__(
        self, widest: str = "", role: str = "value", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self._widest = widest
        self._size = QSize()
        self._grow_for(widest)

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        if text != self.text():
            super().setText(text)
            self._grow_for(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Measure again when the font changes, for example with a style sheet."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._size = QSize()
            self._grow_for(self._widest)
            self._grow_for(self.text())

    def _grow_for(self, text: str) -> None:
        metrics = self.fontMetrics()
        needed = QSize(metrics.horizontalAdvance(text), metrics.height())
        size = self._size.expandedTo(needed)
        if size != self._size:
            self._size = size
            self.setFixedSize(size)


class LabelledField(QWidget):
    """A caption above `field`, which is its buddy: for the keyboard and for screen readers."""

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


class ValueCard(QFrame):
    """A number or a word below its caption; the tool tip has the full text."""

    def __init__(self, caption: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
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
        """`tone` is `good`, `bad` or empty."""
        if self._value.property("tone") != tone:
            self._value.setProperty("tone", tone)
            self._value.style().unpolish(self._value)
            self._value.style().polish(self._value)
        self._text = text
        self.setToolTip(text)
        self._value.setAccessibleName(f"{self._caption} {text}")
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics = self._value.fontMetrics()
        width = max(metrics.height(), self.contentsRect().width() - metrics.height() * 7 // 6)
        self._value.setText(metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, width))
