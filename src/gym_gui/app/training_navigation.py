"""TrainingNavigation: what leads to the training dock, and what leads from it."""

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gym_gui.runtime.models.run_text import title_of

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_KEYS = "Keys"
_STORAGE = "Storage"


class TrainingNavigation(QObject):
    """Made once, by the wiring, when everything else is there."""

    def __init__(self, bench: "AppContext") -> None:
        super().__init__(bench)
        self._bench = bench
        training = bench.training
        training.launched.connect(self._on_launched)
        training.open_requested.connect(bench.analysis.open_run)
        training.key_requested.connect(lambda _: self.show_keys())
        training.disk_space_requested.connect(lambda: self._show_settings(_STORAGE))
        training.environment_requested.connect(bench.session_panel.open_environment_picker)
        bench.models.live.changed.connect(training.refresh_telemetry)
        bench.runs_view.duplicate_requested.connect(self.duplicate)
        bench.welcome.train_chosen.connect(self.train)
        bench.models.settings.secrets.changed.connect(self._note_keys)

    def train(self) -> None:
        """The form, in front, for the environment that is chosen."""
        panel = self._bench.models.session_panel
        if panel.mode == "human":
            panel.set_mode("agent")
        panel.show_tab("new")
        self._bench.window.session_dock.show()
        self._bench.window.session_dock.raise_()
        self._bench.window.centre.show_tabs()
        self._bench.session_panel.focus_environment()

    def duplicate(self, run_id: str) -> None:
        """The configuration of a run as a draft that can be changed and launched."""
        self._draft_from(run_id, {})

    def train_on(self, run_id: str, checkpoint_id: str) -> None:
        """As `duplicate`, beginning with what the run had learnt by then."""
        self._draft_from(run_id, {"warm_start": checkpoint_id})

    def play_checkpoint(self, checkpoint_id: str) -> None:
        """It acts in the environment that it was trained in, and a session begins."""
        run = self._bench.analysis.shown.run
        panel = self._bench.models.session_panel
        if run is None:
            return
        if panel.choice.env_id != run.env_id:
            panel.choice.choose(run.env_id)
        if panel.mode == "human":
            panel.set_mode("agent")
        panel.show_tab("trained")
        panel.play_with(checkpoint_id)

    def _draft_from(self, run_id: str, changes: dict[str, Any]) -> None:
        bench, run = self._bench, self._bench.models.runs.by_id(run_id)
        if run is None or not bench.link.has_client:
            return
        client = bench.link.client

        def configuration() -> dict[str, Any]:
            told: dict[str, Any] = json.loads(client.run(run_id).config_json)
            return told

        def take(config: dict[str, Any]) -> None:
            bench.training.duplicate_run({**config, **changes}, title_of(run))
            self.train()

        bench.tasks.run(self, configuration, take, bench.notices.fail)

    def show_keys(self) -> None:
        self._show_settings(_KEYS)

    def _show_settings(self, topic: str) -> None:
        self._bench.window.centre.show_settings()
        self._bench.settings_page.content.show_topic(topic)

    def _on_launched(self, run_id: str) -> None:
        """What is in front stays: a person may be looking at something else. Where no run is shown
        yet, this one is, in the tabs and panels behind."""
        self._bench.conduct.no_more_welcome()
        if not self._bench.models.live.run_id:
            self._bench.runs_view.select(run_id)
        run = self._bench.training.model.run.run
        name = title_of(run) if run is not None else "The run"
        self._bench.notices.offer(
            f"{name} is launched.",
            "Open",
            lambda: self._bench.analysis.open_run(run_id),
            tone="good",
        )

    def _note_keys(self) -> None:
        """A key that was set makes a worker ready."""
        self._bench.training.refresh_keys()
