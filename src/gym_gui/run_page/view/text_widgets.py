"""Text widgets of the run page: `SearchField`, `FieldGrid`, `FittedText` and `TextCard`."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QKeyEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.run_summary import SummaryField
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.icons import themed_icon
from gym_gui.widgets.labels import ElidedLabel

_MAX_LINES = 14


class SearchField(QLineEdit):
    """Escape clears the text."""

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
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class FieldGrid(QWidget):
    """Shows `SummaryField` rows. Values can be selected and copied; labels are reused."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(line // 3)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, ElidedLabel]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_fields(self, fields: Sequence[SummaryField]) -> None:
        while len(self._rows) < len(fields):
            self._add_row()
        for index, (name, value) in enumerate(self._rows):
            is_used = index < len(fields)
            if is_used:
                field = fields[index]
                if name.text() != field.name:
                    name.setText(field.name)
                value.show_text(field.value)
                value.setToolTip(field.tip or field.value)
                value.setAccessibleName(f"{field.name} {field.value}")
            name.setVisible(is_used)
            value.setVisible(is_used)

    def text_of(self, name: str) -> str:
        """The value of that name; empty if there is none."""
        return next((value.text() for label, value in self._rows if label.text() == name), "")

    def _add_row(self) -> None:
        name = QLabel()
        name.setProperty("role", "muted")
        value = ElidedLabel("value")
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = len(self._rows)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._rows.append((name, value))


class FittedText(QPlainTextEdit):
    """As high as its text, up to a limit; then it scrolls."""

    def __init__(self, name: str, *, wraps: bool = True) -> None:
        super().__init__()

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
        lines = min(needed, _MAX_LINES)
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
