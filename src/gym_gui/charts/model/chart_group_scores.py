"""GroupScores: final scores of groups of runs: mean, 95 % confidence interval, count."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QObject, Qt

from gym_gui.charts.feed.curve_scores import LAST
from gym_gui.charts.model.chart_confidence import BAND_TEXT, mean_and_half
from gym_gui.charts.model.chart_runs import RunGroup
from gym_gui.charts.model.chart_scores import GROUP_ROLE, NOTHING, SORT_ROLE, ScoresTable
from gym_gui.runtime.models.formatting import format_decimal
from gym_gui.runtime.models.table_model import Column, Index, TableModel


class GroupColumn(IntEnum):
    GROUP = 0
    RUNS = 1
    MEAN = 2
    LOWEST = 3
    HIGHEST = 4


_FILE_HEADERS = ("group", "runs", "mean", "ci95_low", "ci95_high", "lowest", "highest", "run_ids")


@dataclass(frozen=True, slots=True)
class _Row:
    group: RunGroup
    values: tuple[float, ...] = ()
    mean: float | None = None
    half: float | None = None

    @property
    def score_text(self) -> str:
        if self.mean is None:
            return NOTHING
        half = "" if self.half is None else f" ± {format_decimal(self.half)}"
        return f"{format_decimal(self.mean)}{half}"


class GroupScores(TableModel):
    """Updated from the table of runs."""

    COLUMNS = (
        Column("group", "Runs shown as one mean"),
        Column("n", "Number of runs in the mean", is_number=True),
        Column(
            "mean ± 95 % CI",
            f"Mean over runs of the mean return of the last {LAST} episodes, ± {BAND_TEXT}",
            is_number=True,
        ),
        Column("lowest", "Lowest score of a run", is_number=True),
        Column("highest", "Highest score of a run", is_number=True),
    )

    def __init__(self, scores: ScoresTable, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scores = scores
        self._rows: list[_Row] = []
        scores.scores_changed.connect(self._refresh)

    @property
    def has_means(self) -> bool:
        """Whether any group has more than one run."""
        return any(len(row.group.run_ids) > 1 for row in self._rows)

    def as_rows(self) -> list[list[str]]:
        """For files and the clipboard: with a header and plain numbers."""
        return [list(_FILE_HEADERS), *map(_plain, self._rows)]

    def row_count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], GroupColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole and column == GroupColumn.GROUP:
            return f"{row.group.label}\n{row.group.detail}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == SORT_ROLE:
            return _sort_value(row, column)
        if role == GROUP_ROLE:
            return row.group.number
        return None

    def _refresh(self) -> None:
        members: dict[int, tuple[RunGroup, list[float]]] = {}
        for row in self._scores.rows:
            _, values = members.setdefault(row.group.number, (row.group, []))
            score = self._scores.score(row.run_id)
            if score and score.last is not None and math.isfinite(score.last):
                values.append(score.last)
        rows = [_row(group, values) for group, values in members.values()]
        if [row.group for row in rows] != [row.group for row in self._rows]:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
        elif rows != self._rows:
            self._rows = rows
            last = self.index(len(rows) - 1, len(GroupColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def _row(group: RunGroup, values: Sequence[float]) -> _Row:
    return _Row(group, tuple(values), *mean_and_half(values)) if values else _Row(group)


def _text(row: _Row, column: GroupColumn) -> str:
    match column:
        case GroupColumn.GROUP:
            return row.group.label
        case GroupColumn.RUNS:
            return str(len(row.values) or len(row.group.run_ids))
        case GroupColumn.MEAN:
            return row.score_text
        case GroupColumn.LOWEST:
            return format_decimal(min(row.values, default=None)) or NOTHING
    return format_decimal(max(row.values, default=None)) or NOTHING


def _sort_value(row: _Row, column: GroupColumn) -> object:
    worst = -math.inf
    match column:
        case GroupColumn.GROUP:
            return row.group.label
        case GroupColumn.RUNS:
            return len(row.values)
        case GroupColumn.MEAN:
            return worst if row.mean is None else row.mean
        case GroupColumn.LOWEST:
            return min(row.values, default=worst)
    return max(row.values, default=worst)


def _plain(row: _Row) -> list[str]:
    half = row.half
    ends = (None, None) if row.mean is None or half is None else (row.mean - half, row.mean + half)
    lowest, highest = min(row.values, default=None), max(row.values, default=None)
    cells = (row.group.label, len(row.values), row.mean, *ends, lowest, highest)
    return [*("" if value is None else str(value) for value in cells), " ".join(row.group.run_ids)]
