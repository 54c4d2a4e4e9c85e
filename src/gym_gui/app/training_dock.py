"""TrainingDock: creates the training models and pages when they are first shown.

Connects the session panel (environment, mode, actor) with training. `SessionPanel` shows its pages,
`TrainingNavigation` connects its signals. The modules of training are imported on demand.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from gym_gui.training.model.trained_policies import TrainedPolicies
    from gym_gui.training.model.training_model import TrainingModel
    from gym_gui.training.view.trained_panel import TrainedPanel


class TrainingDock(QObject):
    """Created by `AppContext`. `close` does not wait; `join` does."""

    launched = Signal(str)
    """The id of a run that was launched here."""
    open_requested = Signal(str)
    """The id of a run to open."""
    key_requested = Signal(str)
    """The name of a credential to set."""
    disk_space_requested = Signal()
    environment_requested = Signal()

    def __init__(
        self,
        services: Services,
        runs: RunsModel,
        session: SessionPanelModel,
        theme: ThemeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._services = services
        self._runs = runs
        self._session = session
        self._theme = theme
        self._model: TrainingModel | None = None
        self._policies: TrainedPolicies | None = None

    @property
    def model(self) -> "TrainingModel":
        if self._model is None:
            self._model = self._create_model()
        return self._model

    @property
    def policies(self) -> "TrainedPolicies":
        if self._policies is None:
            from gym_gui.training.model.trained_policies import TrainedPolicies  # noqa: PLC0415 - on demand

            self._policies = TrainedPolicies(
                self._services,
                self._runs,
                self._session,
                self.model.form,
                self,
            )
        return self._policies

    def prepare(self, then: Callable[[], None]) -> None:
        """Import the modules on a thread, because this is slow, then call `then`."""
        self._services.tasks.run(self, _load_pages, lambda _: then())

    def new_page(self) -> tuple[QWidget, QWidget]:
        """The panel, and the launch bar for the footer."""
        from gym_gui.training.view.training_panel import TrainingPanel  # noqa: PLC0415 - on demand

        panel = TrainingPanel(self.model, self._theme)
        return panel, panel.launch_bar

    def trained_page(self) -> "TrainedPanel":
        from gym_gui.training.view.trained_panel import TrainedPanel  # noqa: PLC0415 - on demand

        page = TrainedPanel(self.policies, self.model.form, self._theme)
        page.train_requested.connect(lambda: self._session.show_tab("new"))
        return page

    def duplicate_run(self, config: Mapping[str, Any], title: str) -> None:
        """Load a run as a draft: select its environment and show the form."""
        choice = self._session.choice
        if env_id := config.get("env_id"):
            choice.choose(str(env_id))
            kwargs = config.get("env_kwargs") or {}
            choice.set_values(
                {name: kwargs[name] for name in choice.entry.defaults if name in kwargs}
            )
        if self._session.mode == "human":
            self._session.set_mode("agent")
        self._session.show_tab("new")
        self.model.duplicate_run(config, title)

    def refresh_keys(self) -> None:
        """A credential was set or removed."""
        if self._model is not None:
            self._model.catalog.refresh()

    def refresh_telemetry(self) -> None:
        """The live view may have changed minimal telemetry."""
        if self._model is not None:
            self._model.form.refresh_minimal()

    def close(self) -> None:
        if self._model is not None:
            self._model.close()

    def join(self, timeout_s: float) -> bool:
        return self._model is None or self._model.join(timeout_s)

    def _create_model(self) -> "TrainingModel":
        from gym_gui.training.model.training_model import TrainingModel  # noqa: PLC0415 - on demand

        model = TrainingModel(self._services, self._runs, self)
        model.launched.connect(self.launched)
        model.run.open_requested.connect(self.open_requested)
        model.key_requested.connect(self.key_requested)
        model.disk_space_requested.connect(self.disk_space_requested)
        model.environment_requested.connect(self.environment_requested)
        model.form.agent_changed.connect(self._on_agent_changed)
        model.form.agent_chosen.connect(self._on_agent_chosen)
        self._session.environment_changed.connect(lambda _: self._publish_environment())
        self._session.choice.values_changed.connect(self._publish_environment)
        self._model = model
        self._publish_environment()
        return model

    def _publish_environment(self) -> None:
        choice = self._session.choice
        try:
            self.model.set_environment(choice.env_id, choice.keywords())
        except UserError as error:
            remedy = "Correct the game configuration first."
            self.model.set_environment(choice.env_id, {}, f"{error.message} {remedy}")

    def _on_agent_changed(self) -> None:
        if agent := self.model.form.agent:
            self._session.set_agent(agent.id, is_chosen=False)

    def _on_agent_chosen(self) -> None:
        if agent := self.model.form.agent:
            self._session.set_agent(agent.id, is_chosen=True)


def _load_pages() -> None:
    for name in (
        "training.model.training_model",
        "training.model.trained_policies",
        "training.view.trained_panel",
        "training.view.training_panel",
    ):
        importlib.import_module(f"gym_gui.{name}")
