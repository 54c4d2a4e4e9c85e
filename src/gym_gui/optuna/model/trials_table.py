"""TrialsTable: table model of the trials of a study, one row per trial.

Texts are created on access. New trials are inserted in sort order, and the selection is kept.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.optuna.feed import ReadStudy, StudyTrial, TrialState
from gym_gui.runtime.models.formatting import format_significant, format_value
from gym_gui.runtime.models.notices import Tone
from mosaic.contract.formatting import format_clock

__all__ = ["RUNS", "TRIAL_STATE_STYLES", "TrialColumn", "TrialState", "TrialsTable"]

Index = QModelIndex | QPersistentModelIndex
ColumnKind = Literal["number", "state", "value", "time", "param", "attribute"]
RUNS = "runs"
"""The attribute in which MOSAIC sweeps store the runs of a trial."""
_OWN_ATTRIBUTES = (RUNS,)
_MAX_TEXT = 200
_SHORT_S = 10.0

TRIAL_STATE_STYLES: dict[TrialState, tuple[str, Tone]] = {
    "waiting": ("◷ waiting", "warning"),
    "running": ("● running", "good"),
    "complete": ("✓ complete", "plain"),
    "pruned": ("◇ pruned", "warning"),
    "failed": ("✕ failed", "bad"),
    "stopped": ("○ stopped", "plain"),
}
"""Label and tone of each state."""


@dataclass(frozen=True, slots=True)
class TrialColumn:
    kind: ColumnKind
    name: str
    title: str
    objective: int = 0
    """Index of the objective, for value columns."""

    @property
    def is_right_aligned(self) -> bool:
        return self.kind in ("number", "value", "time")


class TrialsTable(QAbstractTableModel):
    """The title of the sorted column has an arrow."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[TrialColumn, ...] = ()
        self._trials: list[StudyTrial] = []
        self._best: frozenset[int] = frozenset()
        self._sorted_by = 0
        self._is_descending = False
        self._numeric: frozenset[str] = frozenset()
        self._directions: tuple[str, ...] = ()

    # Content.

    def show(self, read: ReadStudy | None) -> None:
        trials = list(read.study.trials) if read else []
        columns = _columns(read) if read else ()
        self._numeric = read.numeric if read else frozenset()
        self._best = frozenset(trial.number for trial in read.best) if read else frozenset()
        self._directions = read.study.directions if read else ()
        if columns != self.columns or not self._trials or len(trials) < len(self._trials):
            self.beginResetModel()
            if columns != self.columns:
                self._sorted_by, self._is_descending = 0, False
            self.columns, self._trials = columns, trials
            self._sort_trials()
            self.endResetModel()
            return
        self._update(trials)

    def _update(self, trials: list[StudyTrial]) -> None:
        """Update the trials of the same study."""
        known = {trial.number for trial in self._trials}
        added = [trial for trial in trials if trial.number not in known]
        if added:
            first = len(self._trials)
            self.beginInsertRows(QModelIndex(), first, first + len(added) - 1)
            self._trials += added
            self.endInsertRows()
        self.layoutAboutToBeChanged.emit()
        by_number = {trial.number: trial for trial in trials}
        before = [by_number.get(trial.number, trial) for trial in self._trials]
        self._trials = list(before)
        self._sort_trials()
        self._move_persistent_indexes(before)
        self.layoutChanged.emit()

    # Access.

    def trial(self, row: int) -> StudyTrial:
        return self._trials[row]

    def row_of(self, number: int) -> int | None:
        return next((row for row, trial in enumerate(self._trials) if trial.number == number), None)

    def is_best(self, row: int) -> bool:
        return self._trials[row].number in self._best

    def first_order(self, column: int) -> Qt.SortOrder:
        """Default sort order: best value first, otherwise ascending."""
        definition = self.columns[column]
        is_high = (
            definition.kind == "value" and self._directions[definition.objective] == "maximize"
        )
        return Qt.SortOrder.DescendingOrder if is_high else Qt.SortOrder.AscendingOrder

    @property
    def sorted_by(self) -> tuple[int, Qt.SortOrder]:
        order = Qt.SortOrder
        return self._sorted_by, (
            order.DescendingOrder if self._is_descending else order.AscendingOrder
        )

    def as_rows(self, rows: Sequence[int] | None = None) -> list[list[str]]:
        """Header and rows for files and the clipboard, with numbers in full precision."""
        selected = range(len(self._trials)) if rows is None else rows
        header = [column.name for column in self.columns]
        return [
            header,
            *([self._plain(row, column) for column in self.columns] for row in selected),
        ]

    # Qt interface.

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name
        return 0 if parent.isValid() else len(self._trials)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name
        return 0 if parent.isValid() else len(self.columns)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            title = self.columns[section].title
            mark = "▾" if self._is_descending else "▴"
            return f"{title} {mark}" if section == self._sorted_by else title
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.columns[section].name
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = (
                Qt.AlignmentFlag.AlignRight
                if self.is_right_aligned(section)
                else Qt.AlignmentFlag(0)
            )
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def is_right_aligned(self, column: int) -> bool:
        """Whether the column is numeric."""
        return self.columns[column].is_right_aligned or self.columns[column].name in self._numeric

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(index.row(), index.column())
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if not 0 <= column < len(self.columns):
            return
        self.layoutAboutToBeChanged.emit()
        self._sorted_by = column
        self._is_descending = order == Qt.SortOrder.DescendingOrder
        before = list(self._trials)
        self._sort_trials()
        self._move_persistent_indexes(before)
        self.layoutChanged.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def text(self, row: int, column: int) -> str:
        trial, definition = self._trials[row], self.columns[column]
        match definition.kind:
            case "number":
                return f"★ {trial.number}" if trial.number in self._best else str(trial.number)
            case "state":
                return TRIAL_STATE_STYLES[trial.state][0]
            case "value":
                return value_text(trial, definition.objective)
            case "time":
                return duration_text(trial)
        values = trial.params if definition.kind == "param" else trial.user_attrs
        return (
            format_value(values[definition.name])[:_MAX_TEXT] if definition.name in values else ""
        )

    def _tip(self, row: int, column: int) -> str:
        trial, definition = self._trials[row], self.columns[column]
        if definition.kind == "state" and (reason := trial.user_attrs.get("reason")):
            return str(reason)
        if definition.kind == "value" and not trial.values and trial.last_value is not None:
            return "Newest intermediate value; the trial is running."
        return self._plain(row, definition)

    def _plain(self, row: int, column: TrialColumn) -> str:
        trial = self._trials[row]
        match column.kind:
            case "number":
                return str(trial.number)
            case "state":
                return trial.state
            case "value":
                return (
                    repr(trial.values[column.objective])
                    if len(trial.values) > column.objective
                    else ""
                )
            case "time":
                seconds = duration_s(trial)
                return "" if seconds is None else f"{seconds:.3f}"
        values = trial.params if column.kind == "param" else trial.user_attrs
        value = values.get(column.name, "")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    # Sorting.

    def _sort_trials(self) -> None:
        """Trials without a value come last in both orders."""
        if not self.columns:
            return
        key_of = _sort_key(self.columns[self._sorted_by])
        self._trials.sort(key=attrgetter("number"))
        keyed = [(key_of(trial), trial) for trial in self._trials]
        known = [pair for pair in keyed if pair[0] is not None]
        known.sort(key=itemgetter(0), reverse=self._is_descending)
        missing = [trial for key, trial in keyed if key is None]
        self._trials = [*(trial for _, trial in known), *missing]

    def _move_persistent_indexes(self, before: Sequence[StudyTrial]) -> None:
        """Keep the selection and the cursor at their trials."""
        rows = {trial.number: row for row, trial in enumerate(self._trials)}
        old = self.persistentIndexList()
        new = [self.index(rows[before[index.row()].number], index.column()) for index in old]
        self.changePersistentIndexList(old, new)


def value_text(trial: StudyTrial, objective: int) -> str:
    if len(trial.values) > objective:
        return format_significant(trial.values[objective])
    if objective == 0 and trial.state == "running" and trial.last_value is not None:
        return f"{format_significant(trial.last_value)} …"
    return ""


def duration_s(trial: StudyTrial) -> float | None:
    if trial.started_at is None or trial.ended_at is None:
        return None
    return max(0.0, trial.ended_at - trial.started_at)


def duration_text(trial: StudyTrial) -> str:
    seconds = duration_s(trial)
    if seconds is None:
        return ""
    return f"{seconds:.2g} s" if seconds < _SHORT_S else format_clock(seconds)


def _columns(read: ReadStudy) -> tuple[TrialColumn, ...]:
    objectives = len(read.study.directions)
    several = objectives > 1
    values = [
        TrialColumn(
            "value",
            f"value_{objective}" if several else "value",
            f"value {objective + 1}" if several else "value",
            objective,
        )
        for objective in range(objectives)
    ]
    attributes = [name for name in read.attributes if name not in _OWN_ATTRIBUTES]
    return (
        TrialColumn("number", "trial", "trial"),
        TrialColumn("state", "state", "state"),
        *values,
        TrialColumn("time", "duration_s", "time"),
        *(TrialColumn("param", name, name) for name in read.params),
        *(TrialColumn("attribute", name, name) for name in attributes),
    )


def _sort_key(column: TrialColumn) -> Callable[[StudyTrial], Any]:
    """Sort key of a column: numbers before texts; None without a value."""
    match column.kind:
        case "number":
            return lambda trial: (0, trial.number)
        case "state":
            return lambda trial: (1, trial.state)
        case "time":
            return lambda trial: _number_key(duration_s(trial))
        case "value":
            objective = column.objective
            return lambda trial: _number_key(
                trial.values[objective] if len(trial.values) > objective else None
            )
        case "param":
            return lambda trial: _any_key(trial.params.get(column.name))
    return lambda trial: _any_key(trial.user_attrs.get(column.name))


def _number_key(value: float | None) -> tuple[int, float] | None:
    return None if value is None or math.isnan(value) else (0, value)


def _any_key(value: Any) -> tuple[int, Any] | None:
    if value is None:
        return None
    return _number_key(value) if isinstance(value, int | float) else (1, str(value))
