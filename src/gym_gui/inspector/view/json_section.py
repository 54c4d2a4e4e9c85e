"""JsonSection: any recorded value as readable text under a heading, with a button to copy it."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from gym_gui.inspector.view.section_with_button import SectionWithButton
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.copy_button import CopyButton
from gym_gui.widgets.raw_text import readable, whole
from gym_gui.widgets.section import Section

_MOST_LINES = 14


class JsonSection(QWidget):
    """Hidden while there is nothing to show."""

    def __init__(
        self,
        title: str,
        theme: ThemeModel,
        *,
        is_open: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._value: Any = None
        self._text = _FittedText()
        self._text.setAccessibleName(title)
        copy = CopyButton(f"Copy {title.lower()}", lambda: whole(self._value), theme)
        section = Section(title, self._text, theme, is_open=is_open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(SectionWithButton(section, copy))
        self.hide()

    def show_value(self, value: Any) -> None:
        """None, or an empty collection, hides it."""
        is_there = value is not None and value not in ({}, [], "")
        self.setVisible(is_there)
        if is_there and value != self._value:
            self._text.setPlainText(value if isinstance(value, str) else readable(value))
            self._text.fit()
        self._value = value


class _FittedText(QPlainTextEdit):
    """As high as its text, up to a limit from which on it scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))

    def fit(self) -> None:
        metrics = self.fontMetrics()
        # Of a plain document this is in lines, those included that wrapping makes.
        wanted = round(self.document().size().height())
        lines = min(wanted, _MOST_LINES)
        scrolls = Qt.ScrollBarPolicy.ScrollBarAsNeeded
        hidden = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(scrolls if wanted > lines else hidden)
        height = metrics.lineSpacing() * max(1, lines) + metrics.height() * 3 // 4
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.fit()
