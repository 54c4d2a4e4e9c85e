"""ScoresTable: how good each run in the charts was in the end."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.charts.feed.curve_feed import CurveFeed
from gym_gui.charts.feed.curve_scores import LAST, Score
from gym_gui.charts.feed.curves import RunFacts
from gym_gui.charts.model.chart_runs import RunGroup
from gym_gui.runtime.models import run_text
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

Index = QModelIndex | QPersistentModelIndex
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


_HEADS = ("run", "seed", "state", "steps", f"mean of last {LAST}", "best")
_TIPS = (
    *("", "", "", "Steps that the run has done"),
    f"Mean return of the last {LAST} finished episodes; of all, where there are fewer",
    "The highest return of an episode",
)
_FILE_HEADS = (
    *("run_id", "run", "seed", "state", "steps", "last_mean", "last_episodes", "best", "group"),
)
_LEFT = (ScoreColumn.RUN, ScoreColumn.STATE)


class _Told(NamedTuple):
    score: Score
    points: int
    """How many points it was taken from."""
    again_at: float
    """Before that time it is not asked for again."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    facts: RunFacts
    title: str
    group: RunGroup

    @property
    def run_id(self) -> str:
        return self.facts.run.run_id


class ScoresTable(QAbstractTableModel):
    """Asked for a run at a time, again when the run has told more."""

    scores_changed = Signal()

    def __init__(
        self,
        feed: CurveFeed,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._feed = feed
        self._link = link
        self._tasks = tasks
        self._pulse = pulse
        self._rows: list[ScoreRow] = []
        self._scores: dict[str, _Told] = {}
        self._is_asking = False
        pulse.subscribe(self, self._on_beat)

    def show(
        self, facts: Sequence[RunFacts], titles: Mapping[str, str], groups: Sequence[RunGroup]
    ) -> None:
        of_run = {run_id: group for group in groups for run_id in group.run_ids}
        self.beginResetModel()
        self._rows = [
            ScoreRow(each, titles[each.run.run_id], of_run[each.run.run_id])
            for each in facts
            if each.run.run_id in of_run
        ]
        shown = {row.run_id for row in self._rows}
        self._scores = {key: told for key, told in self._scores.items() if key in shown}
        self.endResetModel()
        self.scores_changed.emit()
        self._pulse.wake()

    def score(self, run_id: str) -> Score | None:
        told = self._scores.get(run_id)
        return told.score if told else None

    @property
    def rows(self) -> Sequence[ScoreRow]:
        return self._rows

    def as_rows(self) -> list[list[str]]:
        """For files and the clipboard: with a head, and numbers that programs can read."""
        body = [self._plain(row, self.score(row.run_id) or Score()) for row in self._rows]
        return [list(_FILE_HEADS), *body]

    def _plain(self, row: ScoreRow, score: Score) -> list[str]:
        run = row.facts.run
        facts = (run.run_id, row.title, run.seed, run.state, score.step, score.last, score.counted)
        told = (*facts, score.best, row.group.label)
        return ["" if value is None else str(value) for value in told]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's way
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's way
        return 0 if parent.isValid() else len(ScoreColumn)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return _TIPS[section] or None
        return aligned(section in _LEFT) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], ScoreColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole and column == ScoreColumn.RUN:
            return f"{row.title}\n{row.facts.folder or row.group.label}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return aligned(column in _LEFT)
        if role == SORT_ROLE:
            return self._sort_value(row, column)
        if role == GROUP_ROLE:
            return row.group.number
        return None

    def _text(self, row: ScoreRow, column: ScoreColumn) -> str:
        run = row.facts.run
        score = self.score(run.run_id)
        match column:
            case ScoreColumn.RUN:
                return row.title
            case ScoreColumn.SEED:
                return NOTHING if row.facts.folder else str(run.seed)
            case ScoreColumn.STATE:
                look = run_text.STATE_LOOKS[run.state]
                return "event files" if row.facts.folder else f"{look.symbol} {look.word}"
            case ScoreColumn.STEPS:
                return run_text.whole(score.step if score else run.digest.steps_done)
            case ScoreColumn.LAST:
                return run_text.number(score.last if score else None) or NOTHING
        return run_text.number(score.best if score else None) or NOTHING

    def _sort_value(self, row: ScoreRow, column: ScoreColumn) -> object:
        score = self.score(row.run_id)
        worst = -math.inf
        match column:
            case ScoreColumn.SEED:
                return row.facts.run.seed
            case ScoreColumn.STEPS:
                return score.step if score else 0
            case ScoreColumn.LAST:
                return worst if score is None or score.last is None else score.last
            case ScoreColumn.BEST:
                return worst if score is None or score.best is None else score.best
        return self._text(row, column)

    def _on_beat(self) -> bool:
        now, is_waiting = time.monotonic(), False
        for row in self._rows:
            facts = self._feed.facts(row.run_id)
            if facts is None or not (self._link.is_ready or facts.folder):
                continue
            told = self._scores.get(row.run_id)
            is_due = told is None or (told.points != _points(facts) and now >= told.again_at)
            if is_due and not self._is_asking:
                self._ask(facts)
                return True
            is_waiting = is_waiting or told is None or told.points != _points(facts)
        return is_waiting

    def _ask(self, facts: RunFacts) -> None:
        self._is_asking = True
        run_id = facts.run.run_id

        def take(score: Score) -> None:
            self._is_asking = False
            before = self.score(run_id)
            self._scores[run_id] = _Told(score, _points(facts), time.monotonic() + _REFRESH_S)
            if before != score:
                self._tell(run_id)
            self._pulse.wake()

        def refused(_: UserError) -> None:  # said already by whoever asks for the curves
            take(Score())

        self._tasks.run(self, lambda: self._feed.score(facts), take, refused)

    def _tell(self, run_id: str) -> None:
        for number, row in enumerate(self._rows):
            if row.run_id == run_id:
                last = self.index(number, len(ScoreColumn) - 1)
                self.dataChanged.emit(self.index(number, 0), last)
                self.scores_changed.emit()


def aligned(is_left: bool) -> int:
    side = Qt.AlignmentFlag.AlignLeft if is_left else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def _points(facts: RunFacts) -> int:
    return facts.series.get(facts.returns, 0) if facts.returns else -1
