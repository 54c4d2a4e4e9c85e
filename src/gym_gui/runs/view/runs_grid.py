"""RunsGrid: the table in the list of runs: headings that fold, and a choice that stays.

The choice is kept by run, so that it is the same after rows were put there anew.
"""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from gym_gui.runs.model.run_arrangement import Row
from gym_gui.runs.model.runs_columns import RIGHT_COLUMNS, RunColumn
from gym_gui.runs.model.runs_table import RunsTable
from gym_gui.runs.view.run_delegate import RunDelegate
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.data_table import DataTable
from mosaic.contract.run_states import LIVE_STATES
from mosaic.contract.runs import RunRecord

_WIDTHS = {
    RunColumn.RUN: -20,
    RunColumn.WORKER: 10,
    RunColumn.ENVIRONMENT: -11,
    RunColumn.ALGORITHM: 8,
    RunColumn.STATE: -14,
    RunColumn.PROGRESS: 10,
    RunColumn.ELAPSED: 7,
    RunColumn.ETA: 6,
    RunColumn.SPS: 8,
    RunColumn.LATEST: 8,
    RunColumn.MEAN: 8,
    RunColumn.TREND: 12,
    RunColumn.TAGS: -13,
    RunColumn.NOTE: -13,
    RunColumn.DISK: 8,
    RunColumn.CREATED: 12,
}
_DISPENSABLE = (
    *(RunColumn.CREATED, RunColumn.NOTE, RunColumn.WORKER, RunColumn.ALGORITHM, RunColumn.LATEST),
    *(RunColumn.DISK, RunColumn.TAGS, RunColumn.ENVIRONMENT, RunColumn.ELAPSED, RunColumn.TREND),
    *(RunColumn.ETA, RunColumn.SPS, RunColumn.PROGRESS),
)
"""The first to go comes first."""
_SECOND_MS = 1000
_Select = QItemSelectionModel.SelectionFlag


class RunsGrid(DataTable):
    """Left and Right fold and unfold a heading, Enter does either."""

    def __init__(self, runs: RunsTable, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(
            runs,
            RunDelegate(theme, parent),
            [_WIDTHS[column] for column in RunColumn],
            theme,
            numbers=RIGHT_COLUMNS,
            dispensable=_DISPENSABLE,
        )
        self._runs = runs
        self._chosen_before: list[Row] = []
        self._current_before: Row | None = None
        self.setAccessibleName("Runs")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setSortIndicator(*runs.sorting)
        self.setSortingEnabled(True)
        header.setSortIndicatorShown(False)
        self.clicked.connect(self._on_clicked)
        self._clock = QTimer(self)
        self._clock.setInterval(_SECOND_MS)
        self._clock.timeout.connect(self._show_time)
        runs.updated.connect(self._start_clock)
        runs.modelAboutToBeReset.connect(self._remember)
        runs.modelReset.connect(self._recall)

    def chosen_runs(self) -> list[RunRecord]:
        """In the order of their rows; each once, though it may stand under several headings."""
        found = (self._runs.run_at(row) for row in self.chosen_rows())
        return list({run.run_id: run for run in found if run is not None}.values())

    def choose(self, rows: Sequence[int]) -> None:
        """These, and no others."""
        chosen, last = QItemSelection(), len(RunColumn) - 1
        start = 0
        for place in range(1, len(rows) + 1):
            if place == len(rows) or rows[place] != rows[place - 1] + 1:
                first, end = rows[start], rows[place - 1]
                chosen.select(self._runs.index(first, 0), self._runs.index(end, last))
                start = place
        self.selectionModel().select(chosen, _Select.ClearAndSelect)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        index = self.currentIndex()
        is_side = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        is_editing = self.state() is QAbstractItemView.State.EditingState
        if is_editing or not index.isValid() or not is_side:
            super().keyPressEvent(event)
            return
        folds = event.key() == Qt.Key.Key_Left
        if self._runs.heading_at(index.row()) is not None:
            self._runs.fold(index.row(), folds=folds)
        elif folds and (above := self._runs.heading_above(index.row())) is not None:
            self.selectRow(above)
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """Letters are commands here: one that does not fit now must not move the choice."""

    def fold_or_unfold(self, row: int) -> None:
        heading = self._runs.heading_at(row)
        if heading is not None:
            self._runs.fold(row, folds=heading.is_open)

    def _on_clicked(self, index: QModelIndex) -> None:
        self.fold_or_unfold(index.row())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._start_clock()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._clock.stop()

    def _start_clock(self) -> None:
        if self.isVisible() and not self._clock.isActive() and self._has_live_run():
            self._clock.start()

    def _show_time(self) -> None:
        """Time passes also for a run that tells nothing; where none lives, no clock ticks."""
        if not self._has_live_run():
            self._clock.stop()
        elif not self.isColumnHidden(RunColumn.ELAPSED):
            left = self.columnViewportPosition(RunColumn.ELAPSED)
            width = self.columnWidth(RunColumn.ELAPSED)
            self.viewport().update(left, 0, width, self.viewport().height())

    def _has_live_run(self) -> bool:
        """In sight."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        end = last + 1 if last >= 0 else self._runs.rowCount()
        seen = (self._runs.run_at(row) for row in range(max(0, first), end))
        return any(run is not None and run.state in LIVE_STATES for run in seen)

    def _remember(self) -> None:
        self._chosen_before = [self._runs.key_of(row) for row in self.chosen_rows()]
        current = self.currentIndex()
        self._current_before = self._runs.key_of(current.row()) if current.isValid() else None

    def _recall(self) -> None:
        places = self._runs.places_of([self._current_before] if self._current_before else [])
        if places:
            self.selectionModel().setCurrentIndex(self._runs.index(places[0], 0), _Select.NoUpdate)
        self.choose(self._runs.places_of(self._chosen_before))
