"""TrainingRun: the run that was launched from the dock, followed to its end and beyond.

Owned by `TrainingModel`; what is known of the run comes from `RunsModel`.
"""

import time

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.training.feed.launching import Launcher
from gym_gui.training.model.training_form import TrainingSettings
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_RUN_KEY = "training/run"


class TrainingRun(QObject):
    """All of it is for the UI thread."""

    changed = Signal()
    open_requested = Signal(str)
    """The run that a person wants to see in full."""

    def __init__(
        self,
        launcher: Launcher,
        notices: Notices,
        settings: TrainingSettings,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._launcher = launcher
        self._notices = notices
        self._settings = settings
        self._runs = runs
        self._launched: RunRecord | None = None
        self._is_listed = False
        """The list of runs has had it."""
        self._is_cancelling = False
        runs.run_changed.connect(self._on_run_changed)
        runs.runs_changed.connect(self._on_runs_changed)
        self._on_runs_changed()

    @property
    def run(self) -> RunRecord | None:
        """As it is now."""
        if self._launched is None:
            return None
        return self._runs.by_id(self._launched.run_id) or self._launched

    def follow(self, run: RunRecord) -> None:
        self._launched = run
        self._is_listed = self._runs.by_id(run.run_id) is not None
        self._is_cancelling = False
        self._settings.set(_RUN_KEY, run.run_id)
        self.changed.emit()

    def dismiss(self) -> None:
        """One that is over is not shown any longer."""
        self._launched = None
        self._settings.set(_RUN_KEY, "")
        self.changed.emit()

    def open(self) -> None:
        if self._launched is not None:
            self.open_requested.emit(self._launched.run_id)

    def cancel(self) -> None:
        run = self.run
        if run is not None and self.can_cancel:
            self._is_cancelling = True
            self._launcher.cancel(self, run.run_id, self._on_not_cancelled)
            self.changed.emit()

    @property
    def can_cancel(self) -> bool:
        run = self.run
        if run is None or run.state.is_final or run.state is RunState.STOPPING:
            return False
        return not self._is_cancelling

    @property
    def line(self) -> str:
        """`00:12 · 3,200 of 5,000 steps · 1.2 k/s`."""
        run = self.run
        if run is None:
            return ""
        digest = run.digest
        total = digest.progress_total
        unit = digest.progress_unit or "steps"
        far = f"{int(digest.progress_done or 0):,} of {int(total):,} {unit}" if total else ""
        left = run_text.duration(run_text.time_left_of(run))
        parts = (
            run_text.duration(run_text.elapsed_s(run, time.time())),
            far,
            run_text.rate(run_text.speed_of(run)),
            f"return {run_text.number(digest.mean_return)}"
            if digest.mean_return is not None
            else "",
            f"{left} left" if left else "",
        )
        # A line breaks between two parts, never within one.
        return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts if part)

    @property
    def why_it_ended(self) -> str:
        run = self.run
        if run is None or not run.state.is_final:
            return ""
        return f"{run.reason} {run.remedy}".strip()

    def _on_runs_changed(self) -> None:
        """A run that an earlier window launched is shown again while it goes on."""
        kept = self._settings.text(_RUN_KEY)
        earlier = self._runs.by_id(kept) if kept and self._launched is None else None
        if earlier is not None and not earlier.state.is_final:
            self._launched, self._is_listed = earlier, True
        self.changed.emit()

    def _on_run_changed(self, run_id: str) -> None:
        if self._launched is None or run_id != self._launched.run_id:
            return
        if self._runs.by_id(run_id) is not None:
            self._is_listed = True
            self.changed.emit()
        elif self._is_listed:  # it was deleted
            self.dismiss()

    def _on_not_cancelled(self, error: UserError) -> None:
        self._is_cancelling = False
        self._notices.fail(error)
        self.changed.emit()
