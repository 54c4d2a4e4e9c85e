"""ScoresTable: the final score of each run in the charts."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from PySide6.QtCore import (
    QObject,
    Qt,
    Signal,
)

from gym_gui.charts.feed.curve_feed import CurveFeed
from gym_gui.charts.feed.curve_scores import LAST, Score
from gym_gui.charts.feed.curves import ChartRunInfo
from gym_gui.charts.model.chart_runs import RunGroup
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal, format_integer
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.table_model import Column, Index, TableModel
from mosaic.contract.errors import UserError

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
GROUP_ROLE = SORT_ROLE + 1
NOTHING = "-"
_REFRESH_S = 1.0


class ScoreColumn(IntEnum):
    RUN = 0
    SEED = 1
    STATE = 2
    STEPS = 3
    LAST = 4
    BEST = 5


_FILE_HEADERS = (
    *("run_id", "run", "seed", "state", "steps", "last_mean", "last_episodes", "best", "group"),
)


class _FetchedScore(NamedTuple):
    score: Score
    points: int
    """Number of points when it was fetched."""
    refresh_at: float
    """Earliest time of the next fetch."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    info: ChartRunInfo
    title: str
    group: RunGroup

    @property
    def run_id(self) -> str:
        return self.info.run.run_id


class ScoresTable(TableModel):
    """Fetches one run at a time, and again when the run has new points."""

    COLUMNS = (
        Column("run"),
        Column("seed", is_number=True),
        Column("state"),
        Column("steps", "Steps done", is_number=True),
        Column(
            f"mean of last {LAST}",
            f"Mean return of the last {LAST} finished episodes, or of all if fewer",
            is_number=True,
        ),
        Column("best", "Highest return of an episode", is_number=True),
    )

    scores_changed = Signal()

    def __init__(self, feed: CurveFeed, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._services = services
        self._rows: list[ScoreRow] = []
        self._scores: dict[str, _FetchedScore] = {}
        self._is_fetching = False
        services.ticker.subscribe(self, self._on_tick)

    def show(
        self, infos: Sequence[ChartRunInfo], titles: Mapping[str, str], groups: Sequence[RunGroup]
    ) -> None:
        of_run = {run_id: group for group in groups for run_id in group.run_ids}
        self.beginResetModel()
        self._rows = [
            ScoreRow(info, titles[info.run.run_id], of_run[info.run.run_id])
            for info in infos
            if info.run.run_id in of_run
        ]
        run_ids = {row.run_id for row in self._rows}
        self._scores = {key: score for key, score in self._scores.items() if key in run_ids}
        self.endResetModel()
        self.scores_changed.emit()
        self._services.ticker.wake()

    def score(self, run_id: str) -> Score | None:
        fetched = self._scores.get(run_id)
        return fetched.score if fetched else None

    @property
    def rows(self) -> Sequence[ScoreRow]:
        return self._rows

    def as_rows(self) -> list[list[str]]:
        """For files and the clipboard: with a header and plain numbers."""
        body = [self._plain(row, self.score(row.run_id) or Score()) for row in self._rows]
        return [list(_FILE_HEADERS), *body]

    def _plain(self, row: ScoreRow, score: Score) -> list[str]:
        run = row.info.run
        identity = (run.run_id, row.title, run.seed, run.state)
        cells = (*identity, score.step, score.last, score.counted, score.best, row.group.label)
        return ["" if value is None else str(value) for value in cells]

    def row_count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], ScoreColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole and column == ScoreColumn.RUN:
            return f"{row.title}\n{row.info.folder or row.group.label}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == SORT_ROLE:
            return self._sort_value(row, column)
        if role == GROUP_ROLE:
            return row.group.number
        return None

    def _text(self, row: ScoreRow, column: ScoreColumn) -> str:
        run = row.info.run
        score = self.score(run.run_id)
        match column:
            case ScoreColumn.RUN:
                return row.title
            case ScoreColumn.SEED:
                return NOTHING if row.info.folder else str(run.seed)
            case ScoreColumn.STATE:
                style = run_text.STATE_STYLES[run.state]
                return "event files" if row.info.folder else f"{style.symbol} {style.word}"
            case ScoreColumn.STEPS:
                return format_integer(score.step if score else run.digest.steps_done)
            case ScoreColumn.LAST:
                return format_decimal(score.last if score else None) or NOTHING
        return format_decimal(score.best if score else None) or NOTHING

    def _sort_value(self, row: ScoreRow, column: ScoreColumn) -> object:
        score = self.score(row.run_id)
        worst = -math.inf
        match column:
            case ScoreColumn.SEED:
                return row.info.run.seed
            case ScoreColumn.STEPS:
                return score.step if score else 0
            case ScoreColumn.LAST:
                return worst if score is None or score.last is None else score.last
            case ScoreColumn.BEST:
                return worst if score is None or score.best is None else score.best
        return self._text(row, column)

    def _on_tick(self) -> bool:
        now, is_waiting = time.monotonic(), False
        for row in self._rows:
            info = self._feed.run_info(row.run_id)
            if info is None or not (self._services.link.is_ready or info.folder):
                continue
            fetched = self._scores.get(row.run_id)
            is_due = fetched is None or (
                fetched.points != _points(info) and now >= fetched.refresh_at
            )
            if is_due and not self._is_fetching:
                self._fetch(info)
                return True
            is_waiting = is_waiting or fetched is None or fetched.points != _points(info)
        return is_waiting

    def _fetch(self, info: ChartRunInfo) -> None:
        self._is_fetching = True
        run_id = info.run.run_id

        def apply(score: Score) -> None:
            self._is_fetching = False
            before = self.score(run_id)
            self._scores[run_id] = _FetchedScore(
                score, _points(info), time.monotonic() + _REFRESH_S
            )
            if before != score:
                self._emit_changed(run_id)
            self._services.ticker.wake()

        def reject(_: UserError) -> None:  # the curve feed reports it
            apply(Score())

        self._services.tasks.run(self, lambda: self._feed.score(info), apply, reject)

    def _emit_changed(self, run_id: str) -> None:
        for number, row in enumerate(self._rows):
            if row.run_id == run_id:
                last = self.index(number, len(ScoreColumn) - 1)
                self.dataChanged.emit(self.index(number, 0), last)
                self.scores_changed.emit()


def _points(info: ChartRunInfo) -> int:
    return info.series.get(info.returns, 0) if info.returns else -1
