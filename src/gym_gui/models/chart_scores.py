"""ScoresTable: the final scores of the runs in the charts, and the means of their groups."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.models import run_words
from gym_gui.models.chart_runs import RunGroup
from gym_gui.services.curve_scores import LAST, Score, fetch_score
from gym_gui.services.curves import RunFacts
from gym_gui.services.pulse import Pulse
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = int(Qt.ItemDataRole.UserRole)
GROUP_ROLE = SORT_ROLE + 1
_REFRESH_S = 1.0
_NONE = "-"


class ScoreColumn(IntEnum):
    RUN = 0
    SEED = 1
    STATE = 2
    STEPS = 3
    LAST = 4
    BEST = 5
    GROUP = 6


_HEADS = ("run", "seed", "state", "steps", f"mean of last {LAST}", "best", "group mean ± sd")


_FILE_HEADS = (
    *("run_id", "run", "seed", "state", "steps", "last_mean", "last_episodes", "best", "group"),
)


@dataclass(frozen=True, slots=True)
class _Row:
    facts: RunFacts
    title: str
    group: RunGroup


class ScoresTable(QAbstractTableModel):
    """Asked for a run at a time, again when the run has told more."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, pulse: Pulse, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._pulse = pulse
        self._rows: list[_Row] = []
        self._scores: dict[str, tuple[int, Score]] = {}
        """With the number of points that they were taken from."""
        self._is_asking = False
        self._next = 0.0
        pulse.subscribe(self, self._on_beat)

    def show(
        self, facts: Sequence[RunFacts], titles: dict[str, str], groups: Sequence[RunGroup]
    ) -> None:
        of_run = {run_id: group for group in groups for run_id in group.run_ids}
        rows = [
            _Row(each, titles[each.run.run_id], of_run[each.run.run_id])
            for each in facts
            if each.run.run_id in of_run
        ]
        is_same = [row.facts.run.run_id for row in rows] == [
            row.facts.run.run_id for row in self._rows
        ]
        if is_same:
            self._rows = rows
            self._tell()
        else:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()
            shown = {row.facts.run.run_id for row in rows}
            self._scores = {key: told for key, told in self._scores.items() if key in shown}
        self._pulse.wake()

    def score(self, run_id: str) -> Score | None:
        told = self._scores.get(run_id)
        return told[1] if told else None

    def as_rows(self) -> list[list[str]]:
        """For files and the clipboard: with a head, and numbers that programs can read."""
        body = [self._plain(row, self.score(row.facts.run.run_id) or Score()) for row in self._rows]
        return [list(_FILE_HEADS), *body]

    def _plain(self, row: _Row, score: Score) -> list[str]:
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
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return _HEADS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(ScoreColumn(section))
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row, column = self._rows[index.row()], ScoreColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole and column == ScoreColumn.RUN:
            return f"{row.title}\n{row.group.label}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == SORT_ROLE:
            return self._sort_value(row, column)
        if role == GROUP_ROLE:
            return row.group.number
        return None

    def _text(self, row: _Row, column: ScoreColumn) -> str:
        run = row.facts.run
        score = self.score(run.run_id)
        match column:
            case ScoreColumn.RUN:
                return row.title
            case ScoreColumn.SEED:
                return str(run.seed)
            case ScoreColumn.STATE:
                look = run_words.STATE_LOOKS[run.state]
                return f"{look.symbol} {look.word}"
            case ScoreColumn.STEPS:
                return run_words.whole(score.step if score else run.digest.steps_done)
            case ScoreColumn.LAST:
                return run_words.number(score.last if score else None) or _NONE
            case ScoreColumn.BEST:
                return run_words.number(score.best if score else None) or _NONE
        return self._group_text(row.group)

    def _group_text(self, group: RunGroup) -> str:
        told = [score.last for run_id in group.run_ids if (score := self.score(run_id))]
        known = [value for value in told if value is not None and math.isfinite(value)]
        if len(group.run_ids) == 1 or not known:
            return _NONE
        mean = sum(known) / len(known)
        spread = math.sqrt(sum((value - mean) ** 2 for value in known) / max(1, len(known) - 1))
        return f"{run_words.number(mean)} ± {run_words.number(spread)}"

    def _sort_value(self, row: _Row, column: ScoreColumn) -> object:
        score = self.score(row.facts.run.run_id)
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
        now = time.monotonic()
        if self._is_asking or now < self._next or not self._link.is_ready:
            return False
        for row in self._rows:
            run_id, points = row.facts.run.run_id, _points(row.facts)
            told = self._scores.get(run_id)
            if told is None or told[0] != points:
                self._ask(row.facts, run_id, points)
                return True
        self._next = now + _REFRESH_S
        return False

    def _ask(self, facts: RunFacts, run_id: str, points: int) -> None:
        self._is_asking = True
        client = self._link.client

        def take(score: Score) -> None:
            self._is_asking = False
            self._scores[run_id] = (points, score)
            self._tell()
            self._pulse.wake()

        def refused(_: UserError) -> None:  # said already by whoever asks for the curves
            take(Score())

        self._tasks.run(self, lambda: fetch_score(client, facts), take, refused)

    def _tell(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, len(ScoreColumn) - 1)
            self.dataChanged.emit(self.index(0, 0), last)


def _points(facts: RunFacts) -> int:
    return facts.series.get(facts.returns, 0) if facts.returns else -1


def _alignment(column: ScoreColumn) -> int:
    is_number = column not in (ScoreColumn.RUN, ScoreColumn.STATE)
    side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
