"""ChartGrid: the cards of one group of metrics, in as many columns as there is room for."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gym_gui.charts.view.chart_card import ChartCard

_MOST_COLUMNS = 4
_COLUMN_LINES = 19
"""How wide a card wants to be, in heights of a line."""


class ChartGrid(QWidget):
    """With `has_lead` the first card is large and as wide as the grid."""

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
        """Cards that were there before and are not any more have a new place, or are deleted."""
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
        rest = len(self._cards) - self._has_lead
        columns = max(1, min(fitting, rest or 1, _MOST_COLUMNS))
        if columns == self._columns:
            return
        self._columns = columns
        while self._layout.count():
            self._layout.takeAt(0)
        for column in range(max(columns, self._layout.columnCount())):
            self._layout.setColumnStretch(column, int(column < columns))
        for card, (row, column, span) in zip(self._cards, self._places(columns), strict=True):
            card.set_large(self._has_lead and row == 0)
            self._layout.addWidget(card, row, column, 1, span)
            card.show()
        self.laid_out.emit()

    def _places(self, columns: int) -> Iterator[tuple[int, int, int]]:
        first = int(self._has_lead)
        if self._has_lead:
            yield 0, 0, columns
        for number in range(len(self._cards) - first):
            yield first + number // columns, number % columns, 1
