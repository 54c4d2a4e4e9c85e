"""RunsModel: all runs there are, always up to date.

The list of runs shows them through `RunsTable`; others ask for a run by id, and hear of changes by
`run_changed`.
"""

from collections.abc import ValuesView

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_sparklines import RunSparklines
from gym_gui.runtime.run_feed import RunFeed
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.run_events import ArtifactPruned, ArtifactsAvailable, RunDeleted, RunEvent
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord


class RunsModel(QObject):
    """Made once, by the wiring."""

    runs_changed = Signal()
    """Which runs there are, or their states; at most once per tick."""
    run_changed = Signal(str)
    """Something about this run is new."""
    artifacts_changed = Signal(str)
    """What this run has left behind is other than before."""
    changed = Signal(object)
    """A set of the ids of all runs about which something is new, those that are gone too; at most
    once per tick."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.is_listed = False
        """The runs have been listed at least once."""
        self.lines = RunSparklines(link, tasks, self)
        self._link = link
        self._notices = notices
        self._runs: dict[str, RunRecord] = {}
        self._feed = RunFeed(link, tasks, ticker, self)
        self._feed.listed.connect(self._on_listed)
        self._feed.happened.connect(self._on_happened)
        self._feed.failed.connect(self._on_failed)

    def by_id(self, run_id: str) -> RunRecord | None:
        return self._runs.get(run_id)

    @property
    def runs(self) -> ValuesView[RunRecord]:
        """In no particular order."""
        return self._runs.values()

    @property
    def running_count(self) -> int:
        return sum(run.state in LIVE_STATES for run in self._runs.values())

    @property
    def queued_count(self) -> int:
        return sum(run.state is RunState.QUEUED for run in self._runs.values())

    def apply(self, run: RunRecord) -> None:
        """What the daemon answered when something was done to a run: sooner than its event."""
        has_changed = self._record(run)
        self._emit_changes({run.run_id: None}, has_changed=has_changed)

    def refresh(self) -> None:
        """List all runs again."""
        self._feed.list_again()

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
            self.lines.forget(run_id)
        others = {run.run_id for run in runs if before.get(run.run_id) != run}
        live = {run.run_id for run in runs if run.state in LIVE_STATES}
        self.changed.emit(gone | others)
        self.runs_changed.emit()
        # A run that nobody has heard of before cannot have been asked about, unless it is live.
        for run_id in gone | (others & before.keys()) | live:
            self.run_changed.emit(run_id)

    def _on_failed(self, error: UserError) -> None:
        if self._link.is_ready:
            self._notices.fail(error, "Try again", self.refresh)

    def _on_happened(self, events: list[RunEvent]) -> None:
        newest: dict[str, RunEvent] = {event.run_id: event for event in events if event.run_id}
        has_changed = False
        for run_id, event in newest.items():
            if isinstance(event.what, RunDeleted):
                has_changed = self._runs.pop(run_id, None) is not None or has_changed
                self.lines.forget(run_id)
            elif event.run is not None:
                has_changed = self._record(event.run) or has_changed
        self._emit_changes(newest, has_changed=has_changed)
        for run_id in dict.fromkeys(event.run_id for event in events if _is_of_artifacts(event)):
            self.artifacts_changed.emit(run_id)

    def _record(self, run: RunRecord) -> bool:
        """Whether there is more news than figures."""
        self.lines.record(run)
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


def _is_of_artifacts(event: RunEvent) -> bool:
    return bool(event.run_id) and isinstance(event.what, (ArtifactsAvailable, ArtifactPruned))
