"""CompareChoice: a table of all runs with check boxes for the comparison."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QObject,
    Qt,
    Signal,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.table_model import Column, Index, TableModel
from mosaic.contract.runs import RunRecord

MAX_RUNS = 20
"""More curves cannot be distinguished."""


class ChoiceColumn(IntEnum):
    RUN = 0
    ENVIRONMENT = 1
    STATE = 2
    RETURN = 3


class CompareChoice(TableModel):
    """Owned by `CompareModel`. Newest run first; empty until `set_visible`."""

    COLUMNS = (
        Column("run"),
        Column("environment"),
        Column("state"),
        Column("return", is_number=True),
    )

    chosen_changed = Signal()

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.chosen: dict[str, None] = {}
        """Run ids, in the order in which they were checked."""
        self._runs = runs
        self._rows: list[RunRecord] = []
        self._search_terms: tuple[str, ...] = ()
        self._is_visible = False
        runs.runs_changed.connect(self._refresh_rows)

    @property
    def is_full(self) -> bool:
        return len(self.chosen) >= MAX_RUNS

    @property
    def has_runs(self) -> bool:
        """Whether there are any runs, regardless of the search."""
        return bool(self._runs.runs)

    def set_visible(self, is_visible: bool) -> None:
        """Set whether the list is visible; hidden rows are not updated."""
        self._is_visible = is_visible
        self._refresh_rows()

    def choose(self, run_ids: Sequence[str]) -> None:
        """Check only these runs."""
        self.chosen = dict.fromkeys(run_ids)
        self._emit_chosen()

    def search(self, text: str) -> None:
        self._search_terms = tuple(text.lower().split())
        self._refresh_rows()

    def run_id(self, row: int) -> str:
        return self._rows[row].run_id

    def toggle(self, run_id: str, is_chosen: bool) -> bool:
        """Return False if the limit of `MAX_RUNS` is reached."""
        if is_chosen and self.is_full and run_id not in self.chosen:
            return False
        if is_chosen:
            self.chosen[run_id] = None
        else:
            self.chosen.pop(run_id, None)
        self._emit_chosen()
        return True

    # QAbstractTableModel.

    def row_count(self) -> int:
        return len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run, column = self._rows[index.row()], ChoiceColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == Qt.ItemDataRole.CheckStateRole and column == ChoiceColumn.RUN:
            is_chosen = run.run_id in self.chosen
            return Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{run_text.title_of(run)} · {run.run_id}"
        return None

    def setData(  # noqa: N802 - Qt's name
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole:
            return False
        is_chosen = Qt.CheckState(value) == Qt.CheckState.Checked
        return self.toggle(self.run_id(index.row()), is_chosen)

    def _refresh_rows(self) -> None:
        if not self._is_visible:
            return
        rows = [run for run in self._runs.runs if self._matches(run)]
        rows.sort(key=lambda run: run.created_at, reverse=True)
        if [run.run_id for run in rows] == [run.run_id for run in self._rows]:
            self._rows = rows
            self._emit_rows_changed()
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _matches(self, run: RunRecord) -> bool:
        if run.archived and run.run_id not in self.chosen:
            return False
        fields = (run_text.title_of(run), run.env_id, run.algo, run.worker, *run.tags, run.run_id)
        text = " ".join(fields).lower()
        return all(term in text for term in self._search_terms)

    def _emit_chosen(self) -> None:
        self._emit_rows_changed()
        self.chosen_changed.emit()

    def _emit_rows_changed(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, len(ChoiceColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def _text(run: RunRecord, column: ChoiceColumn) -> str:
    match column:
        case ChoiceColumn.RUN:
            return run_text.title_of(run)
        case ChoiceColumn.ENVIRONMENT:
            return run.env_id
        case ChoiceColumn.STATE:
            return run_text.state_text(run)
    return format_decimal(run.digest.mean_return)
