"""RunsGrid: the table of the list of runs, with collapsible groups, and its columns menu.

The selection is stored by run, so that it survives a reset of the model.
"""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, QTimer
from PySide6.QtGui import QAction, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget

from gym_gui.runs.model.run_arrangement import Row
from gym_gui.runs.model.runs_columns import (
    COLUMN_HEADERS,
    DEFAULT_COLUMNS,
    RIGHT_ALIGNED_COLUMNS,
    RunColumn,
)
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
_OPTIONAL_COLUMNS = (
    *(RunColumn.CREATED, RunColumn.NOTE, RunColumn.WORKER, RunColumn.ALGORITHM, RunColumn.LATEST),
    *(RunColumn.DISK, RunColumn.TAGS, RunColumn.ENVIRONMENT, RunColumn.ELAPSED, RunColumn.TREND),
    *(RunColumn.ETA, RunColumn.SPS, RunColumn.PROGRESS),
)
"""Columns to hide if there is no space, first to last."""
_COLUMNS_KEY = "runs/columns"
_SECOND_MS = 1000
_Select = QItemSelectionModel.SelectionFlag


class RunsGrid(DataTable):
    """Left and Right collapse and expand a group; Enter toggles it."""

    def __init__(self, runs: RunsTable, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(
            runs,
            RunDelegate(theme, parent),
            [_WIDTHS[column] for column in RunColumn],
            theme,
            number_columns=RIGHT_ALIGNED_COLUMNS,
            optional_columns=_OPTIONAL_COLUMNS,
        )
        self._runs = runs
        self._saved_selection: list[Row] = []
        self._saved_current: Row | None = None
        self.setAccessibleName("Runs")
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.setSortIndicator(*runs.sorting)
        self.setSortingEnabled(True)
        header.setSortIndicatorShown(False)
        self.clicked.connect(self._on_clicked)
        self._timer = QTimer(self)
        self._timer.setInterval(_SECOND_MS)
        self._timer.timeout.connect(self._update_elapsed)
        runs.updated.connect(self._start_timer)
        runs.modelAboutToBeReset.connect(self._save_selection)
        runs.modelReset.connect(self._restore_selection)

    def selected_runs(self) -> list[RunRecord]:
        """In the order of their rows; each run once, although it may be in several groups."""
        runs = (self._runs.run_at(row) for row in self.selected_rows())
        return list({run.run_id: run for run in runs if run is not None}.values())

    def select_rows(self, rows: Sequence[int]) -> None:
        """Select these rows and no others."""
        selection, last = QItemSelection(), len(RunColumn) - 1
        start = 0
        for index in range(1, len(rows) + 1):
            if index == len(rows) or rows[index] != rows[index - 1] + 1:
                first, end = rows[start], rows[index - 1]
                selection.select(self._runs.index(first, 0), self._runs.index(end, last))
                start = index
        self.selectionModel().select(selection, _Select.ClearAndSelect)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        index = self.currentIndex()
        is_left_or_right = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        is_editing = self.state() is QAbstractItemView.State.EditingState
        if is_editing or not index.isValid() or not is_left_or_right:
            super().keyPressEvent(event)
            return
        is_left = event.key() == Qt.Key.Key_Left
        if self._runs.heading_at(index.row()) is not None:
            self._runs.set_collapsed(index.row(), is_left)
        elif is_left and (above := self._runs.heading_above(index.row())) is not None:
            self.selectRow(above)
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:  # noqa: N802 - Qt's name
        """Disabled: letters are shortcuts here and must not move the selection."""

    def toggle_group(self, row: int) -> None:
        heading = self._runs.heading_at(row)
        if heading is not None:
            self._runs.set_collapsed(row, heading.is_expanded)

    def _on_clicked(self, index: QModelIndex) -> None:
        self.toggle_group(index.row())

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._start_timer()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._timer.stop()

    def _start_timer(self) -> None:
        if self.isVisible() and not self._timer.isActive() and self._has_live_run():
            self._timer.start()

    def _update_elapsed(self) -> None:
        """Repaint the elapsed time of running runs; stop the timer if none is visible."""
        if not self._has_live_run():
            self._timer.stop()
        elif not self.isColumnHidden(RunColumn.ELAPSED):
            left = self.columnViewportPosition(RunColumn.ELAPSED)
            width = self.columnWidth(RunColumn.ELAPSED)
            self.viewport().update(left, 0, width, self.viewport().height())

    def _has_live_run(self) -> bool:
        """Whether a visible row has a run that is not finished."""
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        end = last + 1 if last >= 0 else self._runs.rowCount()
        visible = (self._runs.run_at(row) for row in range(max(0, first), end))
        return any(run is not None and run.state in LIVE_STATES for run in visible)

    def _save_selection(self) -> None:
        self._saved_selection = [self._runs.row_key(row) for row in self.selected_rows()]
        current = self.currentIndex()
        self._saved_current = self._runs.row_key(current.row()) if current.isValid() else None

    def _restore_selection(self) -> None:
        rows = self._runs.rows_with_keys([self._saved_current] if self._saved_current else [])
        if rows:
            self.selectionModel().setCurrentIndex(self._runs.index(rows[0], 0), _Select.NoUpdate)
        self.select_rows(self._runs.rows_with_keys(self._saved_selection))


class ViewSettings(Protocol):
    """Saved texts by key."""

    def text(self, key: str, default: str = "") -> str: ...

    def set(self, key: str, value: str) -> None: ...


class ColumnsMenu(QMenu):
    """Visible columns, saved in the settings; opened from the header and from the view menu."""

    def __init__(self, table: DataTable, settings: ViewSettings | None, parent: QWidget) -> None:
        super().__init__("Columns", parent)
        self._table = table
        self._settings = settings
        self._boxes: dict[RunColumn, QAction] = {}
        for column in RunColumn:
            if column is not RunColumn.RUN:
                box = self.addAction(COLUMN_HEADERS[column].name)
                box.setCheckable(True)
                box.setToolTip(COLUMN_HEADERS[column].tip)
                box.triggered.connect(self._on_triggered)
                self._boxes[column] = box
        self.addSeparator()
        self.addAction("Reset columns").triggered.connect(self._reset)
        self.aboutToShow.connect(self._mark_hidden)
        self._show(self._saved_columns())

    def _mark_hidden(self) -> None:
        for column, box in self._boxes.items():
            is_fitting = not box.isChecked() or not self._table.isColumnHidden(column)
            box.setText(COLUMN_HEADERS[column].name + ("" if is_fitting else " (hidden, no space)"))

    def _saved_columns(self) -> frozenset[RunColumn]:
        names = self._settings.text(_COLUMNS_KEY) if self._settings else ""
        if not names:
            return DEFAULT_COLUMNS
        known = {column.name.lower(): column for column in RunColumn}
        return frozenset(known[name] for name in names.split(",") if name in known)

    def _on_triggered(self) -> None:
        columns = frozenset(column for column, box in self._boxes.items() if box.isChecked())
        self._show(columns)
        if self._settings is not None:
            names = (column.name.lower() for column in sorted({RunColumn.RUN, *columns}))
            self._settings.set(_COLUMNS_KEY, ",".join(names))

    def _reset(self) -> None:
        self._show(DEFAULT_COLUMNS)
        if self._settings is not None:
            self._settings.set(_COLUMNS_KEY, "")

    def _show(self, columns: frozenset[RunColumn]) -> None:
        for column, box in self._boxes.items():
            box.setChecked(column in columns)
        self._table.set_used_columns(columns | {RunColumn.RUN})
