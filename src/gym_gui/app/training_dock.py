"""TrainingDock: the training dock, made when somebody first looks at it.

Joins what is chosen in the session panel (environment, mode, actor) with what learns.
`SessionPanel` takes its pages, `TrainingNavigation` connects its signals. Nothing of training is
imported before.
"""

import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.model.session_panel_model import SessionPanelModel
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from gym_gui.training.model.training_model import TrainingModel
    from gym_gui.training.model.training_policies import TrainedPolicies
    from gym_gui.training.view.trained_panel import TrainedPanel


class TrainingDock(QObject):
    """Made once, by the wiring. `close` does not wait; `join` does."""

    launched = Signal(str)
    """The id of a run that was launched here."""
    open_requested = Signal(str)
    """The id of a run that a person wants to see in full."""
    key_requested = Signal(str)
    """The name of a credential that a person wants to set."""
    disk_space_requested = Signal()
    environment_requested = Signal()
    """The person wants to choose another environment."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        settings: SettingsStore,
        runs: RunsModel,
        session: SessionPanelModel,
        theme: ThemeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._notices = notices
        self._settings = settings
        self._runs = runs
        self._session = session
        self._theme = theme
        self._model: TrainingModel | None = None
        self._policies: TrainedPolicies | None = None

    @property
    def model(self) -> "TrainingModel":
        if self._model is None:
            self._model = self._make_model()
        return self._model

    @property
    def policies(self) -> "TrainedPolicies":
        if self._policies is None:
            from gym_gui.training.feed.saved_policies import PolicyShelf  # noqa: PLC0415 - as above
            from gym_gui.training.model.training_policies import TrainedPolicies  # noqa: PLC0415 - when seen

            self._policies = TrainedPolicies(
                PolicyShelf(self._link, self._tasks),
                self._runs,
                self._session,
                self.model.form,
                self._settings,
                self,
            )
        return self._policies

    def prepare(self, then: Callable[[], None]) -> None:
        """On a thread: the modules take as long to load as the pages take to make."""
        self._tasks.run(self, _load_pages, lambda _: then())

    def new_page(self) -> tuple[QWidget, QWidget]:
        """The panel, and the launch bar that stands below it."""
        from gym_gui.training.view.training_panel import TrainingPanel  # noqa: PLC0415 - when seen

        panel = TrainingPanel(self.model, self._theme)
        return panel, panel.foot

    def trained_page(self) -> "TrainedPanel":
        from gym_gui.training.view.trained_panel import TrainedPanel  # noqa: PLC0415 - when seen

        page = TrainedPanel(self.policies, self.model.form, self._theme)
        page.train_wanted.connect(lambda: self._session.show_tab("new"))
        return page

    def take_run(self, config: Mapping[str, Any], title: str) -> None:
        """Duplicate a run as a draft: in its environment, and in the form in front."""
        choice = self._session.choice
        if env_id := config.get("env_id"):
            choice.choose(str(env_id))
            given = config.get("env_kwargs") or {}
            choice.set_values(
                {name: given[name] for name in choice.entry.defaults if name in given}
            )
        if self._session.mode == "human":
            self._session.set_mode("agent")
        self._session.show_tab("new")
        self.model.take_run(config, title)

    def note_keys(self) -> None:
        """A credential may have been set or removed."""
        if self._model is not None:
            self._model.catalog.refresh()

    def look_at_telemetry(self) -> None:
        """The live view may have changed whether runs tell of themselves."""
        if self._model is not None:
            self._model.form.look_at_minimal()

    def close(self) -> None:
        if self._model is not None:
            self._model.close()

    def join(self, timeout_s: float) -> bool:
        return self._model is None or self._model.join(timeout_s)

    def _make_model(self) -> "TrainingModel":
        from gym_gui.training.model.training_model import TrainingModel  # noqa: PLC0415 - when seen

        made = TrainingModel(
            self._link, self._tasks, self._ticker, self._notices, self._settings, self._runs, self
        )
        made.launched.connect(self.launched)
        made.run.open_requested.connect(self.open_requested)
        made.key_requested.connect(self.key_requested)
        made.disk_space_requested.connect(self.disk_space_requested)
        made.environment_requested.connect(self.environment_requested)
        made.form.agent_changed.connect(self._note_agent)
        made.form.agent_chosen.connect(self._note_chosen_agent)
        self._session.environment_changed.connect(lambda _: self._publish_environment())
        self._session.choice.values_changed.connect(self._publish_environment)
        self._model = made
        self._publish_environment()
        return made

    def _publish_environment(self) -> None:
        choice = self._session.choice
        try:
            self.model.set_environment(choice.env_id, choice.keywords())
        except UserError as error:
            where = "Correct the game configuration first."
            self.model.set_environment(choice.env_id, {}, f"{error.message} {where}")

    def _note_agent(self) -> None:
        if agent := self.model.form.agent:
            self._session.set_agent(agent.id, is_chosen=False)

    def _note_chosen_agent(self) -> None:
        if agent := self.model.form.agent:
            self._session.set_agent(agent.id, is_chosen=True)


def _load_pages() -> None:
    for name in (
        "training.model.training_model",
        "training.model.training_policies",
        "training.view.trained_panel",
        "training.view.training_panel",
    ):
        importlib.import_module(f"gym_gui.{name}")
