"""RunCheckList: all runs, newest first, with check boxes to open several at once."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_timestamp
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_SEPARATOR = "  ·  "


class RunCheckList(QAbstractListModel):
    """A snapshot of the last `reset`: rows do not move while the user checks them."""

    checked_changed = Signal()

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._all: list[RunRecord] = []
        self._rows: list[RunRecord] = []
        self._checked: set[str] = set()
        self._filter = ""

    @property
    def checked(self) -> tuple[str, ...]:
        """In list order, including filtered rows."""
        return tuple(run.run_id for run in self._all if run.run_id in self._checked)

    def reset(self, checked: Sequence[str] = ()) -> None:
        self._checked = set(checked)
        self._all = sorted(self._runs.runs, key=lambda run: run.created_at, reverse=True)
        self._update()
        self.checked_changed.emit()

    def set_filter(self, text: str) -> None:
        """Filter by title, worker, tags or id: they must contain every word of `text`."""
        self._filter = text
        self._update()

    def toggle(self, row: int) -> None:
        self._checked ^= {self._rows[row].run_id}
        index = self.index(row)
        self.dataChanged.emit(index, index)
        self.checked_changed.emit()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            started = format_timestamp(run.started_at or run.created_at)
            name = f"{run_text.title_of(run)} {run_text.short_id(run.run_id)}"
            return _SEPARATOR.join((name, run_text.state_text(run), started))
        if role == Qt.ItemDataRole.CheckStateRole:
            is_checked = run.run_id in self._checked
            return Qt.CheckState.Checked if is_checked else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{run_text.worker_label(run.worker)} on {run.env_id}, {run.run_id}"
        return None

    def _update(self) -> None:
        terms = self._filter.lower().split()
        self.beginResetModel()
        self._rows = [run for run in self._all if all(term in _search_text(run) for term in terms)]
        self.endResetModel()


def _search_text(run: RunRecord) -> str:
    parts = (run_text.title_of(run), run.env_id, run.algo, run.worker, run.run_id, *run.tags)
    return " ".join(parts).lower()
