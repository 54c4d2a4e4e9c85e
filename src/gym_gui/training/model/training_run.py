"""TrainingRun: the run that was launched last from the dock, until it is dismissed.

Owned by `TrainingModel`. The record of the run comes from `RunsModel`.
"""

import time

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.formatting import format_decimal, format_rate
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_clock
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_RUN_KEY = "training/run"


class TrainingRun(QObject):
    """UI thread only."""

    changed = Signal()
    open_requested = Signal(str)
    """The id of the run to show in the run page."""

    def __init__(
        self,
        services: Services,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._runs = runs
        self._launched: RunRecord | None = None
        self._is_listed = False
        """Whether the list of runs has contained it."""
        self._is_cancelling = False
        runs.run_changed.connect(self._on_run_changed)
        runs.runs_changed.connect(self._on_runs_changed)
        self._on_runs_changed()

    @property
    def run(self) -> RunRecord | None:
        """The newest record of the run."""
        if self._launched is None:
            return None
        return self._runs.by_id(self._launched.run_id) or self._launched

    def follow(self, run: RunRecord) -> None:
        self._launched = run
        self._is_listed = self._runs.by_id(run.run_id) is not None
        self._is_cancelling = False
        self._services.settings.set(_RUN_KEY, run.run_id)
        self.changed.emit()

    def dismiss(self) -> None:
        """Hide a finished run."""
        self._launched = None
        self._services.settings.set(_RUN_KEY, "")
        self.changed.emit()

    def open(self) -> None:
        if self._launched is not None:
            self.open_requested.emit(self._launched.run_id)

    def cancel(self) -> None:
        run = self.run
        if run is not None and self.can_cancel:
            self._is_cancelling = True
            self._services.call(
                self,
                lambda client: client.cancel(run.run_id, reason="Cancelled from the window."),
                on_failure=self._on_cancel_failed,
            )
            self.changed.emit()

    @property
    def can_cancel(self) -> bool:
        run = self.run
        if run is None or run.state.is_final or run.state is RunState.STOPPING:
            return False
        return not self._is_cancelling

    @property
    def progress_text(self) -> str:
        """`00:12 · 3,200 of 5,000 steps · 1.2 k/s`."""
        run = self.run
        if run is None:
            return ""
        digest = run.digest
        total = digest.progress_total
        unit = digest.progress_unit or "steps"
        progress = f"{int(digest.progress_done or 0):,} of {int(total):,} {unit}" if total else ""
        left = format_clock(run_text.time_left_of(run))
        parts = (
            format_clock(run_text.elapsed_s(run, time.time())),
            progress,
            format_rate(run_text.speed_of(run)),
            f"return {format_decimal(digest.mean_return)}"
            if digest.mean_return is not None
            else "",
            f"{left} left" if left else "",
        )
        # Break lines between parts only.
        return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts if part)

    @property
    def end_reason(self) -> str:
        run = self.run
        if run is None or not run.state.is_final:
            return ""
        return f"{run.reason} {run.remedy}".strip()

    def _on_runs_changed(self) -> None:
        """Restore the run of an earlier window while it is active."""
        saved = self._services.settings.text(_RUN_KEY)
        run = self._runs.by_id(saved) if saved and self._launched is None else None
        if run is not None and not run.state.is_final:
            self._launched, self._is_listed = run, True
        self.changed.emit()

    def _on_run_changed(self, run_id: str) -> None:
        if self._launched is None or run_id != self._launched.run_id:
            return
        if self._runs.by_id(run_id) is not None:
            self._is_listed = True
            self.changed.emit()
        elif self._is_listed:  # it was deleted
            self.dismiss()

    def _on_cancel_failed(self, error: UserError) -> None:
        self._is_cancelling = False
        self._services.notices.post_error(error)
        self.changed.emit()
