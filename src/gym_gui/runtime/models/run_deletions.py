"""RunDeletions: delayed deletion of runs, with undo.

Runs are hidden for ten seconds, then deleted. Later deletions restart the delay, and one Undo
restores all. Closing the window deletes pending runs at once. Owned by `RunActions`.
"""

import threading
from collections.abc import Collection

from PySide6.QtCore import QObject, QTimer, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.run_operations import delete_runs, start_deletion_thread
from mosaic.contract.errors import UserError

UNDO_MS = 10_000
_TOPIC = "deleted runs"


class RunDeletions(QObject):
    """UI thread only."""

    changed = Signal()
    """`hidden_run_ids` changed."""

    def __init__(
        self, services: Services, runs: RunsModel, parent: QObject, *, undo_ms: int
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._runs = runs
        self._pending: dict[str, None] = {}
        self._deleting: set[str] = set()
        self._deletion_thread: threading.Thread | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(undo_ms)
        self._timer.timeout.connect(self._delete_pending)
        runs.changed.connect(self._on_runs_changed)
        services.link.recovered.connect(self._on_recovered)

    @property
    def hidden_run_ids(self) -> frozenset[str]:
        """Runs that are about to be deleted, or being deleted."""
        return frozenset(self._pending) | self._deleting

    @property
    def can_undo(self) -> bool:
        return bool(self._pending)

    def delete(self, run_ids: Collection[str]) -> None:
        self._pending |= dict.fromkeys(run_ids)
        if not self._pending:
            return
        self._timer.start()
        self._services.notices.offer(
            f"Deleted {self._title()}.",
            "Undo",
            self.undo,
            topic=_TOPIC,
            duration_ms=self._timer.interval(),
        )
        self.changed.emit()

    def undo(self) -> None:
        self._timer.stop()
        self._services.notices.withdraw(_TOPIC)
        if self._pending:
            self._pending.clear()
            self.changed.emit()

    def close(self) -> None:
        """Does not block: a thread deletes the pending runs."""
        self._timer.stop()
        pending, self._pending = tuple(self._pending), {}
        if pending and self._services.link.has_client:
            self._deletion_thread = start_deletion_thread(self._services.link.client, pending)

    def join(self, timeout_s: float) -> bool:
        thread = self._deletion_thread
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def _delete_pending(self) -> None:
        self._services.notices.withdraw(_TOPIC)
        if not self._services.link.is_ready:
            return  # retried after the reconnect
        pending = tuple(self._pending)
        self._pending.clear()
        self._deleting |= set(pending)
        self._services.call(self, lambda client: delete_runs(client, pending), self._on_done)

    def _on_recovered(self) -> None:
        if self._pending and not self._timer.isActive():
            self._delete_pending()

    def _on_done(self, rejected: dict[str, UserError]) -> None:
        """Show rejected runs again; deleted ones stay hidden until they leave the list."""
        if not rejected:
            return
        self._deleting -= rejected.keys()
        self.changed.emit()
        # Another window may have deleted some of them. The first error is enough.
        errors = [error for run_id, error in rejected.items() if self._runs.by_id(run_id)]
        for error in errors[:1]:
            self._services.notices.post_error(error)

    def _on_runs_changed(self, run_ids: set[str]) -> None:
        gone = {run_id for run_id in run_ids & self.hidden_run_ids if not self._runs.by_id(run_id)}
        for run_id in gone:
            self._pending.pop(run_id, None)
            self._deleting.discard(run_id)
        if gone and not self._pending:
            self.undo()  # nothing left to undo

    def _title(self) -> str:
        if len(self._pending) != 1:
            return run_text.run_count(len(self._pending))
        (run_id,) = self._pending
        run = self._runs.by_id(run_id)
        return run_text.title_of(run) if run else "1 run"
