"""RunsModel: all runs as a table that is always up to date.

Rows change in place: what happens to one run repaints one row. The runs list shows it; others ask
it for a run by id, and hear of changes by `run_changed`.
"""

import time
from collections import deque
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

from gym_gui.models import run_words
from gym_gui.models.notices import Notices
from gym_gui.services.pulse import Pulse
from gym_gui.services.run_feed import RunFeed
from gym_gui.services.run_trends import POINTS, recent_trend
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from mosaic.contract.errors import UserError
from mosaic.contract.run_events import RunDeleted, RunEvent
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex

RUN_ROLE = Qt.ItemDataRole.UserRole + 1
SORT_ROLE = Qt.ItemDataRole.UserRole + 2
BAR_ROLE = Qt.ItemDataRole.UserRole + 3
"""How far it is, from 0 to 1, or None."""
LINE_ROLE = Qt.ItemDataRole.UserRole + 4
"""Recent mean returns, oldest first."""

_NO_PARENT = QModelIndex()


class RunColumn(IntEnum):
    RUN = 0
    WORKER = 1
    ENVIRONMENT = 2
    STATE = 3
    PROGRESS = 4
    SPS = 5
    RETURN = 6
    TREND = 7
    ELAPSED = 8


HEADINGS = {
    RunColumn.RUN: ("run", "Name and the end of the id"),
    RunColumn.WORKER: ("worker", "The worker that carries it out"),
    RunColumn.ENVIRONMENT: ("environment", ""),
    RunColumn.STATE: ("state", ""),
    RunColumn.PROGRESS: ("progress", "How much of the work is done"),
    RunColumn.SPS: ("SPS", "Steps per second"),
    RunColumn.RETURN: ("return", "Mean return of the last 100 finished episodes"),
    RunColumn.TREND: ("trend", "Recent returns, smoothed"),
    RunColumn.ELAPSED: ("elapsed", ""),
}
RIGHT_COLUMNS = (RunColumn.SPS, RunColumn.RETURN, RunColumn.ELAPSED)


class RunsModel(QAbstractTableModel):
    """Made once, by the wiring. Rows are in no particular order: `RunsFilter` sorts them."""

    runs_changed = Signal()
    """Which runs there are, or their states; at most once a beat."""
    run_changed = Signal(str)
    """Something about this run is new."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: Pulse,
        notices: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.is_listed = False
        """The runs there are have been told at least once."""
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._runs: list[RunRecord] = []
        self._rows: dict[str, int] = {}
        self._trends: dict[str, deque[float]] = {}
        self._trends_wanted: dict[str, None] = {}
        self._trend_asked = ""
        self._feed = RunFeed(link, tasks, pulse, self)
        self._feed.listed.connect(self._on_listed)
        self._feed.happened.connect(self._on_happened)
        self._feed.failed.connect(self._on_failed)

    # Asked by others.

    def run(self, row: int) -> RunRecord:
        return self._runs[row]

    def by_id(self, run_id: str) -> RunRecord | None:
        row = self._rows.get(run_id)
        return None if row is None else self._runs[row]

    @property
    def runs(self) -> tuple[RunRecord, ...]:
        return tuple(self._runs)

    @property
    def running_count(self) -> int:
        return sum(run.state in LIVE_STATES for run in self._runs)

    @property
    def queued_count(self) -> int:
        return sum(run.state is RunState.QUEUED for run in self._runs)

    def refresh(self) -> None:
        """List all runs again."""
        self._feed.list_again()

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._feed.threads)

    # Qt's side.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._runs)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(RunColumn)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or section >= len(RunColumn):
            return None
        column = RunColumn(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[column][0]
        if role == Qt.ItemDataRole.ToolTipRole:
            return HEADINGS[column][1] or None
        return _alignment(column) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == RunColumn.RUN else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run, column = self._runs[index.row()], RunColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(run, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == RUN_ROLE:
            return run
        if role == SORT_ROLE:
            return _sort_value(run, column)
        if role == BAR_ROLE:
            return run_words.progress_of(run)
        if role == LINE_ROLE:
            return self._trend(run)
        if role == Qt.ItemDataRole.EditRole and column is RunColumn.RUN:
            return run.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_of(run)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{HEADINGS[column][0]} {_spoken(run, column)}"
        return None

    def setData(  # noqa: N802 - Qt's name
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Rename. The row changes when the daemon says so."""
        if role != Qt.ItemDataRole.EditRole or index.column() != RunColumn.RUN:
            return False
        run, name = self._runs[index.row()], str(value).strip()
        if name == run.name or not self._link.has_client:
            return False
        client = self._link.client
        self._tasks.run(
            self,
            lambda: client.rename(run.run_id, name),
            self._on_renamed,
            self._notices.fail,
        )
        return True

    # What happens.

    def _on_renamed(self, run: RunRecord) -> None:
        self._take(run)

    def _on_listed(self, runs: tuple[RunRecord, ...]) -> None:
        before = {run.run_id: run for run in self._runs}
        self.beginResetModel()
        self._runs = list(runs)
        self._rows = {run.run_id: row for row, run in enumerate(self._runs)}
        self._trends = {key: line for key, line in self._trends.items() if key in self._rows}
        self.is_listed = True
        self.endResetModel()
        self.runs_changed.emit()
        others = [run.run_id for run in runs if before.get(run.run_id, run) != run]
        live = [run.run_id for run in runs if run.state in LIVE_STATES]
        for run_id in dict.fromkeys((*(before.keys() - self._rows.keys()), *others, *live)):
            self.run_changed.emit(run_id)

    def _on_failed(self, error: UserError) -> None:
        if self._link.is_ready:
            self._notices.fail(error, "Try again", self.refresh)

    def _on_happened(self, events: list[RunEvent]) -> None:
        newest: dict[str, RunEvent] = {event.run_id: event for event in events if event.run_id}
        is_news = False
        for run_id, event in newest.items():
            if isinstance(event.what, RunDeleted):
                self._remove(run_id)
                is_news = True
            elif event.run is not None:
                is_news = self._take(event.run) or is_news
        if is_news:
            self.runs_changed.emit()
        for run_id in newest:
            self.run_changed.emit(run_id)

    def _take(self, run: RunRecord) -> bool:
        """Whether there is more news than figures."""
        self._note_trend(run)
        row = self._rows.get(run.run_id)
        if row is None:
            row = len(self._runs)
            self.beginInsertRows(_NO_PARENT, row, row)
            self._runs.append(run)
            self._rows[run.run_id] = row
            self.endInsertRows()
            return True
        before, self._runs[row] = self._runs[row], run
        is_figures = before.state is run.state and before.name == run.name
        first = RunColumn.PROGRESS if is_figures else RunColumn.RUN
        self.dataChanged.emit(self.index(row, first), self.index(row, RunColumn.ELAPSED))
        return not is_figures or before.archived != run.archived

    def _remove(self, run_id: str) -> None:
        row = self._rows.get(run_id)
        if row is None:
            return
        self.beginRemoveRows(_NO_PARENT, row, row)
        del self._runs[row]
        self._rows = {run.run_id: at for at, run in enumerate(self._runs)}
        self._trends.pop(run_id, None)
        self.endRemoveRows()

    def _trend(self, run: RunRecord) -> tuple[float, ...]:
        """What is known; of a run that is in sight, what came before is asked for, once."""
        known = self._trends.get(run.run_id)
        if known is None and run.digest.episodes > 1:
            self._trends_wanted[run.run_id] = None
            self._ask_for_trend()
        return tuple(known or ())

    def _ask_for_trend(self) -> None:
        if self._trend_asked or not self._trends_wanted or not self._link.is_ready:
            return
        run_id = self._trend_asked = self._trends_wanted.popitem()[0]
        client = self._link.client
        self._tasks.run(
            self,
            lambda: recent_trend(client, run_id),
            lambda values: self._on_trend(run_id, values),
            lambda _: self._on_trend(run_id, ()),
        )

    def _on_trend(self, run_id: str, values: tuple[float, ...]) -> None:
        self._trend_asked = ""
        row = self._rows.get(run_id)
        if row is not None:
            since = self._trends.get(run_id, ())
            self._trends[run_id] = deque((*values, *since), maxlen=POINTS)
            cell = self.index(row, RunColumn.TREND)
            self.dataChanged.emit(cell, cell)
        self._ask_for_trend()

    def _note_trend(self, run: RunRecord) -> None:
        mean, line = run.digest.mean_return, self._trends.get(run.run_id)
        # What came before it was in sight is asked for when it is.
        if mean is not None and line is not None and (not line or line[-1] != mean):
            line.append(mean)


def tip_of(run: RunRecord) -> str:
    """What the row has no room for: above all why it failed, and what to do."""
    lines = [f"{run_words.title_of(run)} · {run.run_id}"]
    if run.reason:
        lines.append(run.reason)
    if run.remedy:
        lines.append(run.remedy)
    lines += run.warnings
    if run.tags:
        lines.append(f"Tags: {', '.join(run.tags)}")
    if run.note:
        lines.append(run.note)
    return "\n".join(lines)


def _text(run: RunRecord, column: RunColumn) -> str:
    if column is RunColumn.RUN:
        return run_words.title_of(run)
    if column is RunColumn.WORKER:
        return run_words.worker_word(run.worker)
    if column is RunColumn.ENVIRONMENT:
        return run.env_id
    if column is RunColumn.STATE:
        return run_words.state_text(run)
    if column is RunColumn.SPS:
        return run_words.rate(run.digest.sps) if run.state in LIVE_STATES else ""
    if column is RunColumn.RETURN:
        return run_words.number(run.digest.mean_return)
    if column is RunColumn.ELAPSED:
        return run_words.duration(run_words.elapsed_s(run, time.time()))
    return ""


def _spoken(run: RunRecord, column: RunColumn) -> str:
    if column is RunColumn.PROGRESS:
        progress = run_words.progress_of(run)
        return "unknown" if progress is None else f"{progress:.0%}"
    return _text(run, column)


def _sort_value(run: RunRecord, column: RunColumn) -> float | str:
    """By the first column runs are in the order in which they were made."""
    if column is RunColumn.RUN:
        return run.created_at
    if column is RunColumn.PROGRESS:
        return run_words.progress_of(run) or 0.0
    if column is RunColumn.SPS:
        return (run.digest.sps or 0.0) if run.state in LIVE_STATES else -1.0
    if column in (RunColumn.RETURN, RunColumn.TREND):
        mean = run.digest.mean_return
        return float("-inf") if mean is None or mean != mean else mean
    if column is RunColumn.ELAPSED:
        return run_words.elapsed_s(run, time.time()) or 0.0
    return _text(run, column).casefold()


def _alignment(column: RunColumn) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in RIGHT_COLUMNS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
