"""EnvironmentHelp: catalog description of the selected environment."""

import html
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.key_cap import KeyCap
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyHint

_MAX_KEYS = 12


class EnvironmentHelp(QWidget):
    """Catalog description of the selected environment."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(self.fontMetrics().height() // 4)
        self._displayed = ""

    def show_environment(self, entry: EnvironmentEntry) -> None:
        if entry.env_id == self._displayed:
            return
        self._displayed = entry.env_id
        while (item := self._layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        sections = (("Goal", entry.goal), ("Actions", entry.actions))
        self._add_text(entry.summary, sections)
        hints = entry.keys.hints()
        if hints:
            self._layout.addWidget(self._keys(hints[:_MAX_KEYS]))
        if len(hints) > _MAX_KEYS:
            self._add_text(f"and {len(hints) - _MAX_KEYS} more", ())
        self._add_text(
            "",
            (
                ("Observation", entry.observation),
                ("Rewards", entry.rewards),
                ("Episode end", entry.ends),
            ),
        )

    def _add_text(self, first: str, sections: Sequence[tuple[str, str]]) -> None:
        """One label for all sections; one per section is slow to build."""
        space = self.fontMetrics().height() // 2
        sections_html = "".join(
            f'<p style="margin: {space}px 0 0 0"><b>{title}</b><br>{html.escape(text)}</p>'
            for title, text in sections
        )
        label = QLabel(
            f'<p style="margin: 0">{html.escape(first)}</p>{sections_html}'
            if first
            else sections_html
        )
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setWordWrap(True)
        label.setProperty("role", "muted")
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._layout.addWidget(label)

    def _keys(self, hints: Sequence[KeyHint]) -> QWidget:
        em = self.fontMetrics().height()
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, em // 4, 0, em // 4)
        grid.setHorizontalSpacing(em // 2)
        grid.setVerticalSpacing(em // 4)
        grid.setColumnStretch(1, 1)
        for row, hint in enumerate(hints):
            caps = QHBoxLayout()
            caps.setSpacing(em // 5)
            for cap in hint.caps:
                caps.addWidget(KeyCap(cap, self._theme))
            caps.addStretch(1)
            label = QLabel(hint.label)
            label.setWordWrap(True)
            grid.addLayout(caps, row, 0)
            grid.addWidget(label, row, 1)
        return table
