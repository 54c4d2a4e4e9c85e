"""RunLegend: the names and colours of runs and groups; a click hides or shows one.

Shows `ChartsModel`.
"""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QFrame, QScrollArea, QSizePolicy, QWidget

from gym_gui.charts.model.chart_runs import RunGroup
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.run_colours import run_colour
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.styling import blend, scaled_font

_MAX_NAME_CHARACTERS = 34
_MAX_LINES = 5.6


class RunLegend(QWidget):
    """One entry for each run, or for each group with a mean."""

    laid_out = Signal()

    def __init__(
        self, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._displayed: tuple[RunGroup, ...] = ()
        self._entries: list[_Entry] = []
        self._layout = FlowLayout(self, gap=self.fontMetrics().height() // 3)
        theme.changed.connect(self._repaint)

    def update_runs(self) -> None:
        groups = self._model.groups
        if groups != self._displayed:
            self._displayed = groups
            self._layout.clear()
            self._entries = [self._make_entry(group) for group in groups]
            for entry in self._entries:
                self._layout.addWidget(entry)
            self.updateGeometry()
            self.laid_out.emit()
        hidden = self._model.hidden
        for entry in self._entries:
            entry.setChecked(not hidden.issuperset(entry.runs.run_ids))

    def _make_entry(self, group: RunGroup) -> "_Entry":
        entry = _Entry(group, self._theme)
        entry.clicked.connect(
            lambda is_visible, group=group: self._model.set_hidden(group.run_ids, not is_visible)
        )
        entry.solo_requested.connect(self._model.show_only)
        return entry

    def _repaint(self) -> None:
        for entry in self._entries:
            entry.update()


class LegendArea(QScrollArea):
    """As high as the legend, up to a few rows; then it scrolls."""

    def __init__(self, legend: RunLegend, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._legend = legend
        self.setWidget(legend)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        legend.laid_out.connect(self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        preferred = self._legend.heightForWidth(self.viewport().width())
        limit = round(self.fontMetrics().height() * _MAX_LINES)
        height = max(0, min(preferred, limit))
        if height != self.height():
            self.setFixedHeight(height)


class _Entry(QAbstractButton):
    """Checked while the group is visible."""

    solo_requested = Signal(object)

    def __init__(self, group: RunGroup, theme: ThemeModel) -> None:
        super().__init__()
        self.runs = group
        self._theme = theme
        self.setText(group.label)
        self.setCheckable(True)
        self.setChecked(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFont(scaled_font(self.font(), 0.94))
        self.setToolTip(
            f"{group.detail or group.label}\nClick to hide or show, double-click to show only this."
        )
        self.setAccessibleName(f"Show {group.label}")

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        metrics = self.fontMetrics()
        name = min(
            metrics.horizontalAdvance(self.text()),
            metrics.averageCharWidth() * _MAX_NAME_CHARACTERS,
        )
        return QSize(name + round(metrics.height() * 2.1), round(metrics.height() * 1.6))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """The first click has already hidden it."""
        self.solo_requested.emit(self.runs.run_ids)
        event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        metrics = self.fontMetrics()
        line = metrics.height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        edge = colours.accent if self.hasFocus() else colours.line
        painter.setPen(QPen(QColor(edge), 1.0))
        ground = blend(colours.raised, colours.surface, 0.7 if self.underMouse() else 0.0)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        colour = run_colour(self.runs.number, colours)
        swatch = QRectF(line * 0.55, (self.height() - line * 0.6) / 2, line * 0.6, line * 0.6)
        painter.setPen(QPen(colour if self.isChecked() else QColor(colours.disabled), 1.4))
        painter.setBrush(colour if self.isChecked() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(swatch, 2.5, 2.5)
        font = self.font()
        # The empty box and the struck name mark hidden runs, not the colour alone.
        font.setStrikeOut(not self.isChecked())
        painter.setFont(font)
        painter.setPen(QColor(colours.text if self.isChecked() else colours.muted))
        rect = self.rect().adjusted(round(line * 1.45), 0, -round(line * 0.55), 0)
        name = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, rect.width() + 2)
        painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, name)
        painter.end()


def visible_labels(groups: Sequence[RunGroup], hidden: frozenset[str]) -> list[tuple[int, str]]:
    """Colour indices and names of the visible groups, for exported files."""
    return [(group.number, group.label) for group in groups if not hidden.issuperset(group.run_ids)]
