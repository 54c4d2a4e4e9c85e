"""ChartBoard: all groups of plots below each other, and the table of scores. Scrolls.

Cards are filled a few at a time as they come in sight, and plots made one at a time; those that
have been out of sight for longest are given to others.
"""

import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.charts.model.chart_metrics import MetricGroup, MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.chart_card import ChartCard
from gym_gui.charts.view.chart_grid import ChartGrid
from gym_gui.charts.view.score_panel import ScorePanel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.section import Section

if TYPE_CHECKING:
    from gym_gui.charts.view.metric_plot import MetricPlot

MakePlot = Callable[[MetricKey], "MetricPlot"]
_MOST_UNSEEN = 8
"""Plots that keep what they show while they are out of sight."""
_FILLED_AT_ONCE = 4
_SWEPT_AT_ONCE = 16
_MOMENT_S = 0.008


class ChartBoard(QScrollArea):
    """Has no plots before `begin`."""

    picked = Signal(str, object, float, float)
    """A click on a curve: the run, the metric, and the point."""
    export_wanted = Signal(object, str)

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
        self._shown: tuple[MetricGroup, ...] = ()
        self._lead: MetricKey | None = None
        self._runs: tuple[str, ...] = ()
        self._enlarged: MetricKey | None = None
        self._fitted: MetricKey | None = None
        """The card that was given another height because it is enlarged."""
        self._spare: list[MetricPlot] = []
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
        # Made one at a time, so that the window stays quick while many come in sight at once.
        self._maker = self._soon(self._look)
        self._undrawn: dict[MetricKey, None] = {}
        self._drawer = self._soon(self._draw_next)
        self._unplaced: deque[tuple[int, MetricGroup]] = deque()
        self._placer = self._soon(self._place_groups)
        self._dropped: list[ChartCard] = []
        self._sweeper = self._soon(self._sweep)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._maker.start())
        model.picture_changed.connect(self._on_picture)
        model.axis_changed.connect(self._on_axis)
        theme.changed.connect(self._restyle)

    def begin(self, make: MakePlot) -> None:
        """From now on plots can be made."""
        self._make = make
        self._maker.start()

    def card(self, key: MetricKey) -> ChartCard | None:
        return self._cards.get(key)

    @property
    def cards(self) -> tuple[ChartCard, ...]:
        return tuple(self._cards.values())

    def update_metrics(self) -> None:
        """What the model has now; nothing is done where that is the same."""
        groups, lead = self._model.shown_metrics, self._model.returns
        if groups == self._shown and lead == self._lead:
            return
        self._shown, self._lead = groups, lead
        if self._runs != self._model.run_ids:
            self._runs = self._model.run_ids
            self.verticalScrollBar().setValue(0)
        self._drop_cards({key for group in groups for key in group.keys})
        for prefix in set(self._sections) - {group.prefix for group in groups}:
            section = self._sections.pop(prefix)
            section.hide()
            section.deleteLater()
            del self._grids[prefix]
        self._unplaced = deque(enumerate(groups))
        self._place_groups()

    def _place_groups(self) -> None:
        """As many as a moment allows: a run may have hundreds of metrics."""
        began = time.perf_counter()
        while self._unplaced and time.perf_counter() - began < _MOMENT_S:
            self._show_group(*self._unplaced.popleft())
        if self._unplaced:
            self._placer.start()
            return
        if self._enlarged is not None and self._enlarged not in self._cards:
            self._enlarged = None
        self._apply_enlarged()
        self._maker.start()

    def enlarge(self, key: MetricKey | None) -> None:
        """This plot alone; all again, with None."""
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
        self._maker.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._maker.start()

    def _soon(self, act: Callable[[], None]) -> QTimer:
        """Acts when the event loop comes round, once however often it was started."""
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(0)
        timer.timeout.connect(act)
        return timer

    # Cards.

    def _show_group(self, place: int, group: MetricGroup) -> None:
        if group.prefix not in self._sections:
            grid = self._grids[group.prefix] = ChartGrid()
            is_open = not self._model.is_folded(group.prefix)
            section = Section(group.title, grid, self._theme, is_open=is_open)
            section.toggled.connect(
                lambda is_open, prefix=group.prefix: self._on_folded(prefix, not is_open)
            )
            grid.laid_out.connect(self._maker.start)
            self._sections[group.prefix] = section
        self._sections[group.prefix].set_title(f"{group.title}  ·  {len(group.keys)}")
        self._column.removeWidget(self._sections[group.prefix])
        self._column.insertWidget(place, self._sections[group.prefix])
        cards = [self._cards.get(key) or self._made(key) for key in group.keys]
        self._grids[group.prefix].show_cards(cards, group.keys[0] == self._lead)

    def _made(self, key: MetricKey) -> ChartCard:
        card = self._cards[key] = ChartCard(key, self._model, self._theme)
        return card

    def _drop_cards(self, wanted: set[MetricKey]) -> None:
        for key in set(self._cards) - wanted:
            card = self._cards.pop(key)
            card.hide()  # first, or all that follows would be laid out
            self._keep_plot_of(card)
            self._model.unwant(key)
            self._dropped.append(card)
        self._sweeper.start()

    def _sweep(self) -> None:
        """Cards that are gone are deleted a few at a time too."""
        for card in self._dropped[:_SWEPT_AT_ONCE]:
            if isValid(card):  # its section may have been deleted with it
                card.deleteLater()
        del self._dropped[:_SWEPT_AT_ONCE]
        if self._dropped:
            self._sweeper.start()

    def _on_folded(self, prefix: str, is_folded: bool) -> None:
        self._model.keep_folded(prefix, is_folded)
        self._maker.start()

    def _apply_enlarged(self) -> None:
        enlarged = self._enlarged
        for group in self._shown:
            holds = enlarged is None or enlarged in group.keys
            if group.prefix in self._sections:
                self._sections[group.prefix].setVisible(holds)
        if self._scores is not None:
            self._scores.setVisible(enlarged is None)
        for key, card in self._cards.items():
            card.setVisible(enlarged in (None, key))
            card.set_enlarged(key == enlarged)
        self._fit_enlarged()
        self._maker.start()

    def _fit_enlarged(self) -> None:
        if self._enlarged in self._cards:
            room = self.viewport().height() - 4 * self.fontMetrics().height()
            self._cards[self._enlarged].setMinimumHeight(room)
        if self._fitted != self._enlarged and self._fitted in self._cards:
            card = self._cards[self._fitted]
            card.setMinimumHeight(card.sizeHint().height())
        self._fitted = self._enlarged

    # What is in sight.

    def _look(self) -> None:
        if self._make is None or not self.isVisible():
            return
        seen = QRect(QPoint(), self.viewport().size())
        to_make: ChartCard | None = None
        to_fill: list[ChartCard] = []
        for card in self._cards.values():
            place = QRect(card.mapTo(self.viewport(), QPoint()), card.size())
            is_seen = card.isVisible() and seen.intersects(place)
            if is_seen and not card.is_filled:
                to_fill.append(card)
            if is_seen and card.plot is None:
                to_make = to_make or card
            elif is_seen and not card.is_in_sight and card.plot is not None:
                card.plot.ask()
            elif card.is_in_sight and not is_seen:
                self._model.unwant(card.key)
            card.is_in_sight = is_seen
        for card in to_fill[:_FILLED_AT_ONCE]:
            card.fill()
            card.export_wanted.connect(self.export_wanted)
            card.enlarge_wanted.connect(self.enlarge)
        if to_make is not None and not to_fill:
            to_make.give_plot(self._plot_for(to_make.key, self._make))
        if to_make is not None:
            self._maker.start()

    def _keep_plot_of(self, card: ChartCard) -> None:
        plot = card.take_plot()
        if plot is not None:
            plot.setParent(self)
            self._spare.append(plot)

    def _plot_for(self, key: MetricKey, make: MakePlot) -> "MetricPlot":
        """One that is no longer looked at, where there is any: to make one takes long."""
        unseen = [card for card in self._cards.values() if card.plot and not card.is_in_sight]
        for card in unseen[: max(0, len(unseen) - _MOST_UNSEEN)]:
            self._keep_plot_of(card)
        if self._spare:
            spare = self._spare.pop()
            spare.show_metric(key)
            return spare
        made = make(key)
        made.crossed.connect(self.cross)
        made.picked.connect(self.picked)
        return made

    def cross(self, x: float | None) -> None:
        """The same place in all plots, for they have the same x axis."""
        for card in self._cards.values():
            if card.is_in_sight and card.plot is not None:
                card.plot.cross(x)

    def _on_picture(self, key: MetricKey) -> None:
        self._undrawn[key] = None
        self._drawer.start()

    def _draw_next(self) -> None:
        """One plot at a time: between them the window has its turn."""
        key = next(iter(self._undrawn), None)
        if key is None:
            return
        del self._undrawn[key]
        card = self._cards.get(key)
        if card is not None:
            card.redraw()
        if self._undrawn:
            self._drawer.start()

    def _on_axis(self) -> None:
        for card in self._cards.values():
            card.update_note()
            if card.plot is not None:
                card.plot.forget_place()
            card.is_in_sight = False
        self._maker.start()

    def _restyle(self) -> None:
        for card in self._cards.values():
            card.restyle()
