"""TrialTable: the trials of a study as a table, sorted by a click on a heading."""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.optuna.model.trials_table import TRIAL_STATE_STYLES, TrialsTable
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_delegate import ROW_HEIGHT_EMS, CellDelegate, Index

_SAMPLE = 40
"""Rows at each end that are measured for column widths."""
_MIN_CHARS, _MAX_CHARS = 5, 26
"""Characters."""


class TrialTable(QTableView):
    """Shows `TrialsTable`. Enter or a double click opens the run; Ctrl+C copies the selection."""

    row_selection_changed = Signal()
    trial_activated = Signal(int)
    """A row."""
    copy_requested = Signal()

    def __init__(
        self, trials: TrialsTable, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._trials = trials
        self._needed: list[int] = []
        """Widths of the columns."""
        self.setModel(trials)
        self.setItemDelegate(_TrialDelegate(trials, theme, self))
        self.setAccessibleName("Trials")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        header = _SortHeader(self)
        self.setHorizontalHeader(header)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * ROW_HEIGHT_EMS))
        header.setHighlightSections(False)
        header.sort_requested.connect(self._sort_by)
        # Its own empty selection model; otherwise the header checks every row for selection.
        header.setSelectionModel(QItemSelectionModel(trials, header))
        trials.modelReset.connect(self._on_reset)
        theme.changed.connect(self.viewport().update)
        self.selectionModel().selectionChanged.connect(lambda *_: self.row_selection_changed.emit())
        self.doubleClicked.connect(lambda index: self.trial_activated.emit(index.row()))
        self._on_reset()

    def selected_rows(self) -> list[int]:
        selection = self.selectionModel().selection()
        ranges = (selection.at(index) for index in range(selection.size()))
        return sorted(
            {row for selected in ranges for row in range(selected.top(), selected.bottom() + 1)}
        )

    def select_rows(self, rows: Sequence[int]) -> None:
        """Select the rows and scroll to the first."""
        selection = QItemSelection()
        for row in rows:
            index = self._trials.index(row, 0)
            selection.select(index, index)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        if rows:
            first = self._trials.index(rows[0], 0)
            self.selectionModel().setCurrentIndex(first, flags.NoUpdate)
            self.scrollTo(first)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.currentIndex().isValid():
                self.trial_activated.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._share_width()

    def _sort_by(self, column: int) -> None:
        """The first click uses the default order of the column; the next click reverses it."""
        previous, order = self._trials.sorted_by
        if column == previous:
            is_ascending = order == Qt.SortOrder.AscendingOrder
            order = Qt.SortOrder.DescendingOrder if is_ascending else Qt.SortOrder.AscendingOrder
        else:
            order = self._trials.first_order(column)
        self._trials.sort(column, order)
        self.scrollToTop()

    def _on_reset(self) -> None:
        self._needed = [self._needed_width(column) for column in range(len(self._trials.columns))]
        self._share_width()

    def _needed_width(self, column: int) -> int:
        metrics, count = self.fontMetrics(), self._trials.rowCount()
        char_width, padding = metrics.averageCharWidth(), metrics.height()
        rows = {*range(min(_SAMPLE, count)), *range(max(0, count - _SAMPLE), count)}
        texts = {self._trials.text(row, column) for row in rows}
        longest = sorted(texts, key=len)[-3:]
        # The title needs space for the sort arrow.
        heading = metrics.horizontalAdvance(self._trials.columns[column].title) + padding
        widest = max([heading, *(metrics.horizontalAdvance(text) for text in longest)])
        return min(max(widest, char_width * _MIN_CHARS), char_width * _MAX_CHARS) + padding

    def _share_width(self) -> None:
        """Distribute the remaining width over all columns."""
        spare = self.viewport().width() - sum(self._needed)
        more = spare // len(self._needed) if self._needed and spare > 0 else 0
        for column, needed in enumerate(self._needed):
            self.setColumnWidth(column, needed + more)


class _SortHeader(QHeaderView):
    """Sorts on click. The sort arrow of Qt would cover right-aligned titles."""

    sort_requested = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._pressed = -1
        """The pressed section; -1 without one."""

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        is_resizing = self.cursor().shape() is Qt.CursorShape.SplitHCursor
        is_left = event.button() is Qt.MouseButton.LeftButton
        index = self.logicalIndexAt(event.position().toPoint())
        self._pressed = index if is_left and not is_resizing else -1

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, -1
        if pressed >= 0 and pressed == self.logicalIndexAt(event.position().toPoint()):
            self.sort_requested.emit(pressed)


class _TrialDelegate(CellDelegate):
    def __init__(self, trials: TrialsTable, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._trials = trials

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option)
        row, column = index.row(), index.column()
        text = self._trials.text(row, column)
        if text:
            is_right_aligned = self._trials.is_right_aligned(column)
            self.paint_text(
                painter, option, text, self._tone(row, column), align_right=is_right_aligned
            )

    def _tone(self, row: int, column: int) -> str:
        kind = self._trials.columns[column].kind
        if kind == "state":
            tone = TRIAL_STATE_STYLES[self._trials.trial(row).state][1]
            return "muted" if tone == "plain" else tone
        if kind == "number" and self._trials.is_best(row):
            return "good"
        return "muted" if kind in ("number", "time", "attribute") else "text"
