"""RunsModel: the current records of all runs, and RunSparklines, their recent returns."""

from collections import deque
from collections.abc import ValuesView

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_feed import RunFeed
from gym_gui.runtime.run_metadata import MAX_RECENT_RETURNS, fetch_recent_returns
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError
from mosaic.contract.run_events import ArtifactPruned, ArtifactsAvailable, RunDeleted, RunEvent
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord


class RunsModel(QObject):
    """Created once, by the wiring. UI thread only."""

    runs_changed = Signal()
    """The set of runs, or a listed field such as the state; at most once per tick."""
    run_changed = Signal(str)
    """The record of this run changed."""
    artifacts_changed = Signal(str)
    """The artifacts of this run changed."""
    changed = Signal(object)
    """The set of ids of changed and deleted runs; at most once per tick."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_listed = False
        """The runs have been listed at least once."""
        self.sparklines = RunSparklines(services.link, services.tasks, self)
        self._services = services
        self._runs: dict[str, RunRecord] = {}
        self._feed = RunFeed(services.link, services.tasks, services.ticker, self)
        self._feed.listed.connect(self._on_listed)
        self._feed.events_received.connect(self._on_events)
        self._feed.failed.connect(self._on_failed)

    def by_id(self, run_id: str) -> RunRecord | None:
        return self._runs.get(run_id)

    @property
    def runs(self) -> ValuesView[RunRecord]:
        """Unordered."""
        return self._runs.values()

    @property
    def running_count(self) -> int:
        return sum(run.state in LIVE_STATES for run in self._runs.values())

    @property
    def queued_count(self) -> int:
        return sum(run.state is RunState.QUEUED for run in self._runs.values())

    def apply(self, run: RunRecord) -> None:
        """Apply the daemon's answer to a request, before its event arrives."""
        has_changed = self._record(run)
        self._emit_changes({run.run_id: None}, has_changed=has_changed)

    def refresh(self) -> None:
        """List all runs again."""
        self._feed.reload()

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self._feed.threads)

    def _on_listed(self, runs: tuple[RunRecord, ...]) -> None:
        before, self._runs = self._runs, {run.run_id: run for run in runs}
        self.is_listed = True
        gone = before.keys() - self._runs.keys()
        for run_id in gone:
            self.sparklines.remove(run_id)
        updated = {run.run_id for run in runs if before.get(run.run_id) != run}
        live = {run.run_id for run in runs if run.state in LIVE_STATES}
        self.changed.emit(gone | updated)
        self.runs_changed.emit()
        # New runs are reported only if they are active.
        for run_id in gone | (updated & before.keys()) | live:
            self.run_changed.emit(run_id)

    def _on_failed(self, error: UserError) -> None:
        if self._services.link.is_ready:
            self._services.notices.post_error(error, "Try again", self.refresh)

    def _on_events(self, events: list[RunEvent]) -> None:
        newest: dict[str, RunEvent] = {event.run_id: event for event in events if event.run_id}
        has_changed = False
        for run_id, event in newest.items():
            if isinstance(event.what, RunDeleted):
                has_changed = self._runs.pop(run_id, None) is not None or has_changed
                self.sparklines.remove(run_id)
            elif event.run is not None:
                has_changed = self._record(event.run) or has_changed
        self._emit_changes(newest, has_changed=has_changed)
        for run_id in dict.fromkeys(event.run_id for event in events if _changes_artifacts(event)):
            self.artifacts_changed.emit(run_id)

    def _record(self, run: RunRecord) -> bool:
        """Store the record; return whether a listed field changed."""
        self.sparklines.record(run)
        before = self._runs.get(run.run_id)
        self._runs[run.run_id] = run
        return before is None or _listed_fields(before) != _listed_fields(run)

    def _emit_changes(
        self, run_ids: dict[str, RunEvent] | dict[str, None], *, has_changed: bool
    ) -> None:
        self.changed.emit(set(run_ids))
        if has_changed:
            self.runs_changed.emit()
        for run_id in run_ids:
            self.run_changed.emit(run_id)


def _listed_fields(run: RunRecord) -> tuple[object, ...]:
    return run.state, run.name, run.tags, run.note, run.archived


def _changes_artifacts(event: RunEvent) -> bool:
    return bool(event.run_id) and isinstance(event.what, (ArtifactsAvailable, ArtifactPruned))


class RunSparklines(QObject):
    """Recent mean returns of visible runs, for sparklines. Owned by `RunsModel`.

    Returns before the first request of a run are fetched once; new means are appended.
    """

    changed = Signal(str)
    """The returns of this run changed."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._returns: dict[str, deque[float]] = {}
        self._pending: dict[str, None] = {}
        self._fetching = ""

    def returns(self, run: RunRecord) -> tuple[float, ...]:
        """Mean returns, oldest first; empty until they are fetched."""
        known = self._returns.get(run.run_id)
        if known is None and run.digest.episodes > 1:
            self._pending[run.run_id] = None
            self._fetch_next()
        return tuple(known or ())

    def record(self, run: RunRecord) -> None:
        """Append the mean return of a new record."""
        mean, returns = run.digest.mean_return, self._returns.get(run.run_id)
        if mean is not None and returns is not None and (not returns or returns[-1] != mean):
            returns.append(mean)

    def remove(self, run_id: str) -> None:
        self._returns.pop(run_id, None)
        self._pending.pop(run_id, None)

    def _fetch_next(self) -> None:
        if self._fetching or not self._pending or not self._link.is_ready:
            return
        run_id = self._fetching = self._pending.popitem()[0]
        client = self._link.client
        self._tasks.run(
            self,
            lambda: fetch_recent_returns(client, run_id),
            lambda values: self._on_fetched(run_id, values),
            lambda _: self._on_fetched(run_id, ()),
        )

    def _on_fetched(self, run_id: str, values: tuple[float, ...]) -> None:
        self._fetching = ""
        newer = self._returns.get(run_id, ())
        self._returns[run_id] = deque((*values, *newer), maxlen=MAX_RECENT_RETURNS)
        self.changed.emit(run_id)
        self._fetch_next()
