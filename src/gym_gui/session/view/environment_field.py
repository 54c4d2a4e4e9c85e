"""EnvironmentField and EnvironmentHelp: the selected environment, and its catalog description.

The field shows a thumbnail; a click opens the picker.
"""

import html
from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environments_model import EnvironmentsModel
from gym_gui.session.view.environment_picker import EnvironmentPicker
from gym_gui.session.view.thumbnails import Thumbnails
from gym_gui.widgets.icons import draw_icon
from gym_gui.widgets.key_cap import KeyCap
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.key_maps import KeyHint

_HEIGHT_EMS = 4.2
_THUMBNAIL_EMS = (4.4, 3.3)
_MAX_KEYS = 12
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class EnvironmentField(QPushButton):
    """A button that looks like an input field."""

    chosen = Signal(str)

    def __init__(
        self, environments: EnvironmentsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._environments = environments
        self._theme = theme
        self._thumbnails = Thumbnails(environments, theme)
        self._entry: EnvironmentEntry | None = None
        self._picker: EnvironmentPicker | None = None
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.open_picker)
        environments.thumbnail_arrived.connect(self._on_thumbnail)
        theme.changed.connect(self.update)

    def show_environment(self, entry: EnvironmentEntry) -> None:
        self._entry = entry
        self.setAccessibleName(f"Environment {entry.title}")
        self.setAccessibleDescription(entry.summary)
        self.setToolTip(f"{entry.env_id}\n{entry.summary}\nClick to select another one.")
        self._environments.request_thumbnails([entry.env_id])
        self.update()

    @property
    def picker(self) -> EnvironmentPicker:
        """Created when it is first opened, for a faster start."""
        if self._picker is None:
            self._picker = EnvironmentPicker(
                self._environments, self._thumbnails, self._theme, self
            )
            self._picker.chosen.connect(self.chosen)
        return self._picker

    def open_picker(self) -> None:
        self.picker.open_below(self, self._entry.env_id if self._entry else "")

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        em = self.fontMetrics().height()
        return QSize(em * 16, round(em * _HEIGHT_EMS))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        em = self.fontMetrics().height()
        return QSize(em * 12, round(em * _HEIGHT_EMS))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        em = self.fontMetrics().height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = colours.accent if self.hasFocus() or self.underMouse() else colours.line
        painter.setPen(QPen(QColor(edge), 2.0 if self.hasFocus() else 1.0))
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        if self._entry is not None:
            self._paint_entry(painter, self._entry, em)
        chevron = QRectF(self.width() - em * 1.5, self.height() / 2 - em / 2, em, em)
        draw_icon(painter, "chevron-down", colours.muted, chevron)
        painter.end()

    def _paint_entry(self, painter: QPainter, entry: EnvironmentEntry, em: int) -> None:
        colours = self._theme.colours
        width, height = (em * ems for ems in _THUMBNAIL_EMS)
        thumbnail_rect = QRectF(
            (self.height() - height) / 2, (self.height() - height) / 2, width, height
        )
        self._thumbnails.paint(painter, thumbnail_rect, entry.env_id, entry.family)
        left = round(thumbnail_rect.right() + em * 0.6)
        text_width = self.width() - left - round(em * 1.7)
        line = round(em * 1.25)
        top = self.height() // 2 - line
        bold = self.font()
        bold.setBold(True)
        for row, (text, font, colour) in enumerate(
            ((entry.title, bold, colours.text), (entry.env_id, self.font(), colours.muted))
        ):
            painter.setFont(font)
            painter.setPen(QColor(colour))
            elided = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, text_width)
            painter.drawText(QRect(left, top + row * line, text_width, line), _LEFT, elided)

    def _on_thumbnail(self, env_id: str) -> None:
        if self._entry is not None and env_id == self._entry.env_id:
            self.update()


class EnvironmentHelp(QWidget):
    """Goal, actions, keys, observation and rewards of the selected environment."""

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
