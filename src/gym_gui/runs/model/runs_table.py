"""RunsTable: the list of runs as Qt sees it: filtered, in order, under headings if wished.

Rows change in place as far as possible, so that selection and scrolling stay where they are.
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
from gym_gui.runs.model.runs_columns import HEADINGS, RIGHT_COLUMNS, RunColumn
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex

RUN_ROLE = Qt.ItemDataRole.UserRole + 1
HEADING_ROLE = Qt.ItemDataRole.UserRole + 2
BAR_ROLE = Qt.ItemDataRole.UserRole + 3
"""How far it is, from 0 to 1, or None."""
LINE_ROLE = Qt.ItemDataRole.UserRole + 4
"""Recent mean returns, oldest first."""

_NO_PARENT = QModelIndex()
_COLUMNS = len(RunColumn)
_MOST_PIECES = 16
"""Rows that come and go in more pieces than this are put there anew, all of them."""


class RunsTable(QAbstractTableModel):
    """The newest first, until another column is chosen."""

    rename_wanted = Signal(str, str)
    """Run and its new name. The row changes when the daemon has it."""
    updated = Signal()
    """Something about the runs is new, or other rows than before are there."""

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._arrangement = RunArrangement(runs)
        self._rows: list[Row] = []
        self._places: dict[Row, int] = {}
        runs.changed.connect(self._on_changed)
        runs.lines.changed.connect(lambda run_id: self._repaint((run_id,)))
        self._arrange()

    # What is wished.

    @property
    def grouping(self) -> Grouping:
        return self._arrangement.grouping

    @property
    def sorting(self) -> tuple[RunColumn, Qt.SortOrder]:
        orders = Qt.SortOrder
        is_down = self._arrangement.is_descending
        return self._arrangement.column, (
            orders.DescendingOrder if is_down else orders.AscendingOrder
        )

    def look_for(self, text: str) -> None:
        """What `RunSearch` understands."""
        self._arrangement.look_for(text)
        self._arrange()

    def show_archived(self, shows: bool) -> None:
        self._arrangement.shows_archived = shows
        self._arrange()

    def hide(self, run_ids: Collection[str]) -> None:
        """These, and no others, are left out whatever else holds."""
        self._arrangement.hidden = frozenset(run_ids)
        self._arrange()

    def group_by(self, grouping: Grouping) -> None:
        self._arrangement.group_by(grouping)
        self.beginResetModel()
        self._put(self._arrangement.arrange())
        self.endResetModel()
        self.updated.emit()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if (column, order) == self.sorting:
            return
        is_down = order is Qt.SortOrder.DescendingOrder
        self._arrangement.sort_by(RunColumn(column), is_descending=is_down)
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, _COLUMNS - 1)

    def fold(self, row: int, *, folds: bool) -> None:
        """The runs under the heading in this row."""
        if self.heading_at(row) is not None:
            self._arrangement.fold([self._rows[row][0]], folds=folds)
            self._arrange()

    def fold_all(self, *, folds: bool) -> None:
        self._arrangement.fold(self._arrangement.headings, folds=folds)
        self._arrange()

    # What is there.

    @property
    def run_count(self) -> int:
        """How many runs match, those under folded headings too."""
        return self._arrangement.run_count

    @property
    def known_count(self) -> int:
        """How many runs would match an empty search."""
        return self._arrangement.known_count

    @property
    def archived_count(self) -> int:
        """How many more there are that are not shown because they are archived."""
        return self._arrangement.archived_count

    def run_at(self, row: int) -> RunRecord | None:
        return self._runs.by_id(self._rows[row][1]) if 0 <= row < len(self._rows) else None

    def heading_at(self, row: int) -> GroupHeading | None:
        if not 0 <= row < len(self._rows) or self._rows[row][1]:
            return None
        return self._arrangement.headings.get(self._rows[row][0])

    def heading_above(self, row: int) -> int | None:
        """The row of the heading that a run stands under."""
        return self._places.get((self._rows[row][0], ""))

    def row_of(self, run_id: str) -> int | None:
        """Where a run stands first; None where it is not shown."""
        rows = self._arrangement.rows_of(run_id)
        return min((self._places[row] for row in rows if row in self._places), default=None)

    def key_of(self, row: int) -> Row:
        """What stays the same when rows are put elsewhere."""
        return self._rows[row]

    def places_of(self, keys: Collection[Row]) -> list[int]:
        """Where they are now, those that are; a run that stands elsewhere, where it does."""
        places = self._places
        found = (places[key] if key in places else self.row_of(key[1]) for key in keys)
        return sorted({place for place in found if place is not None})

    # Qt's side.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else _COLUMNS

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """With an arrow where it is sorted: the header's own would lie on numbers' headings."""
        if orientation is not Qt.Orientation.Horizontal or section >= _COLUMNS:
            return None
        column = RunColumn(section)
        if role == Qt.ItemDataRole.DisplayRole:
            arrow = "↓" if self._arrangement.is_descending else "↑"
            title = HEADINGS[column].title
            return f"{title} {arrow}" if column is self._arrangement.column else title
        if role == Qt.ItemDataRole.ToolTipRole:
            return HEADINGS[column].tip or None
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
        if role == BAR_ROLE:
            return run_text.progress_of(run)
        if role == LINE_ROLE:
            return self._runs.lines.line(run)
        if role == Qt.ItemDataRole.EditRole and column is RunColumn.RUN:
            return run.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return runs_columns.tip_of(run)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{HEADINGS[column].title} {runs_columns.spoken(run, column)}"
        return None

    def setData(  # noqa: N802 - Qt's name
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        run, name = self.run_at(index.row()), str(value).strip()
        if role != Qt.ItemDataRole.EditRole or run is None or name == run.name:
            return False
        self.rename_wanted.emit(run.run_id, name)
        return True

    def _heading_data(self, row: int, column: RunColumn, role: int) -> Any:
        heading = self.heading_at(row)
        if heading is None:
            return None  # a run that is gone, in the moment before its row is
        if role == HEADING_ROLE:
            return heading
        if column is not RunColumn.RUN:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{heading.title} ({heading.count})"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            is_open = "open" if heading.is_open else "folded"
            return f"Group {heading.title}, {run_text.run_count(heading.count)}, {is_open}"
        return None

    # What happens.

    def _on_changed(self, run_ids: set[str]) -> None:
        if self._arrangement.note(run_ids):
            self._show_arranged()
        if len(run_ids) <= _MOST_PIECES:
            self._repaint(run_ids)
        elif self._rows:
            self._rows_changed(0, len(self._rows) - 1)
        self.updated.emit()

    def _repaint(self, run_ids: Collection[str]) -> None:
        for run_id in run_ids:
            for row in self._arrangement.rows_of(run_id):
                if (place := self._places.get(row)) is not None:
                    self._rows_changed(place, place)

    def _rows_changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, _COLUMNS - 1))

    def _arrange(self) -> None:
        self._show_arranged()
        self.updated.emit()

    def _show_arranged(self) -> None:
        rows = self._arrangement.arrange()
        if rows != self._rows:
            self._show(rows)
        for key in self._arrangement.headings:
            place = self._places[(key, "")]
            self._rows_changed(place, place)

    def _show(self, rows: list[Row]) -> None:
        before, after = self._places, set(rows)
        if before.keys() == after:
            self._reorder(rows)
            return
        gone, come = _pieces(self._rows, after), _pieces(rows, before)
        if len(gone) + len(come) > _MOST_PIECES:
            self.beginResetModel()
            self._put(rows)
            self.endResetModel()
            return
        for first, last in reversed(gone):
            self.beginRemoveRows(_NO_PARENT, first, last)
            self._put(self._rows[:first] + self._rows[last + 1 :])
            self.endRemoveRows()
        kept = [row for row in rows if row in before] if come else rows
        if kept != self._rows:
            self._reorder(kept)
        for first, last in come:
            self.beginInsertRows(_NO_PARENT, first, last)
            self._put(self._rows[:first] + rows[first : last + 1] + self._rows[first:])
            self.endInsertRows()

    def _reorder(self, rows: list[Row]) -> None:
        self.layoutAboutToBeChanged.emit()
        held = self.persistentIndexList()
        keys = [self._rows[index.row()] for index in held]
        self._put(rows)
        self.changePersistentIndexList(
            held,
            [
                self.index(self._places[key], index.column())
                for key, index in zip(keys, held, strict=True)
            ],
        )
        self.layoutChanged.emit()

    def _put(self, rows: list[Row]) -> None:
        self._rows = rows
        self._places = {row: place for place, row in enumerate(rows)}


def _pieces(rows: list[Row], others: Container[Row]) -> list[tuple[int, int]]:
    """First and last place of each stretch of rows that are not among the others."""
    pieces: list[tuple[int, int]] = []
    for place, row in enumerate(rows):
        if row in others:
            continue
        if pieces and pieces[-1][1] == place - 1:
            pieces[-1] = (pieces[-1][0], place)
        else:
            pieces.append((place, place))
    return pieces


def _alignment(column: RunColumn) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in RIGHT_COLUMNS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
