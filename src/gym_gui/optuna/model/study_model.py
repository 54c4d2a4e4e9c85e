"""StudyModel: the study of a sweep, or of any Optuna database, read while it is written to."""

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
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import FINAL_STATES

__all__ = ["NO_STUDY", "Phase", "ReadStudy", "Study", "StudyModel", "StudyTrial"]

NO_STUDY = "This run is no sweep: it has left no Optuna study"
Phase = Literal["none", "loading", "off", "waiting", "failed", "ready"]


class StudyModel(QObject):
    """`changed` fires at most once a beat."""

    changed = Signal()

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        shown: SelectedRun,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.trials = TrialsTable(self)
        self.exports = FileExports(link, tasks, notices, self)
        self.problem: UserError | None = None
        self.objective = 0
        self._tasks = tasks
        self._pulse = pulse
        self._shown = shown
        self._of_run = ""
        self._told: tuple[str, Phase, bool] | None = None
        self._opened: Path | None = None
        self._studies: tuple[ReadStudy, ...] | None = None
        """None: nobody has looked yet."""
        self._chosen = ""
        self._is_in_sight = False
        self._is_new = True
        self._path: Path | None = None
        self._watch = FilePoller("optuna study", watch_studies, pulse.wake)
        self._watched: tuple[Path | None, bool] = (None, False)
        shown.changed.connect(self._on_run)
        shown.papers_changed.connect(self._on_papers)
        pulse.subscribe(self, self._on_beat)
        self._on_run()

    # What the page shows.

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
        if not self._shown.run_id:
            return "none"
        if not self._shown.is_known and self._shown.problem is None:
            return "loading"
        run = self._shown.run
        is_sweep = run is not None and run.mode == "sweep"
        return "waiting" if is_sweep and run is not None and not _is_over(run.state) else "off"

    @property
    def path(self) -> Path | None:
        """The file that is read: one that was opened, or the one of the run."""
        if self._opened is not None:
            return self._opened
        place, directory = self._shown.manifest.optuna_db_path, self._shown.directory
        return directory / place if place and directory else None

    @property
    def is_opened(self) -> bool:
        """It is a file that a person has opened, not the run's."""
        return self._opened is not None

    @property
    def is_live(self) -> bool:
        """More trials may come."""
        if self._opened is not None:
            return True
        run = self._shown.run
        return run is not None and not _is_over(run.state)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the studies in the file."""
        return tuple(each.study.name for each in self._studies or ())

    @property
    def read(self) -> ReadStudy | None:
        """The study that was chosen, or the newest."""
        studies = self._studies or ()
        chosen = (each for each in studies if each.study.name == self._chosen)
        return next(chosen, studies[-1] if studies else None)

    @property
    def study(self) -> Study | None:
        return self.read.study if self.read else None

    @property
    def best(self) -> tuple[StudyTrial, ...]:
        """One, or for several objectives all that no other trial beats."""
        return self.read.best if self.read else ()

    @property
    def best_so_far(self) -> tuple[list[int], list[float]]:
        """The trials at which the value was the best until then, and that value."""
        study = self.study
        return best_so_far(study, self.objective) if study and study.directions else ([], [])

    @property
    def importance(self) -> tuple[Importance, ...]:
        """Of the parameters for the objective that was chosen; most important first."""
        read = self.read
        return read.importance[self.objective] if read and read.importance else ()

    @property
    def importance_words(self) -> str:
        """How it was worked out, or why it was not."""
        complete = self.read.counts.get("complete", 0) if self.read else 0
        if complete < MIN_TRIALS:
            return (
                f"After {MIN_TRIALS} complete trials it can be said which parameters matter;"
                f" there {'is' if complete == 1 else 'are'} {complete}."
            )
        if not self.importance:
            return "All trials have the same parameters, so none can be compared."
        return (
            "How much of the order of the trials each parameter explains by itself"
            " (Kruskal-Wallis effect size, less what chance gives). What matters only in"
            " combination does not show."
        )

    @property
    def params(self) -> tuple[str, ...]:
        """The names, most important first where that is known."""
        names = [each.parameter for each in self.importance]
        read = self.read
        return (*names, *(name for name in (read.params if read else ()) if name not in names))

    def runs_of(self, trial: StudyTrial) -> tuple[str, ...]:
        """The ids of the runs that tried it; empty where nobody has kept them."""
        kept = trial.attributes.get(RUNS)
        return tuple(map(str, kept)) if isinstance(kept, list) else ()

    # What a person does.

    def open_database(self, path: str) -> None:
        """Any file of Optuna's, for as long as no other run is shown."""
        self._opened = Path(path)
        self._begin_again()

    def close_database(self) -> None:
        """Back to the run's own study."""
        self._opened = None
        self._begin_again()

    def choose(self, name: str) -> None:
        if name != self._chosen:
            self._chosen, self.objective = name, 0
            self._show_trials()
            self.changed.emit()

    def choose_objective(self, objective: int) -> None:
        if objective != self.objective:
            self.objective = objective
            self.changed.emit()

    def retry(self) -> None:
        self.problem = None
        self._watch.begin_again()
        self._is_new = True
        self._pulse.wake()

    def export(self) -> None:
        """All trials as CSV, in the order of the table."""
        if self.study is not None:
            self.exports.save_rows(f"{self.study.name} trials", self.trials.as_rows())

    def prepare(self, load: Callable[[], Any], on_loaded: Callable[[Any], None]) -> None:
        """Import on a thread what takes too long for the UI thread."""
        self._tasks.run(self, load, on_loaded)

    def set_in_sight(self, is_in_sight: bool) -> None:
        """The file is looked at while somebody sees the page."""
        if is_in_sight != self._is_in_sight:
            self._is_in_sight = is_in_sight
            self._look()

    def close(self) -> None:
        self._watch.close()

    def join(self, timeout_s: float) -> bool:
        return self._watch.join(timeout_s)

    # How it comes about.

    def _on_papers(self) -> None:
        """Sooner than the next look: the daemon may have found something."""
        self._on_run()
        self._watch.look_now()
        self._is_new = True
        self._pulse.wake()

    def _on_run(self) -> None:
        if self._shown.run_id != self._of_run:
            self._of_run = self._shown.run_id
            self._opened = None
        if self.path != self._path:
            self._begin_again()
        self._look()
        told = (self._of_run, self.phase, self.is_live)
        if told != self._told:  # and not with every figure of a run that goes on
            self._told = told
            self._is_new = True
            self._pulse.wake()

    def _begin_again(self) -> None:
        self._path = self.path
        self._studies = self.problem = None
        self._chosen, self.objective = "", 0
        self._show_trials()
        self._watch.begin_again()
        self._look()
        self._is_new = True
        self._pulse.wake()

    def _look(self) -> None:
        wanted = (self.path if self._is_in_sight else None, self.is_live)
        if wanted != self._watched:
            self._watched = wanted
            self._watch.watch(wanted[0], is_live=wanted[1])

    def _on_beat(self) -> bool:
        for news in self._watch.take():
            if news.target != self._path:
                continue
            self.problem = news.error
            if news.found is not None:
                self._studies = news.found
                # A file that was written anew may have fewer of them.
                known = len(self.study.directions) if self.study else 0
                self.objective = self.objective if self.objective < known else 0
                self._show_trials()
            self._is_new = True
        if not self._is_new:
            return False
        self._is_new = False
        self.changed.emit()
        return True

    def _show_trials(self) -> None:
        self.trials.show(self.read)


def _is_over(state: object) -> bool:
    return state in FINAL_STATES
