"""StudyModel: the study of a sweep or of any Optuna database, also while it is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from gym_gui.optuna.feed import (
    MIN_TRIALS,
    Importance,
    ReadStudy,
    Study,
    StudyTrial,
    best_so_far,
    watch_studies,
)
from gym_gui.optuna.model.trials_table import RUNS, TrialsTable
from gym_gui.runtime.file_poller import FilePoller
from gym_gui.runtime.models.file_exports import FileExports
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import FINAL_STATES

__all__ = ["NO_STUDY", "Phase", "ReadStudy", "Study", "StudyModel", "StudyTrial"]

NO_STUDY = "This run is not a sweep and has no Optuna study"
Phase = Literal["none", "loading", "off", "waiting", "failed", "ready"]


class StudyModel(QObject):
    """`changed` fires at most once per tick."""

    changed = Signal()

    def __init__(
        self, services: Services, selected_run: SelectedRun, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.trials = TrialsTable(self)
        self.exports = FileExports(services, self)
        self.problem: UserError | None = None
        self.objective = 0
        self._services = services
        self._selected_run = selected_run
        self._run_id = ""
        self._last_state: tuple[str, Phase, bool] | None = None
        self._opened: Path | None = None
        self._studies: tuple[ReadStudy, ...] | None = None
        """None until the file was read."""
        self._selected_name = ""
        self._is_visible = False
        self._is_dirty = True
        self._path: Path | None = None
        self._watch = FilePoller("optuna study", watch_studies, services.ticker.wake)
        self._watched: tuple[Path | None, bool] = (None, False)
        selected_run.changed.connect(self._on_run)
        selected_run.metadata_changed.connect(self._on_metadata)
        services.ticker.subscribe(self, self._on_tick)
        self._on_run()

    # Displayed state.

    @property
    def phase(self) -> Phase:
        if self.path is None:
            return self._phase_without_file()
        if self.problem is not None and not self._studies:
            return "failed"
        if self._studies is None:
            return "loading"
        return "ready" if self._studies else "waiting"

    def _phase_without_file(self) -> Phase:
        if not self._selected_run.run_id:
            return "none"
        if not self._selected_run.is_known and self._selected_run.problem is None:
            return "loading"
        run = self._selected_run.run
        is_sweep = run is not None and run.mode == "sweep"
        return "waiting" if is_sweep and run is not None and not _is_finished(run.state) else "off"

    @property
    def path(self) -> Path | None:
        """The opened database, or the database of the run."""
        if self._opened is not None:
            return self._opened
        relative_path, directory = (
            self._selected_run.manifest.optuna_db_path,
            self._selected_run.directory,
        )
        return directory / relative_path if relative_path and directory else None

    @property
    def is_opened(self) -> bool:
        """Whether the user opened a database."""
        return self._opened is not None

    @property
    def is_live(self) -> bool:
        """Whether more trials may arrive."""
        if self._opened is not None:
            return True
        run = self._selected_run.run
        return run is not None and not _is_finished(run.state)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the studies in the file."""
        return tuple(read.study.name for read in self._studies or ())

    @property
    def read(self) -> ReadStudy | None:
        """The selected study. Default: the newest."""
        studies = self._studies or ()
        selected = (read for read in studies if read.study.name == self._selected_name)
        return next(selected, studies[-1] if studies else None)

    @property
    def study(self) -> Study | None:
        return self.read.study if self.read else None

    @property
    def best(self) -> tuple[StudyTrial, ...]:
        """The best trial, or the Pareto front for several objectives."""
        return self.read.best if self.read else ()

    @property
    def best_so_far(self) -> tuple[list[int], list[float]]:
        """Trial numbers at which the best value improved, and these values."""
        study = self.study
        return best_so_far(study, self.objective) if study and study.directions else ([], [])

    @property
    def importance(self) -> tuple[Importance, ...]:
        """Parameter importance for the selected objective; most important first."""
        read = self.read
        return read.importance[self.objective] if read and read.importance else ()

    @property
    def importance_text(self) -> str:
        """How the importance was computed, or why it is missing."""
        complete = self.read.counts.get("complete", 0) if self.read else 0
        if complete < MIN_TRIALS:
            return (
                f"Parameter importance needs {MIN_TRIALS} complete trials;"
                f" there {'is' if complete == 1 else 'are'} {complete}."
            )
        if not self.importance:
            return "All trials have the same parameters, so importance is undefined."
        return (
            "Share of the ranking of trials that each parameter explains alone (Kruskal-Wallis"
            " effect size, corrected for chance). Interactions are not included."
        )

    @property
    def params(self) -> tuple[str, ...]:
        """Parameter names, most important first."""
        names = [importance.parameter for importance in self.importance]
        read = self.read
        return (*names, *(name for name in (read.params if read else ()) if name not in names))

    def runs_of(self, trial: StudyTrial) -> tuple[str, ...]:
        """Ids of the runs of a trial; empty if they are unknown."""
        runs = trial.attributes.get(RUNS)
        return tuple(map(str, runs)) if isinstance(runs, list) else ()

    # Commands.

    def open_database(self, path: str) -> None:
        """Show any Optuna database until another run is selected."""
        self._opened = Path(path)
        self._restart()

    def close_database(self) -> None:
        """Return to the study of the run."""
        self._opened = None
        self._restart()

    def select_study(self, name: str) -> None:
        if name != self._selected_name:
            self._selected_name, self.objective = name, 0
            self._show_trials()
            self.changed.emit()

    def set_objective(self, objective: int) -> None:
        if objective != self.objective:
            self.objective = objective
            self.changed.emit()

    def retry(self) -> None:
        self.problem = None
        self._watch.restart()
        self._is_dirty = True
        self._services.ticker.wake()

    def export(self) -> None:
        """Export all trials as CSV, in the order of the table."""
        if self.study is not None:
            self.exports.save_rows(f"{self.study.name} trials", self.trials.as_rows())

    def prepare(self, load: Callable[[], Any], on_loaded: Callable[[Any], None]) -> None:
        """Run a slow import on a thread."""
        self._services.tasks.run(self, load, on_loaded)

    def set_page_visible(self, is_visible: bool) -> None:
        """Poll the file only while the page is visible."""
        if is_visible != self._is_visible:
            self._is_visible = is_visible
            self._update_watch()

    def close(self) -> None:
        self._watch.close()

    def join(self, timeout_s: float) -> bool:
        return self._watch.join(timeout_s)

    # Updates.

    def _on_metadata(self) -> None:
        """Poll now, because the daemon reported new files."""
        self._on_run()
        self._watch.poll_now()
        self._is_dirty = True
        self._services.ticker.wake()

    def _on_run(self) -> None:
        if self._selected_run.run_id != self._run_id:
            self._run_id = self._selected_run.run_id
            self._opened = None
        if self.path != self._path:
            self._restart()
        self._update_watch()
        state = (self._run_id, self.phase, self.is_live)
        if state != self._last_state:  # not for every metric of a running run
            self._last_state = state
            self._is_dirty = True
            self._services.ticker.wake()

    def _restart(self) -> None:
        self._path = self.path
        self._studies = self.problem = None
        self._selected_name, self.objective = "", 0
        self._show_trials()
        self._watch.restart()
        self._update_watch()
        self._is_dirty = True
        self._services.ticker.wake()

    def _update_watch(self) -> None:
        target = (self.path if self._is_visible else None, self.is_live)
        if target != self._watched:
            self._watched = target
            self._watch.watch(target[0], is_live=target[1])

    def _on_tick(self) -> bool:
        for update in self._watch.drain():
            if update.target != self._path:
                continue
            self.problem = update.error
            if update.value is not None:
                self._studies = update.value
                # A rewritten file may have fewer objectives.
                known = len(self.study.directions) if self.study else 0
                self.objective = self.objective if self.objective < known else 0
                self._show_trials()
            self._is_dirty = True
        if not self._is_dirty:
            return False
        self._is_dirty = False
        self.changed.emit()
        return True

    def _show_trials(self) -> None:
        self.trials.show(self.read)


def _is_finished(state: object) -> bool:
    return state in FINAL_STATES
