"""EventExport: exports the telemetry of a run as event files."""

import threading

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.services import Services
from gym_gui.tensorboard.feed.event_folders import export_run
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

NO_RUN = "Select a run in the list."
NO_DATA = "The run has no metrics and no finished episodes."
_PROGRESS_INTERVAL = 2_000
"""Points."""


class EventExport(QObject):
    """One export at a time. Created by `TensorBoardModel`."""

    changed = Signal()
    done = Signal(str)
    """Id of the run whose event files were exported."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.run_id = ""
        """The run being exported; empty if there is none."""
        self.points = 0
        self._services = services
        self._stop = threading.Event()
        self._written = 0
        services.ticker.subscribe(self, self._on_tick)

    def why_not(self, run: RunRecord | None) -> str:
        """Empty if it can be exported."""
        if run is None:
            return NO_RUN
        if self.run_id:
            return "An export is already running."
        if not self._services.link.has_client:
            return "Not connected to the daemon yet."
        if not run.digest.metrics and not run.digest.episodes:
            return NO_DATA
        return ""

    def start(self, run: RunRecord) -> None:
        if self.why_not(run):
            return
        home = self._services.link.home
        self.run_id, self.points, self._written = run.run_id, 0, 0
        stop = self._stop = threading.Event()
        self._services.call(
            self,
            lambda client: export_run(client, home, run, stop, self._count),
            lambda result: self._on_done(run, result[1].points, result[1].tags),
            self._on_failed,
        )
        self.changed.emit()

    def cancel(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._stop.set()

    def _count(self, points: int) -> None:
        """On a thread."""
        if points - self._written >= _PROGRESS_INTERVAL:
            self._written = points
            self._services.ticker.wake()

    def _on_tick(self) -> bool:
        if self.points == self._written or not self.run_id:
            return False
        self.points = self._written
        self.changed.emit()
        return True

    def _on_done(self, run: RunRecord, points: int, tags: int) -> None:
        self.run_id = ""
        counts = f"{format_integer(points)} points of {format_integer(tags)} curves"
        self._services.notices.post(f"Exported {run_text.title_of(run)}: {counts}.", tone="good")
        self.done.emit(run.run_id)
        self.changed.emit()

    def _on_failed(self, error: UserError) -> None:
        self.run_id = ""
        if self._stop.is_set():
            self._services.notices.post(error.message)
        else:
            self._services.notices.post_error(error)
        self.changed.emit()
