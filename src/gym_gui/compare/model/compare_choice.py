"""CompareChoice: all runs, to be ticked for comparison."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
MOST_RUNS = 20
"""More curves than these cannot be told apart."""
_NOWHERE = QModelIndex()
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class ChoiceColumn(IntEnum):
    RUN = 0
    ENVIRONMENT = 1
    STATE = 2
    RETURN = 3


_HEADS = ("run", "environment", "state", "return")


class CompareChoice(QAbstractTableModel):
    """Owned by `CompareModel`. The newest run is the first row; empty until `set_in_sight`."""

    chosen_changed = Signal()

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.chosen: dict[str, None] = {}
        """Ids, in the order in which they were ticked."""
        self._runs = runs
        self._rows: list[RunRecord] = []
        self._words: tuple[str, ...] = ()
        self._is_in_sight = False
        runs.runs_changed.connect(self._take)

    @property
    def is_full(self) -> bool:
        return len(self.chosen) >= MOST_RUNS

    @property
    def has_runs(self) -> bool:
        """There are any at all, whatever is searched for."""
        return bool(self._runs.runs)

    def set_in_sight(self, is_seen: bool) -> None:
        """While nobody looks, what happens to runs is no business of this."""
        self._is_in_sight = is_seen
        self._take()

    def choose(self, run_ids: Sequence[str]) -> None:
        """These and no others."""
        self.chosen = dict.fromkeys(run_ids)
        self._tell()

    def search(self, text: str) -> None:
        self._words = tuple(text.lower().split())
        self._take()

    def run_id(self, row: int) -> str:
        return self._rows[row].run_id

    def toggle(self, run_id: str, is_chosen: bool) -> bool:
        """Whether it could be done: only so many runs can be told apart."""
        if is_chosen and self.is_full and run_id not in self.chosen:
            return False
        if is_chosen:
            self.chosen[run_id] = None
        else:
            self.chosen.pop(run_id, None)
        self._tell()
        return True

    # Qt's side.

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(ChoiceColumn)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section == ChoiceColumn.RETURN else _LEFT
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        return flags | Qt.ItemFlag.ItemIsUserCheckable if index.column() == 0 else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run, column = self._rows[index.row()], ChoiceColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column == ChoiceColumn.RETURN else _LEFT
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

    def _take(self) -> None:
        if not self._is_in_sight:
            return
        found = [run for run in self._runs.runs if self._is_shown(run)]
        found.sort(key=lambda run: run.created_at, reverse=True)
        if [run.run_id for run in found] == [run.run_id for run in self._rows]:
            self._rows = found
            self._tell_rows()
            return
        self.beginResetModel()
        self._rows = found
        self.endResetModel()

    def _is_shown(self, run: RunRecord) -> bool:
        if run.archived and run.run_id not in self.chosen:
            return False
        said = (run_text.title_of(run), run.env_id, run.algo, run.worker, *run.tags, run.run_id)
        text = " ".join(said).lower()
        return all(word in text for word in self._words)

    def _tell(self) -> None:
        self._tell_rows()
        self.chosen_changed.emit()

    def _tell_rows(self) -> None:
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
    return run_text.number(run.digest.mean_return)
