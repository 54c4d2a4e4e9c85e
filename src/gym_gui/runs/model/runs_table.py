"""RunsTable: the Qt item model of the list of runs, with filter, sorting and groups.

Small changes insert, remove and move rows, so that selection and scroll position are preserved.
"""

from collections.abc import Collection, Container
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runs.model import runs_columns
from gym_gui.runs.model.run_arrangement import GroupHeading, Row, RunArrangement
from gym_gui.runs.model.run_groups import Grouping
from gym_gui.runs.model.runs_columns import COLUMN_HEADERS, RIGHT_ALIGNED_COLUMNS, RunColumn
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex

RUN_ROLE = Qt.ItemDataRole.UserRole + 1
HEADING_ROLE = Qt.ItemDataRole.UserRole + 2
PROGRESS_ROLE = Qt.ItemDataRole.UserRole + 3
"""Progress from 0 to 1, or None."""
TREND_ROLE = Qt.ItemDataRole.UserRole + 4
"""Recent mean returns, oldest first."""

_NO_PARENT = QModelIndex()
_COLUMN_COUNT = len(RunColumn)
_MAX_RANGES = 16
"""If more ranges of rows are inserted and removed at once, the model is reset."""


class RunsTable(QAbstractTableModel):
    """Newest first, until another sort column is set."""

    rename_requested = Signal(str, str)
    """Run id and new name. The row changes after the daemon has applied it."""
    updated = Signal()
    """Runs or rows have changed."""

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._arrangement = RunArrangement(runs)
        self._rows: list[Row] = []
        self._row_indexes: dict[Row, int] = {}
        runs.changed.connect(self._on_changed)
        runs.sparklines.changed.connect(lambda run_id: self._repaint((run_id,)))
        self._arrange()

    # Filter, order and groups.

    @property
    def grouping(self) -> Grouping:
        return self._arrangement.grouping

    @property
    def sorting(self) -> tuple[RunColumn, Qt.SortOrder]:
        orders = Qt.SortOrder
        is_descending = self._arrangement.is_descending
        return self._arrangement.column, (
            orders.DescendingOrder if is_descending else orders.AscendingOrder
        )

    def set_filter(self, text: str) -> None:
        """`text` is in the syntax of `RunSearch`."""
        self._arrangement.set_filter(text)
        self._arrange()

    def show_archived(self, is_shown: bool) -> None:
        self._arrangement.shows_archived = is_shown
        self._arrange()

    def set_hidden(self, run_ids: Collection[str]) -> None:
        """Hide these runs, whatever the filter, and no others."""
        self._arrangement.hidden = frozenset(run_ids)
        self._arrange()

    def group_by(self, grouping: Grouping) -> None:
        self._arrangement.group_by(grouping)
        self.beginResetModel()
        self._set_rows(self._arrangement.arrange())
        self.endResetModel()
        self.updated.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if (column, order) == self.sorting:
            return
        is_descending = order is Qt.SortOrder.DescendingOrder
        self._arrangement.sort_by(RunColumn(column), is_descending=is_descending)
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, _COLUMN_COUNT - 1)

    def set_collapsed(self, row: int, is_collapsed: bool) -> None:
        """Collapse or expand the group whose heading is in this row."""
        if self.heading_at(row) is not None:
            self._arrangement.set_collapsed([self._rows[row][0]], is_collapsed)
            self._arrange()

    def set_all_collapsed(self, is_collapsed: bool) -> None:
        self._arrangement.set_collapsed(self._arrangement.headings, is_collapsed)
        self._arrange()

    # Rows and counts.

    @property
    def run_count(self) -> int:
        """Number of matching runs, including those in collapsed groups."""
        return self._arrangement.run_count

    @property
    def known_count(self) -> int:
        """Number of runs that match an empty search."""
        return self._arrangement.known_count

    @property
    def archived_count(self) -> int:
        """Number of runs that are not listed because they are archived."""
        return self._arrangement.archived_count

    def run_at(self, row: int) -> RunRecord | None:
        return self._runs.by_id(self._rows[row][1]) if 0 <= row < len(self._rows) else None

    def heading_at(self, row: int) -> GroupHeading | None:
        if not 0 <= row < len(self._rows) or self._rows[row][1]:
            return None
        return self._arrangement.headings.get(self._rows[row][0])

    def heading_above(self, row: int) -> int | None:
        """The row of the heading of this row's group."""
        return self._row_indexes.get((self._rows[row][0], ""))

    def row_of(self, run_id: str) -> int | None:
        """The first row of a run; None if it is not listed."""
        rows = self._arrangement.rows_of(run_id)
        return min(
            (self._row_indexes[row] for row in rows if row in self._row_indexes), default=None
        )

    def row_key(self, row: int) -> Row:
        """A key that stays the same when rows move."""
        return self._rows[row]

    def rows_with_keys(self, keys: Collection[Row]) -> list[int]:
        """The current rows of these keys; a run that has left its group is found in another."""
        indexes = self._row_indexes
        rows = (indexes[key] if key in indexes else self.row_of(key[1]) for key in keys)
        return sorted({row for row in rows if row is not None})

    # QAbstractTableModel.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else _COLUMN_COUNT

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The sort arrow is part of the text: Qt's own would overlap right-aligned headers."""
        if orientation is not Qt.Orientation.Horizontal or section >= _COLUMN_COUNT:
            return None
        column = RunColumn(section)
        if role == Qt.ItemDataRole.DisplayRole:
            arrow = "↓" if self._arrangement.is_descending else "↑"
            title = COLUMN_HEADERS[column].title
            return f"{title} {arrow}" if column is self._arrangement.column else title
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMN_HEADERS[column].tip or None
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        is_name = index.column() == RunColumn.RUN and self.heading_at(index.row()) is None
        return flags | Qt.ItemFlag.ItemIsEditable if is_name else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run = self.run_at(index.row())
        column = RunColumn(index.column())
        if run is None:
            return self._heading_data(index.row(), column, role)
        if role == Qt.ItemDataRole.DisplayRole:
            return runs_columns.text_of(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == RUN_ROLE:
            return run
        if role == PROGRESS_ROLE:
            return run_text.progress_of(run)
        if role == TREND_ROLE:
            return self._runs.sparklines.returns(run)
        if role == Qt.ItemDataRole.EditRole and column is RunColumn.RUN:
            return run.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return runs_columns.tip_of(run)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{COLUMN_HEADERS[column].title} {runs_columns.accessible_text(run, column)}"
        return None

    def setData(  # noqa: N802 - Qt's name
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        run, name = self.run_at(index.row()), str(value).strip()
        if role != Qt.ItemDataRole.EditRole or run is None or name == run.name:
            return False
        self.rename_requested.emit(run.run_id, name)
        return True

    def _heading_data(self, row: int, column: RunColumn, role: int) -> Any:
        heading = self.heading_at(row)
        if heading is None:
            return None  # the run was deleted, its row is not removed yet
        if role == HEADING_ROLE:
            return heading
        if column is not RunColumn.RUN:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{heading.title} ({heading.count})"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            state = "expanded" if heading.is_expanded else "collapsed"
            return f"Group {heading.title}, {run_text.run_count(heading.count)}, {state}"
        return None

    # Updates.

    def _on_changed(self, run_ids: set[str]) -> None:
        if self._arrangement.update(run_ids):
            self._apply_arrangement()
        if len(run_ids) <= _MAX_RANGES:
            self._repaint(run_ids)
        elif self._rows:
            self._rows_changed(0, len(self._rows) - 1)
        self.updated.emit()

    def _repaint(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            for row in self._arrangement.rows_of(run_id):
                if (index := self._row_indexes.get(row)) is not None:
                    self._rows_changed(index, index)

    def _rows_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, _COLUMN_COUNT - 1))

    def _arrange(self) -> None:
        self._apply_arrangement()
        self.updated.emit()

    def _apply_arrangement(self) -> None:
        rows = self._arrangement.arrange()
        if rows != self._rows:
            self._replace_rows(rows)
        for key in self._arrangement.headings:
            index = self._row_indexes[(key, "")]
            self._rows_changed(index, index)

    def _replace_rows(self, rows: list[Row]) -> None:
        before, after = self._row_indexes, set(rows)
        if before.keys() == after:
            self._reorder(rows)
            return
        removed, inserted = _missing_ranges(self._rows, after), _missing_ranges(rows, before)
        if len(removed) + len(inserted) > _MAX_RANGES:
            self.beginResetModel()
            self._set_rows(rows)
            self.endResetModel()
            return
        for first, last in reversed(removed):
            self.beginRemoveRows(_NO_PARENT, first, last)
            self._set_rows(self._rows[:first] + self._rows[last + 1 :])
            self.endRemoveRows()
        remaining = [row for row in rows if row in before] if inserted else rows
        if remaining != self._rows:
            self._reorder(remaining)
        for first, last in inserted:
            self.beginInsertRows(_NO_PARENT, first, last)
            self._set_rows(self._rows[:first] + rows[first : last + 1] + self._rows[first:])
            self.endInsertRows()

    def _reorder(self, rows: list[Row]) -> None:
        self.layoutAboutToBeChanged.emit()
        indexes = self.persistentIndexList()
        keys = [self._rows[index.row()] for index in indexes]
        self._set_rows(rows)
        self.changePersistentIndexList(
            indexes,
            [
                self.index(self._row_indexes[key], index.column())
                for key, index in zip(keys, indexes, strict=True)
            ],
        )
        self.layoutChanged.emit()

    def _set_rows(self, rows: list[Row]) -> None:
        self._rows = rows
        self._row_indexes = {row: number for number, row in enumerate(rows)}


def _missing_ranges(rows: list[Row], others: Container[Row]) -> list[tuple[int, int]]:
    """First and last index of each range of `rows` that is not in `others`."""
    ranges: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        if row in others:
            continue
        if ranges and ranges[-1][1] == index - 1:
            ranges[-1] = (ranges[-1][0], index)
        else:
            ranges.append((index, index))
    return ranges


def _alignment(column: RunColumn) -> Qt.AlignmentFlag:
    side = (
        Qt.AlignmentFlag.AlignRight
        if column in RIGHT_ALIGNED_COLUMNS
        else Qt.AlignmentFlag.AlignLeft
    )
    return side | Qt.AlignmentFlag.AlignVCenter
