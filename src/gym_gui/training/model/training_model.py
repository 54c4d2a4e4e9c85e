"""TrainingModel: the training dock: a form, whether it can start, starting it, and its run.

The environment comes from outside (`set_environment`). Shown by `training.view.training_panel`.
"""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.training.feed.launching import Launched, Launcher
from gym_gui.training.model.training_catalog import TrainingCatalog
from gym_gui.training.model.training_draft import OF_THE_RUN_ALONE, without_defaults
from gym_gui.training.model.training_fields import title_of
from gym_gui.training.model.training_form import TrainingForm, TrainingSettings
from gym_gui.training.model.training_notes import TrainingNotes
from gym_gui.training.model.training_problems import problems_in, problems_of
from gym_gui.training.model.training_readiness import TrainingReadiness
from gym_gui.training.model.training_run import TrainingRun
from mosaic.contract.errors import UserError
from mosaic.contract.problems import Problem
from mosaic.contract.readiness import CheckStatus

_log = logging.getLogger(__name__)
_ALLOWED_KEY = "training/allowed"


class TrainingModel(QObject):
    """Made once, by the wiring. `close` does not wait; `join` does."""

    state_changed = Signal()
    """Whether it can be launched, and why not."""
    launched = Signal(str)
    key_requested = Signal(str)
    """The name of a credential that a person wants to set."""
    disk_space_requested = Signal()
    """The person wants to free disk space."""
    environment_requested = Signal()
    """The person wants to choose another environment."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        settings: TrainingSettings,
        runs: RunsModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._was_ready = link.is_ready
        self._notices = notices
        self._settings = settings
        self._launcher = Launcher(link, tasks)
        self.catalog = TrainingCatalog(link, tasks, self)
        self.form = TrainingForm(self.catalog, self._launcher, notices, settings, self)
        self.readiness = TrainingReadiness(self._launcher, ticker, notices, self)
        self.notes = TrainingNotes(self._launcher, self)
        self.run = TrainingRun(self._launcher, notices, settings, runs, self)
        self.is_launching = False
        self.environment_problem = ""
        """Why the environment cannot be made as it is set."""
        self._waiting_run: tuple[Mapping[str, Any], str] | None = None
        """A run that is to be duplicated as soon as the workers are known."""
        self.consent_wanted = False
        """The person pressed Launch, and has not yet allowed the worker to run."""
        self.form.agent_changed.connect(self.refuse_consent)
        self.form.document_changed.connect(self._on_document)
        self.readiness.changed.connect(self._on_readiness)
        self.readiness.refused.connect(self._on_refused)
        self.readiness.installed.connect(self.catalog.refresh)
        self.notes.changed.connect(self.state_changed)
        self.catalog.loaded.connect(self._take_waiting_run)
        link.changed.connect(self._on_link)

    def set_environment(
        self, env_id: str, env_kwargs: Mapping[str, Any], problem: str = ""
    ) -> None:
        """`problem`: why it cannot be made so; nothing can be launched then."""
        is_news = problem != self.environment_problem
        self.environment_problem = problem
        self.form.set_environment(env_id, env_kwargs)
        if is_news:
            self._on_document()
        self.state_changed.emit()

    def take_run(self, config: Mapping[str, Any], source: str) -> None:
        """Fill in what another run was asked to be, but for its environment; `source` names it."""
        if not self.catalog.is_known:
            self._waiting_run = (config, source)
            return
        short = without_defaults(config)
        document = {name: short[name] for name in short if name not in OF_THE_RUN_ALONE}
        if document.get("mode", "train") != "train":
            self._notices.post(f"{source} was not trained; there is nothing to duplicate.")
            return
        if not self.form.take_document(document):
            return
        told = {name: value for name, value in document.items() if not name.startswith("env_")}
        text = json.dumps(told, indent=2, ensure_ascii=False)
        self.notes.tell(f"Draft from {source}", text)
        self._notices.post(f"The form holds the settings of {source}.", tone="good")

    def _take_waiting_run(self) -> None:
        if self._waiting_run is not None and self.catalog.is_known:
            waiting, self._waiting_run = self._waiting_run, None
            self.take_run(*waiting)

    @property
    def worker_label(self) -> str:
        agent = self.form.agent
        return agent.worker.label if agent else ""

    @property
    def launch_problem(self) -> str:
        """Why it cannot be launched now; empty when it can."""
        if not self._launcher.can_ask:
            return "Connecting to the daemon."
        if not self._link.is_ready:
            return "The daemon does not answer; it is being looked for."
        agent = self.form.agent
        if agent is None:
            told = self.catalog.problem
            if told is not None:
                return f"{told.message} {told.remedy}".strip()
            return "No worker here can train." if self.catalog.is_known else "Asking for workers."
        if agent.reason:
            return agent.reason
        if self.environment_problem:
            return self.environment_problem
        wrong = [problem for found in self.form.problems.values() for problem in found]
        return _what_is_wrong(wrong) if wrong else self._not_ready()

    def _not_ready(self) -> str:
        readiness = self.readiness
        if self.is_launching:
            return "Launching."
        if readiness.problem is not None:
            return f"{readiness.problem.message} {readiness.problem.remedy}".strip()
        if readiness.installing is not None:
            return f"Installing {readiness.installing.bundle}."
        if not readiness.is_current or readiness.report is None:
            return "Checking whether it can start."
        blocking = [i for i in readiness.report.items if i.status is CheckStatus.BLOCKING]
        return f"{blocking[0].message} {blocking[0].remedy}".strip() if blocking else ""

    @property
    def needs_consent(self) -> bool:
        return not self._settings.flag(f"{_ALLOWED_KEY}/{self.form.target.worker}", False)

    def launch(self) -> None:
        """Returns at once; `launched` tells the run. A worker's first run is asked for first."""
        if self.launch_problem:
            return
        if self.needs_consent:
            self.consent_wanted = True
            self.state_changed.emit()
            return
        self.is_launching = True
        self.state_changed.emit()
        draft = self.form.draft
        self._launcher.launch(
            self,
            self.form.document,
            draft.tags,
            draft.note,
            self._on_launched,
            self._on_not_launched,
        )

    def allow_and_launch(self) -> None:
        self._settings.set(f"{_ALLOWED_KEY}/{self.form.target.worker}", True)
        self.consent_wanted = False
        self.launch()

    def refuse_consent(self) -> None:
        self.consent_wanted = False
        self.state_changed.emit()

    def try_out(self) -> None:
        """A dry run: also of what has problems, as long as the daemon takes it."""
        agent = self.form.agent
        if agent is not None:
            self.notes.try_out(self.form.document, agent.label)

    def close(self) -> None:
        self.readiness.close()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return self.readiness.threads

    def join(self, timeout_s: float) -> bool:
        for thread in self.threads:
            thread.join(timeout_s)
        return not any(thread.is_alive() for thread in self.threads)

    def _on_link(self) -> None:
        if self._link.is_ready == self._was_ready:
            return
        self._was_ready = self._link.is_ready
        if self._was_ready:
            self.readiness.check_again()  # it may be another daemon, and nobody was asked meanwhile
        self.state_changed.emit()

    def _on_document(self) -> None:
        form = self.form
        agent = form.agent
        can_check = agent is not None and not (
            agent.reason or form.problems or self.environment_problem
        )
        self.readiness.look_at(form.document if can_check and form.target.env_id else None)

    def _on_readiness(self) -> None:
        report = self.readiness.report
        if self.readiness.is_current and report is not None and report.is_blocked:
            self.form.show_problems(problems_of(report.items))
        self.state_changed.emit()

    def _on_refused(self, error: UserError) -> None:
        _log.warning("C380 the trainer refused the configuration: %s", error)
        self.form.show_problems(problems_in(error))

    def _on_launched(self, launched: Launched) -> None:
        self.is_launching = False
        self.run.follow(launched.run)
        self.state_changed.emit()
        self.launched.emit(launched.run.run_id)
        if launched.problem is not None:
            self._notices.fail(launched.problem)

    def _on_not_launched(self, error: UserError) -> None:
        self.is_launching = False
        self._on_refused(error)
        self._notices.fail(error)
        self.state_changed.emit()

    def follow_remedy(self, action: str, argument: str) -> None:
        """A remedy of the check list that was clicked."""
        match action:
            case "install_bundle" | "repair_bundle":
                self.readiness.install(argument, is_repair=action == "repair_bundle")
            case "use_cpu_preset" | "use_gpu_preset":
                self.form.patch(argument)
            case "free_disk_space":
                self.disk_space_requested.emit()
            case "choose_environment":
                self.environment_requested.emit()
            case "set_key":
                self.key_requested.emit(argument)


def _what_is_wrong(problems: Sequence[Problem]) -> str:
    """`2 fields are to be corrected: Seed, Learning rate.`."""
    names = [title_of(str(problem.path[-1])) for problem in problems if problem.path]
    count = "One field is" if len(problems) == 1 else f"{len(problems)} fields are"
    named = ", ".join(dict.fromkeys(name for name in names if name))
    return f"{count} to be corrected" + (f": {named}." if named else ".")
