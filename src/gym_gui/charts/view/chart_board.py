"""ChartBoard: the groups of plots and the table of scores, in a scroll area. Shows `ChartsModel`.

Cards are filled a few at a time when they become visible, and plots are created one at a time.
Plots of hidden cards are reused.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.charts.model.chart_metrics import MetricGroup, MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.chart_card import ChartCard
from gym_gui.charts.view.score_panel import ScorePanel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.section import Section

if TYPE_CHECKING:
    from gym_gui.charts.view.metric_plot import MetricPlot

MakePlot = Callable[[MetricKey], "MetricPlot"]
_MAX_HIDDEN_PLOTS = 8
"""Plots of hidden cards that are not reused."""
_FILL_BATCH = 4
_DELETE_BATCH = 16
_TIME_SLICE_S = 0.008
_MAX_COLUMNS = 4
_COLUMN_LINES = 19
"""Preferred width of a card, in line heights."""


class ChartBoard(QScrollArea):
    """Has no plots before `start`."""

    picked = Signal(str, object, float, float)
    """A click on a curve: run, metric and point."""
    export_requested = Signal(object, str)

    def __init__(
        self,
        model: ChartsModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        has_scores: bool = True,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName("Charts")
        self._model = model
        self._theme = theme
        self._make: MakePlot | None = None
        self._cards: dict[MetricKey, ChartCard] = {}
        self._grids: dict[str, ChartGrid] = {}
        self._sections: dict[str, Section] = {}
        self._displayed: tuple[MetricGroup, ...] = ()
        self._lead: MetricKey | None = None
        self._runs: tuple[str, ...] = ()
        self._enlarged: MetricKey | None = None
        self._fitted: MetricKey | None = None
        """The card whose height was changed because it is enlarged."""
        self._spare_plots: list[MetricPlot] = []
        line = self.fontMetrics().height()
        self._content = QWidget()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, line)
        self._column.setSpacing(line // 2)
        self._scores: Section | None = None
        if has_scores:
            self._scores = Section("Final scores", ScorePanel(model, theme), theme)
            self._column.addWidget(self._scores)
        self._column.addStretch(1)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # One at a time, so that the window stays responsive when many become visible at once.
        self._visible_timer = self._deferred(self._update_visible)
        self._pending_draws: dict[MetricKey, None] = {}
        self._draw_timer = self._deferred(self._draw_next)
        self._pending_groups: deque[tuple[int, MetricGroup]] = deque()
        self._layout_timer = self._deferred(self._lay_out_groups)
        self._removed_cards: list[ChartCard] = []
        self._delete_timer = self._deferred(self._delete_removed)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._visible_timer.start())
        model.plot_changed.connect(self._on_plot_changed)
        model.axis_changed.connect(self._on_axis)
        theme.changed.connect(self._restyle)

    def start(self, make: MakePlot) -> None:
        """Start creating plots with this factory."""
        self._make = make
        self._visible_timer.start()

    def card(self, key: MetricKey) -> ChartCard | None:
        return self._cards.get(key)

    @property
    def cards(self) -> tuple[ChartCard, ...]:
        return tuple(self._cards.values())

    def update_metrics(self) -> None:
        """Show the metrics of the model, if they changed."""
        groups, lead = self._model.matching_metrics, self._model.returns
        if groups == self._displayed and lead == self._lead:
            return
        self._displayed, self._lead = groups, lead
        if self._runs != self._model.run_ids:
            self._runs = self._model.run_ids
            self.verticalScrollBar().setValue(0)
        self._remove_cards({key for group in groups for key in group.keys})
        for prefix in set(self._sections) - {group.prefix for group in groups}:
            section = self._sections.pop(prefix)
            section.hide()
            section.deleteLater()
            del self._grids[prefix]
        self._pending_groups = deque(enumerate(groups))
        self._lay_out_groups()

    def _lay_out_groups(self) -> None:
        """As many as fit a time slice: a run may have hundreds of metrics."""
        started_at = time.perf_counter()
        while self._pending_groups and time.perf_counter() - started_at < _TIME_SLICE_S:
            self._show_group(*self._pending_groups.popleft())
        if self._pending_groups:
            self._layout_timer.start()
            return
        if self._enlarged is not None and self._enlarged not in self._cards:
            self._enlarged = None
        self._apply_enlarged()
        self._visible_timer.start()

    def enlarge(self, key: MetricKey | None) -> None:
        """Show only this plot; all plots with None."""
        self._enlarged = None if key == self._enlarged else key
        self._apply_enlarged()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and self._enlarged is not None:
            self.enlarge(None)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit_enlarged()
        self._visible_timer.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._visible_timer.start()

    def _deferred(self, act: Callable[[], None]) -> QTimer:
        """A timer that calls `act` once in the next event loop iteration."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(act)
        return timer

    # Cards.

    def _show_group(self, index: int, group: MetricGroup) -> None:
        if group.prefix not in self._sections:
            grid = self._grids[group.prefix] = ChartGrid()
            is_open = not self._model.is_folded(group.prefix)
            section = Section(group.title, grid, self._theme, is_open=is_open)
            section.toggled.connect(
                lambda is_open, prefix=group.prefix: self._on_folded(prefix, not is_open)
            )
            grid.laid_out.connect(self._visible_timer.start)
            self._sections[group.prefix] = section
        self._sections[group.prefix].set_title(f"{group.title}  ·  {len(group.keys)}")
        self._column.removeWidget(self._sections[group.prefix])
        self._column.insertWidget(index, self._sections[group.prefix])
        cards = [self._cards.get(key) or self._make_card(key) for key in group.keys]
        self._grids[group.prefix].show_cards(cards, group.keys[0] == self._lead)

    def _make_card(self, key: MetricKey) -> ChartCard:
        card = self._cards[key] = ChartCard(key, self._model, self._theme)
        return card

    def _remove_cards(self, remaining: set[MetricKey]) -> None:
        for key in set(self._cards) - remaining:
            card = self._cards.pop(key)
            card.hide()  # first, to avoid a new layout of the other cards
            self._recycle_plot(card)
            self._model.unsubscribe(key)
            self._removed_cards.append(card)
        self._delete_timer.start()

    def _delete_removed(self) -> None:
        """Delete removed cards in batches."""
        for card in self._removed_cards[:_DELETE_BATCH]:
            if isValid(card):  # may have been deleted with its section
                card.deleteLater()
        del self._removed_cards[:_DELETE_BATCH]
        if self._removed_cards:
            self._delete_timer.start()

    def _on_folded(self, prefix: str, is_folded: bool) -> None:
        self._model.set_folded(prefix, is_folded)
        self._visible_timer.start()

    def _apply_enlarged(self) -> None:
        enlarged = self._enlarged
        for group in self._displayed:
            is_visible = enlarged is None or enlarged in group.keys
            if group.prefix in self._sections:
                self._sections[group.prefix].setVisible(is_visible)
        if self._scores is not None:
            self._scores.setVisible(enlarged is None)
        for key, card in self._cards.items():
            card.setVisible(enlarged in (None, key))
            card.set_enlarged(key == enlarged)
        self._fit_enlarged()
        self._visible_timer.start()

    def _fit_enlarged(self) -> None:
        if self._enlarged in self._cards:
            height = self.viewport().height() - 4 * self.fontMetrics().height()
            self._cards[self._enlarged].setMinimumHeight(height)
        if self._fitted != self._enlarged and self._fitted in self._cards:
            card = self._cards[self._fitted]
            card.setMinimumHeight(card.sizeHint().height())
        self._fitted = self._enlarged

    # Visible plots.

    def _update_visible(self) -> None:
        if self._make is None or not self.isVisible():
            return
        viewport = QRect(QPoint(), self.viewport().size())
        to_make: ChartCard | None = None
        to_fill: list[ChartCard] = []
        for card in self._cards.values():
            rect = QRect(card.mapTo(self.viewport(), QPoint()), card.size())
            is_visible = card.isVisible() and viewport.intersects(rect)
            if is_visible and not card.is_filled:
                to_fill.append(card)
            if is_visible and card.plot is None:
                to_make = to_make or card
            elif is_visible and not card.is_on_screen and card.plot is not None:
                card.plot.request_data()
            elif card.is_on_screen and not is_visible:
                self._model.unsubscribe(card.key)
            card.is_on_screen = is_visible
        for card in to_fill[:_FILL_BATCH]:
            card.fill()
            card.export_requested.connect(self.export_requested)
            card.enlarge_requested.connect(self.enlarge)
        if to_make is not None and not to_fill:
            to_make.set_plot(self._plot_for(to_make.key, self._make))
        if to_make is not None:
            self._visible_timer.start()

    def _recycle_plot(self, card: ChartCard) -> None:
        plot = card.release_plot()
        if plot is not None:
            plot.setParent(self)
            self._spare_plots.append(plot)

    def _plot_for(self, key: MetricKey, make: MakePlot) -> "MetricPlot":
        """Reuse a spare or hidden plot if there is one, because creating one is slow."""
        hidden = [card for card in self._cards.values() if card.plot and not card.is_on_screen]
        for card in hidden[: max(0, len(hidden) - _MAX_HIDDEN_PLOTS)]:
            self._recycle_plot(card)
        if self._spare_plots:
            spare = self._spare_plots.pop()
            spare.show_metric(key)
            return spare
        plot = make(key)
        plot.crosshair_moved.connect(self.show_crosshair)
        plot.picked.connect(self.picked)
        return plot

    def show_crosshair(self, x: float | None) -> None:
        """The same position in all plots, because they share the x axis."""
        for card in self._cards.values():
            if card.is_on_screen and card.plot is not None:
                card.plot.show_crosshair(x)

    def _on_plot_changed(self, key: MetricKey) -> None:
        self._pending_draws[key] = None
        self._draw_timer.start()

    def _draw_next(self) -> None:
        """One plot per event loop iteration."""
        key = next(iter(self._pending_draws), None)
        if key is None:
            return
        del self._pending_draws[key]
        card = self._cards.get(key)
        if card is not None:
            card.redraw()
        if self._pending_draws:
            self._draw_timer.start()

    def _on_axis(self) -> None:
        for card in self._cards.values():
            card.update_note()
            if card.plot is not None:
                card.plot.reset_range()
            card.is_on_screen = False
        self._visible_timer.start()

    def _restyle(self) -> None:
        for card in self._cards.values():
            card.restyle()


class ChartGrid(QWidget):
    """The cards of one group. With `has_lead` the first card is large and spans the grid."""

    laid_out = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cards: list[ChartCard] = []
        self._has_lead = False
        self._columns = 0
        self._layout = QGridLayout(self)
        line = self.fontMetrics().height()
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setHorizontalSpacing(line)
        self._layout.setVerticalSpacing(line * 2 // 3)

    @property
    def cards(self) -> Sequence[ChartCard]:
        return self._cards

    def show_cards(self, cards: Sequence[ChartCard], has_lead: bool) -> None:
        """Set the cards. The caller moves or deletes cards that are no longer included."""
        if list(cards) == self._cards and has_lead == self._has_lead:
            return
        self._cards, self._has_lead = list(cards), has_lead
        self._columns = 0
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        fitting = max(1, self.width() // (self.fontMetrics().height() * _COLUMN_LINES))
        others = len(self._cards) - self._has_lead
        columns = max(1, min(fitting, others or 1, _MAX_COLUMNS))
        if columns == self._columns:
            return
        self._columns = columns
        while self._layout.count():
            self._layout.takeAt(0)
        for column in range(max(columns, self._layout.columnCount())):
            self._layout.setColumnStretch(column, int(column < columns))
        for card, (row, column, span) in zip(self._cards, self._cells(columns), strict=True):
            card.set_large(self._has_lead and row == 0)
            self._layout.addWidget(card, row, column, 1, span)
            card.show()
        self.laid_out.emit()

    def _cells(self, columns: int) -> Iterator[tuple[int, int, int]]:
        first = int(self._has_lead)
        if self._has_lead:
            yield 0, 0, columns
        for number in range(len(self._cards) - first):
            yield first + number // columns, number % columns, 1
