"""RunChoiceList: all runs, newest first, each with a box to tick: for opening several at once."""

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
from gym_gui.runtime.models.runs_model import RunsModel
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_BETWEEN = "  ·  "


class RunChoiceList(QAbstractListModel):
    """As it was when it was last renewed: rows do not move while a person ticks them."""

    chosen_changed = Signal()

    def __init__(self, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._all: list[RunRecord] = []
        self._rows: list[RunRecord] = []
        self._chosen: set[str] = set()
        self._filter = ""

    @property
    def chosen(self) -> tuple[str, ...]:
        """In the order of the list, whether the filter shows them or not."""
        return tuple(run.run_id for run in self._all if run.run_id in self._chosen)

    def renew(self, chosen: Sequence[str] = ()) -> None:
        self._chosen = set(chosen)
        self._all = sorted(self._runs.runs, key=lambda run: run.created_at, reverse=True)
        self._update()
        self.chosen_changed.emit()

    def only(self, text: str) -> None:
        """Those of which title, worker, tags or id contain each of these words."""
        self._filter = text
        self._update()

    def toggle(self, row: int) -> None:
        self._chosen ^= {self._rows[row].run_id}
        place = self.index(row)
        self.dataChanged.emit(place, place)
        self.chosen_changed.emit()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        run = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            began = run_text.moment(run.started_at or run.created_at)
            name = f"{run_text.title_of(run)} {run_text.short_id(run.run_id)}"
            return _BETWEEN.join((name, run_text.state_text(run), began))
        if role == Qt.ItemDataRole.CheckStateRole:
            is_chosen = run.run_id in self._chosen
            return Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{run_text.worker_word(run.worker)} on {run.env_id}, {run.run_id}"
        return None

    def _update(self) -> None:
        words = self._filter.lower().split()
        self.beginResetModel()
        self._rows = [run for run in self._all if all(word in _searched(run) for word in words)]
        self.endResetModel()


def _searched(run: RunRecord) -> str:
    parts = (run_text.title_of(run), run.env_id, run.algo, run.worker, run.run_id, *run.tags)
    return " ".join(parts).lower()
