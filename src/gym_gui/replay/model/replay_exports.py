"""ReplayExports: exports an episode as MP4, GIF or JSONL, one export at a time."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.replay.feed.replays import ExportFormat, Replays
from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_size

if TYPE_CHECKING:
    from gym_gui.replay.feed.replays import ExportJob, ExportState


class ReplayExports(QObject):
    """Files go to `folder`, under an unused name. Reports the result as a notice."""

    changed = Signal()
    reveal_requested = Signal(str)
    """Request to show the file in its folder."""

    def __init__(
        self, replays: Replays, folder: Path, services: Services, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.folder = folder
        self._replays = replays
        self._services = services
        self._job: ExportJob | None = None
        self._state: ExportState | None = None
        self._is_starting = False
        self._ended: list[ExportJob] = []
        services.ticker.subscribe(self, self._on_tick)

    @property
    def is_running(self) -> bool:
        return self._is_starting or self._job is not None

    @property
    def fraction(self) -> float:
        """Progress from 0 to 1."""
        return self._state.fraction if self._state else 0.0

    def start(
        self, run_id: str, episode: int, title: str, kind: ExportFormat, *, captions: bool
    ) -> None:
        """Start an export. Ignored while another one is running."""
        if self.is_running:
            return
        self._is_starting = True
        self.changed.emit()
        name = f"{title.strip() or 'run'} episode {episode}"
        self._services.tasks.run(
            self,
            lambda: free_target(self.folder, name, kind.value),
            lambda target: self._start_job(run_id, episode, target, kind, captions),
            self._fail,
        )

    def cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def close(self) -> None:
        """Cancel the running export; does not wait."""
        if self._job is not None:
            self._job.cancel()
            self._ended.append(self._job)
        self._job = self._state = None

    def join(self, timeout_s: float) -> bool:
        return all(job.wait(timeout_s) for job in self._ended)

    def _start_job(
        self, run_id: str, episode: int, target: Path, kind: ExportFormat, captions: bool
    ) -> None:
        self._is_starting = False
        self._job = self._replays.export(run_id, episode, target, kind, captions=captions)
        self._services.ticker.wake()

    def _fail(self, error: UserError) -> None:
        self._is_starting = False
        self.changed.emit()
        self._services.notices.post_error(error)

    def _on_tick(self) -> bool:
        job = self._job
        if job is None or job.state is self._state:
            return False
        self._state = state = job.state
        if state.phase != "running":
            self._job = self._state = None
            self._ended = [ended for ended in (*self._ended, job) if not ended.wait(0.0)]
            self._report_result(state)
        self.changed.emit()
        return True

    def _report_result(self, state: "ExportState") -> None:
        if state.result is not None:
            path = str(state.result.path)
            warning = f" {state.result.warnings[0]}" if state.result.warnings else ""
            size = format_size(state.result.size_bytes)
            self._services.notices.offer(
                f"Saved {state.result.path.name} ({size}).{warning}",
                "Show",
                lambda: self.reveal_requested.emit(path),
                tone="warning" if warning else "good",
            )
        elif state.phase == "cancelled":
            self._services.notices.post("Export cancelled. Partial files were removed.")
        elif state.error is not None:
            self._services.notices.post_error(state.error)
