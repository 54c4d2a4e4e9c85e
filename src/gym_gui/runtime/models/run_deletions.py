"""RunDeletions: runs that are to be deleted, unless the person thinks better of it in time.

For ten seconds they are only out of sight; then the daemon is asked. Those deleted meanwhile join
them, and one Undo brings all back. Whoever closes the window means it: what waits is done at once.
Owned by `RunActions`.
"""

import threading
from collections.abc import Collection

from PySide6.QtCore import QObject, QTimer, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.run_removal import delete_runs, start_deleting
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

UNDO_MS = 10_000
_TOPIC = "deleted runs"


class RunDeletions(QObject):
    """All of it is for the UI thread."""

    changed = Signal()
    """Other runs than before are out of sight."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        notices: Notices,
        runs: RunsModel,
        parent: QObject,
        *,
        undo_ms: int,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._notices = notices
        self._runs = runs
        self._waiting: dict[str, None] = {}
        self._deleting: set[str] = set()
        self._last_thread: threading.Thread | None = None
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setInterval(undo_ms)
        self._clock.timeout.connect(self._carry_out)
        runs.changed.connect(self._on_runs_changed)
        link.recovered.connect(self._on_recovered)

    @property
    def out_of_sight(self) -> frozenset[str]:
        """Those that wait, and those that the daemon is deleting."""
        return frozenset(self._waiting) | self._deleting

    @property
    def can_undo(self) -> bool:
        return bool(self._waiting)

    def delete(self, run_ids: Collection[str]) -> None:
        self._waiting |= dict.fromkeys(run_ids)
        if not self._waiting:
            return
        self._clock.start()
        self._notices.offer(
            f"Deleted {self._called()}.",
            "Undo",
            self.undo,
            topic=_TOPIC,
            stays_ms=self._clock.interval(),
        )
        self.changed.emit()

    def undo(self) -> None:
        self._clock.stop()
        self._notices.withdraw(_TOPIC)
        if self._waiting:
            self._waiting.clear()
            self.changed.emit()

    def close(self) -> None:
        """Does not wait: a thread of its own asks the daemon for what is left."""
        self._clock.stop()
        waiting, self._waiting = tuple(self._waiting), {}
        if waiting and self._link.has_client:
            self._last_thread = start_deleting(self._link.client, waiting)

    def join(self, timeout_s: float) -> bool:
        thread = self._last_thread
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def _carry_out(self) -> None:
        self._notices.withdraw(_TOPIC)
        if not self._link.is_ready:
            return  # done when it is back
        client, waiting = self._link.client, tuple(self._waiting)
        self._waiting.clear()
        self._deleting |= set(waiting)
        self._tasks.run(self, lambda: delete_runs(client, waiting), self._on_done)

    def _on_recovered(self) -> None:
        if self._waiting and not self._clock.isActive():
            self._carry_out()

    def _on_done(self, rejected: dict[str, UserError]) -> None:
        """What was deleted stays out of sight until it is gone from the list, too."""
        if not rejected:
            return
        self._deleting -= rejected.keys()
        self.changed.emit()
        # Another window may have deleted some of them. One reason says enough: they are seen again.
        kept = [error for run_id, error in rejected.items() if self._runs.by_id(run_id)]
        for error in kept[:1]:
            self._notices.fail(error)

    def _on_runs_changed(self, run_ids: set[str]) -> None:
        gone = {run_id for run_id in run_ids & self.out_of_sight if not self._runs.by_id(run_id)}
        for run_id in gone:
            self._waiting.pop(run_id, None)
            self._deleting.discard(run_id)
        if gone and not self._waiting:
            self.undo()  # there is nothing left to take back

    def _called(self) -> str:
        if len(self._waiting) != 1:
            return run_text.run_count(len(self._waiting))
        (run_id,) = self._waiting
        run = self._runs.by_id(run_id)
        return run_text.title_of(run) if run else "1 run"
