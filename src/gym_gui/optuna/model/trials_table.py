"""TrialsTable: every trial of a study, a row each, in any order. Thousands are no burden.

Texts are made when they are looked at. New trials join while it is sorted, and what is chosen
stays chosen.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, Literal

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.optuna.feed import ReadStudy, StudyTrial, TrialState
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.number_text import significant
from gym_gui.runtime.models.value_text import in_words

__all__ = ["RUNS", "STATE_LOOKS", "TrialColumn", "TrialState", "TrialsTable"]

Index = QModelIndex | QPersistentModelIndex
ColumnKind = Literal["number", "state", "value", "time", "param", "attribute"]
RUNS = "runs"
"""The attribute in which a sweep of ours keeps the runs of a trial."""
_OWN_ATTRIBUTES = (RUNS,)
_MOST_TEXT = 200
_SHORT_S = 10.0

STATE_LOOKS: dict[TrialState, tuple[str, Tone]] = {
    "waiting": ("◷ waiting", "warning"),
    "running": ("● running", "good"),
    "complete": ("✓ complete", "plain"),
    "pruned": ("◇ pruned", "warning"),
    "failed": ("✕ failed", "bad"),
    "stopped": ("○ stopped", "plain"),
}
"""The symbol and the word; the colour only repeats them."""


@dataclass(frozen=True, slots=True)
class TrialColumn:
    kind: ColumnKind
    name: str
    title: str
    place: int = 0
    """Of a value: which objective."""

    @property
    def is_right(self) -> bool:
        return self.kind in ("number", "value", "time")


class TrialsTable(QAbstractTableModel):
    """A mark in its heading says which column it is sorted by."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[TrialColumn, ...] = ()
        self._trials: list[StudyTrial] = []
        self._best: frozenset[int] = frozenset()
        self._sorted_by = 0
        self._is_descending = False
        self._numeric: frozenset[str] = frozenset()
        self._directions: tuple[str, ...] = ()

    # What the model gives it.

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
            self._put_in_order()
            self.endResetModel()
            return
        self._update(trials)

    def _update(self, trials: list[StudyTrial]) -> None:
        """The same study a moment later."""
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
        self._put_in_order()
        self._move_marks(before)
        self.layoutChanged.emit()

    # What it says of itself.

    def trial(self, row: int) -> StudyTrial:
        return self._trials[row]

    def row_of(self, number: int) -> int | None:
        return next((row for row, each in enumerate(self._trials) if each.number == number), None)

    def is_best(self, row: int) -> bool:
        return self._trials[row].number in self._best

    def first_order(self, column: int) -> Qt.SortOrder:
        """What a person wants to see first: the best value, else the least."""
        what = self.columns[column]
        is_high = what.kind == "value" and self._directions[what.place] == "maximize"
        return Qt.SortOrder.DescendingOrder if is_high else Qt.SortOrder.AscendingOrder

    @property
    def sorted_by(self) -> tuple[int, Qt.SortOrder]:
        order = Qt.SortOrder
        return self._sorted_by, (
            order.DescendingOrder if self._is_descending else order.AscendingOrder
        )

    def as_rows(self, rows: Sequence[int] | None = None) -> list[list[str]]:
        """For files and the clipboard: with a head, and numbers that programs can read."""
        chosen = range(len(self._trials)) if rows is None else rows
        heads = [column.name for column in self.columns]
        return [heads, *([self._plain(row, each) for each in self.columns] for row in chosen)]

    # What Qt asks for.

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's way
        return 0 if parent.isValid() else len(self._trials)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's way
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
            side = Qt.AlignmentFlag.AlignRight if self.is_right(section) else Qt.AlignmentFlag(0)
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def is_right(self, column: int) -> bool:
        """Numbers stand at the right."""
        return self.columns[column].is_right or self.columns[column].name in self._numeric

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
        self._put_in_order()
        self._move_marks(before)
        self.layoutChanged.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.columns) - 1)

    def text(self, row: int, column: int) -> str:
        trial, what = self._trials[row], self.columns[column]
        match what.kind:
            case "number":
                return f"★ {trial.number}" if trial.number in self._best else str(trial.number)
            case "state":
                return STATE_LOOKS[trial.state][0]
            case "value":
                return value_words(trial, what.place)
            case "time":
                return duration_words(trial)
        held = trial.params if what.kind == "param" else trial.user_attrs
        return in_words(held[what.name])[:_MOST_TEXT] if what.name in held else ""

    def _tip(self, row: int, column: int) -> str:
        trial, what = self._trials[row], self.columns[column]
        if what.kind == "state" and (why := trial.user_attrs.get("reason")):
            return str(why)
        if what.kind == "value" and not trial.values and trial.last_value is not None:
            return "The newest value on the way; the trial is not over."
        return self._plain(row, what)

    def _plain(self, row: int, column: TrialColumn) -> str:
        trial = self._trials[row]
        match column.kind:
            case "number":
                return str(trial.number)
            case "state":
                return trial.state
            case "value":
                return repr(trial.values[column.place]) if len(trial.values) > column.place else ""
            case "time":
                seconds = duration_s(trial)
                return "" if seconds is None else f"{seconds:.3f}"
        held = trial.params if column.kind == "param" else trial.user_attrs
        value = held.get(column.name, "")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    # In order.

    def _put_in_order(self) -> None:
        """What has nothing to say comes last, either way."""
        if not self.columns:
            return
        key_of = _sort_key(self.columns[self._sorted_by])
        self._trials.sort(key=attrgetter("number"))
        keyed = [(key_of(trial), trial) for trial in self._trials]
        known = [each for each in keyed if each[0] is not None]
        known.sort(key=itemgetter(0), reverse=self._is_descending)
        rest = [trial for key, trial in keyed if key is None]
        self._trials = [*(trial for _, trial in known), *rest]

    def _move_marks(self, before: Sequence[StudyTrial]) -> None:
        """What is chosen and where the cursor is, to where their trials are now."""
        rows = {trial.number: row for row, trial in enumerate(self._trials)}
        old = self.persistentIndexList()
        new = [self.index(rows[before[each.row()].number], each.column()) for each in old]
        self.changePersistentIndexList(old, new)


def value_words(trial: StudyTrial, objective: int) -> str:
    if len(trial.values) > objective:
        return significant(trial.values[objective])
    if objective == 0 and trial.state == "running" and trial.last_value is not None:
        return f"{significant(trial.last_value)} …"
    return ""


def duration_s(trial: StudyTrial) -> float | None:
    if trial.started_at is None or trial.ended_at is None:
        return None
    return max(0.0, trial.ended_at - trial.started_at)


def duration_words(trial: StudyTrial) -> str:
    seconds = duration_s(trial)
    if seconds is None:
        return ""
    return f"{seconds:.2g} s" if seconds < _SHORT_S else run_text.duration(seconds)


def _columns(read: ReadStudy) -> tuple[TrialColumn, ...]:
    objectives = len(read.study.directions)
    several = objectives > 1
    values = [
        TrialColumn(
            "value",
            f"value_{place}" if several else "value",
            f"value {place + 1}" if several else "value",
            place,
        )
        for place in range(objectives)
    ]
    noted = [name for name in read.attributes if name not in _OWN_ATTRIBUTES]
    return (
        TrialColumn("number", "trial", "trial"),
        TrialColumn("state", "state", "state"),
        *values,
        TrialColumn("time", "duration_s", "time"),
        *(TrialColumn("param", name, name) for name in read.params),
        *(TrialColumn("attribute", name, name) for name in noted),
    )


def _sort_key(column: TrialColumn) -> Callable[[StudyTrial], Any]:
    """Of one kind within a column: numbers before texts. None: nothing to say."""
    match column.kind:
        case "number":
            return lambda trial: (0, trial.number)
        case "state":
            return lambda trial: (1, trial.state)
        case "time":
            return lambda trial: _number_key(duration_s(trial))
        case "value":
            place = column.place
            return lambda trial: _number_key(
                trial.values[place] if len(trial.values) > place else None
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
