"""FittedText and TextCard: read-only monospace text that can be selected and copied."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QResizeEvent, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import CopyButton

_MAX_LINES = 14


class FittedText(QPlainTextEdit):
    """As high as its text, up to a limit; then it scrolls."""

    def __init__(self, name: str, *, wraps: bool = True, max_lines: int = _MAX_LINES) -> None:
        super().__init__()
        self._max_lines = max_lines
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName(name)
        if wraps:
            self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        else:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)

    def set_text(self, text: str) -> None:
        if text != self.toPlainText():
            self.setPlainText(text)
            self.fit()

    def fit(self) -> None:
        metrics = self.fontMetrics()
        # For a plain text document this is in lines, wrapped ones included.
        needed = round(self.document().size().height())
        lines = min(needed, self._max_lines)
        scrolls = Qt.ScrollBarPolicy.ScrollBarAsNeeded
        hidden = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(scrolls if needed > lines else hidden)
        bar = self.horizontalScrollBar()
        below = bar.sizeHint().height() if bar.maximum() > 0 else 0
        height = metrics.lineSpacing() * max(1, lines) + metrics.height() * 3 // 4 + below
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.fit()


class TextCard(QWidget):
    """A heading with a copy button, and the text below. Hidden if the text is empty."""

    def __init__(
        self,
        title: str,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        wraps: bool = True,
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self.text = FittedText(title, wraps=wraps)
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(line // 3)
        self.copy = CopyButton(f"Copy: {title.lower()}", self.text.toPlainText, theme)
        self._buttons.addWidget(self.copy)
        header = QHBoxLayout()
        header.addWidget(heading, 1)
        header.addLayout(self._buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addLayout(header)
        layout.addWidget(self.text)
        self._hint = QLabel()
        self._hint.setProperty("role", "caption")
        self._hint.setWordWrap(True)
        self._hint.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._hint.hide()
        layout.addWidget(self._hint)

    def set_text(self, text: str) -> None:
        self.text.set_text(text)
        self.setVisible(bool(text))

    def set_hint(self, hint: str) -> None:
        if self._hint.text() != hint:
            self._hint.setText(hint)
            self._hint.setVisible(bool(hint))

    def add_button(self, button: QWidget) -> None:
        self._buttons.insertWidget(0, button)
