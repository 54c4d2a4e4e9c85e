"""ChartBoard: all groups of plots below each other, and the table of scores. Scrolls.

Plots are made one at a time as their cards come in sight, and those that have been out of sight
for longest are given up.
"""

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gym_gui.models.chart_metrics import MetricGroup, MetricKey
from gym_gui.models.charts_model import ChartsModel
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.charts.chart_card import ChartCard, MakePlot
from gym_gui.views.charts.chart_grid import ChartGrid
from gym_gui.views.charts.score_view import ScoreView
from gym_gui.views.elements.section import Section

_MOST_PLOTS = 24


class ChartBoard(QScrollArea):
    """Has no plots before `begin`."""

    picked = Signal(str, float)
    """A click on a curve: the run, and where on the x axis."""
    export_wanted = Signal(object, str)

    def __init__(
        self, model: ChartsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
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
        line = self.fontMetrics().height()
        self._content = QWidget()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, line)
        self._column.setSpacing(line // 2)
        self._scores = Section("Final scores", ScoreView(model.scores, theme), theme)
        self._column.addWidget(self._scores)
        self._column.addStretch(1)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Made one at a time, so that the window stays quick while many come in sight at once.
        self._maker = QTimer(self)
        self._maker.setSingleShot(True)
        self._maker.setInterval(0)
        self._maker.timeout.connect(self._look)
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
        for place, group in enumerate(groups):
            self._show_group(place, group)
        for prefix in set(self._sections) - {group.prefix for group in groups}:
            self._sections.pop(prefix).deleteLater()
            del self._grids[prefix]
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
        card.export_wanted.connect(self.export_wanted)
        card.enlarge_wanted.connect(self.enlarge)
        return card

    def _drop_cards(self, wanted: set[MetricKey]) -> None:
        for key in set(self._cards) - wanted:
            card = self._cards.pop(key)
            self._model.unwant(key)
            card.hide()
            card.deleteLater()

    def _on_folded(self, prefix: str, is_folded: bool) -> None:
        self._model.keep_folded(prefix, is_folded)
        self._maker.start()

    def _apply_enlarged(self) -> None:
        enlarged = self._enlarged
        for group in self._shown:
            holds = enlarged is None or enlarged in group.keys
            self._sections[group.prefix].setVisible(holds)
        self._scores.setVisible(enlarged is None)
        for key, card in self._cards.items():
            card.setVisible(enlarged in (None, key))
            card.set_enlarged(key == enlarged)
        self._fit_enlarged()
        self._maker.start()

    def _fit_enlarged(self) -> None:
        for key, card in self._cards.items():
            room = self.viewport().height() - 4 * self.fontMetrics().height()
            card.setMinimumHeight(room if key == self._enlarged else card.sizeHint().height())

    # What is in sight.

    def _look(self) -> None:
        if self._make is None or not self.isVisible():
            return
        seen = QRect(QPoint(), self.viewport().size())
        to_make: ChartCard | None = None
        for card in self._cards.values():
            place = QRect(card.mapTo(self.viewport(), QPoint()), card.size())
            is_seen = card.isVisible() and seen.intersects(place)
            if is_seen and card.plot is None:
                to_make = to_make or card
            elif is_seen and not card.is_in_sight and card.plot is not None:
                card.plot.ask()
            elif card.is_in_sight and not is_seen:
                self._model.unwant(card.key)
            card.is_in_sight = is_seen
        if to_make is not None:
            to_make.make_plot(self._make)
            self._connect_plot(to_make)
            self._give_up_plots()
            self._maker.start()

    def _connect_plot(self, card: ChartCard) -> None:
        if card.plot is not None:
            card.plot.crossed.connect(self.cross)
            card.plot.picked.connect(self.picked)

    def _give_up_plots(self) -> None:
        unseen = [card for card in self._cards.values() if card.plot and not card.is_in_sight]
        for card in unseen[: max(0, len(unseen) - _MOST_PLOTS)]:
            card.drop_plot()

    def cross(self, x: float | None) -> None:
        """The same place in all plots, for they have the same x axis."""
        for card in self._cards.values():
            if card.is_in_sight and card.plot is not None:
                card.plot.cross(x)

    def _on_picture(self, key: MetricKey) -> None:
        card = self._cards.get(key)
        if card is not None:
            card.redraw()

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
