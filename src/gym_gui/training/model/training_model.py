"""TrainingModel: the training dock: catalog, form, readiness, launch and launched run.

The environment is set with `set_environment`. Shown by `training.view.training_panel`.
"""

import json
import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.training.feed.launching import Launched, submit_run
from gym_gui.training.model.training_catalog import TrainingCatalog
from gym_gui.training.model.training_draft import RUN_ONLY_FIELDS, without_defaults
from gym_gui.training.model.training_fields import title_of
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.training.model.training_notes import TrainingNotes
from gym_gui.training.model.training_problems import problems_in_error, problems_in_preflight
from gym_gui.training.model.training_readiness import TrainingReadiness
from gym_gui.training.model.training_run import TrainingRun
from mosaic.contract.errors import UserError
from mosaic.contract.problems import Problem
from mosaic.contract.readiness import CheckStatus

_log = logging.getLogger(__name__)
_ALLOWED_KEY = "training/allowed"


class TrainingModel(QObject):
    """Created once, by the training dock. `close` does not wait; `join` does."""

    state_changed = Signal()
    """`launch_problem` or the consent request changed."""
    launched = Signal(str)
    """The id of the launched run."""
    key_requested = Signal(str)
    """The name of the credential to set."""
    disk_space_requested = Signal()
    environment_requested = Signal()

    def __init__(self, services: Services, runs: RunsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._was_ready = services.link.is_ready
        self.catalog = TrainingCatalog(services.link, services.tasks, self)
        self.form = TrainingForm(self.catalog, services, self)
        self.readiness = TrainingReadiness(services, self)
        self.notes = TrainingNotes(services, self)
        self.run = TrainingRun(services, runs, self)
        self.is_launching = False
        self.environment_problem = ""
        """Why the environment cannot be created with its settings."""
        self._pending_run: tuple[Mapping[str, Any], str] | None = None
        """A run to duplicate once the catalog is loaded."""
        self.is_consent_requested = False
        """The user launched a worker that has not been allowed to run yet."""
        self.form.agent_changed.connect(self.decline_consent)
        self.form.document_changed.connect(self._on_document)
        self.readiness.changed.connect(self._on_readiness)
        self.readiness.rejected.connect(self._on_rejected)
        self.readiness.installed.connect(self.catalog.refresh)
        self.notes.changed.connect(self.state_changed)
        self.catalog.loaded.connect(self._duplicate_pending_run)
        services.link.changed.connect(self._on_link)

    def set_environment(
        self, env_id: str, env_kwargs: Mapping[str, Any], problem: str = ""
    ) -> None:
        """`problem`: why the environment cannot be created; prevents a launch."""
        is_changed = problem != self.environment_problem
        self.environment_problem = problem
        self.form.set_environment(env_id, env_kwargs)
        if is_changed:
            self._on_document()
        self.state_changed.emit()

    def duplicate_run(self, config: Mapping[str, Any], title: str) -> None:
        """Load the configuration of another run, except for its environment."""
        if not self.catalog.is_known:
            self._pending_run = (config, title)
            return
        short = without_defaults(config)
        document = {name: short[name] for name in short if name not in RUN_ONLY_FIELDS}
        if document.get("mode", "train") != "train":
            self._services.notices.post(f"{title} is not a training run and cannot be duplicated.")
            return
        if not self.form.apply_document(document):
            return
        applied = {name: value for name, value in document.items() if not name.startswith("env_")}
        text = json.dumps(applied, indent=2, ensure_ascii=False)
        self.notes.add(f"Draft from {title}", text)
        self._services.notices.post(f"Loaded the settings of {title}.", tone="good")

    def _duplicate_pending_run(self) -> None:
        if self._pending_run is not None and self.catalog.is_known:
            pending, self._pending_run = self._pending_run, None
            self.duplicate_run(*pending)

    @property
    def worker_label(self) -> str:
        agent = self.form.agent
        return agent.worker.label if agent else ""

    @property
    def launch_problem(self) -> str:
        """Why nothing can be launched now; empty: Launch is possible."""
        if not self._services.link.has_client:
            return "Connecting to the daemon."
        if not self._services.link.is_ready:
            return "The daemon does not answer. Reconnecting."
        agent = self.form.agent
        if agent is None:
            problem = self.catalog.problem
            if problem is not None:
                return f"{problem.message} {problem.remedy}".strip()
            return "No worker can train." if self.catalog.is_known else "Loading workers."
        if agent.reason:
            return agent.reason
        if self.environment_problem:
            return self.environment_problem
        invalid = [problem for section in self.form.problems.values() for problem in section]
        return _summarize(invalid) if invalid else self._readiness_problem()

    def _readiness_problem(self) -> str:
        readiness = self.readiness
        if self.is_launching:
            return "Launching."
        if readiness.problem is not None:
            return f"{readiness.problem.message} {readiness.problem.remedy}".strip()
        if readiness.installation is not None:
            return f"Installing {readiness.installation.bundle}."
        if not readiness.is_current or readiness.report is None:
            return "Running preflight."
        items = readiness.report.items
        blocking = next((item for item in items if item.status is CheckStatus.BLOCKING), None)
        return f"{blocking.message} {blocking.remedy}".strip() if blocking else ""

    @property
    def needs_consent(self) -> bool:
        return not self._services.settings.flag(f"{_ALLOWED_KEY}/{self.form.target.worker}", False)

    def launch(self) -> None:
        """Submit the run without blocking. The first run of a worker requires consent."""
        if self.launch_problem:
            return
        if self.needs_consent:
            self.is_consent_requested = True
            self.state_changed.emit()
            return
        self.is_launching = True
        self.state_changed.emit()
        document, draft = self.form.document, self.form.draft
        self._services.call(
            self,
            lambda client: submit_run(client, document, draft.tags, draft.note),
            self._on_launched,
            self._on_launch_failed,
        )

    def allow_and_launch(self) -> None:
        self._services.settings.set(f"{_ALLOWED_KEY}/{self.form.target.worker}", True)
        self.is_consent_requested = False
        self.launch()

    def decline_consent(self) -> None:
        self.is_consent_requested = False
        self.state_changed.emit()

    def dry_run(self) -> None:
        """Start a dry run, also of an invalid configuration."""
        agent = self.form.agent
        if agent is not None:
            self.notes.dry_run(self.form.document, agent.label)

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
        if self._services.link.is_ready == self._was_ready:
            return
        self._was_ready = self._services.link.is_ready
        if self._was_ready:
            self.readiness.check_again()  # It may be another daemon.
        self.state_changed.emit()

    def _on_document(self) -> None:
        form = self.form
        agent = form.agent
        can_check = agent is not None and not (
            agent.reason or form.problems or self.environment_problem
        )
        self.readiness.check(form.document if can_check and form.target.env_id else None)

    def _on_readiness(self) -> None:
        report = self.readiness.report
        if self.readiness.is_current and report is not None and report.is_blocked:
            self.form.show_problems(problems_in_preflight(report.items))
        self.state_changed.emit()

    def _on_rejected(self, error: UserError) -> None:
        _log.warning("C380 the trainer rejected the configuration: %s", error)
        self.form.show_problems(problems_in_error(error))

    def _on_launched(self, launched: Launched) -> None:
        self.is_launching = False
        self.run.follow(launched.run)
        self.state_changed.emit()
        self.launched.emit(launched.run.run_id)
        if launched.problem is not None:
            self._services.notices.post_error(launched.problem)

    def _on_launch_failed(self, error: UserError) -> None:
        self.is_launching = False
        self._on_rejected(error)
        self._services.notices.post_error(error)
        self.state_changed.emit()

    def run_remedy(self, action: str, argument: str) -> None:
        """Run the action of a preflight check."""
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


def _summarize(problems: Sequence[Problem]) -> str:
    """`2 fields are invalid: Seed, Learning rate.`."""
    names = [title_of(str(problem.path[-1])) for problem in problems if problem.path]
    count = "One field is" if len(problems) == 1 else f"{len(problems)} fields are"
    listed = ", ".join(dict.fromkeys(name for name in names if name))
    return f"{count} invalid" + (f": {listed}." if listed else ".")
