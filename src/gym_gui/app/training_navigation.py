"""TrainingNavigation: connects the training dock with the other panels."""

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gym_gui.runtime.models.run_text import title_of
from mosaic.contract.imported_code import describe_code, restore_code
from mosaic.contract.runs import RunDetails

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_KEYS_TOPIC = "Keys"
_STORAGE_TOPIC = "Storage"


class TrainingNavigation(QObject):
    """Created by `AppContext`, after all models and views."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._context = context
        training = context.training
        training.launched.connect(self._on_launched)
        training.open_requested.connect(context.analysis.open_run)
        training.key_requested.connect(lambda _: self.show_keys())
        training.disk_space_requested.connect(lambda: self._show_settings(_STORAGE_TOPIC))
        training.environment_requested.connect(context.session_panel.open_environment_picker)
        context.models.live.changed.connect(training.refresh_telemetry)
        context.runs_view.duplicate_requested.connect(self.duplicate)
        context.welcome.train_requested.connect(self.train)
        context.models.settings.secrets.changed.connect(self._refresh_keys)

    def train(self) -> None:
        """Show the training form for the selected environment."""
        panel = self._context.models.session_panel
        if panel.mode == "human":
            panel.set_mode("agent")
        panel.show_tab("new")
        self._context.window.session_dock.show()
        self._context.window.session_dock.raise_()
        self._context.window.centre.show_tabs()
        self._context.session_panel.focus_environment()

    def duplicate(self, run_id: str) -> None:
        """Open the configuration of a run as a new draft in the training form."""
        self._draft_from(run_id, {})

    def train_on(self, run_id: str, checkpoint_id: str) -> None:
        """Like `duplicate`, with a checkpoint of the run as warm start."""
        self._draft_from(run_id, {"warm_start": checkpoint_id})

    def play_checkpoint(self, checkpoint_id: str) -> None:
        """Start a session with a checkpoint in the environment it was trained in."""
        run = self._context.analysis.selected_run.run
        panel = self._context.models.session_panel
        if run is None:
            return
        if panel.choice.env_id != run.env_id:
            panel.choice.choose(run.env_id)
        if panel.mode == "human":
            panel.set_mode("agent")
        panel.show_tab("trained")
        panel.play_with(checkpoint_id)

    def _draft_from(self, run_id: str, changes: dict[str, Any]) -> None:
        context, run = self._context, self._context.models.runs.by_id(run_id)
        if run is None or not context.link.has_client:
            return
        client = context.link.client

        def open_draft(details: RunDetails) -> None:
            config: dict[str, Any] = {**json.loads(details.config_json), **changes}
            withheld: dict[str, Any] = json.loads(details.withheld_json)
            context.training.duplicate_run(config, title_of(run))
            self.train()
            if withheld:
                self._offer_imported_code(config, withheld, title_of(run))

        context.tasks.run(self, lambda: client.run(run_id), open_draft, context.notices.post_error)

    def _offer_imported_code(
        self, config: dict[str, Any], withheld: dict[str, Any], title: str
    ) -> None:
        """Name the code of an imported run, which is added to the draft only on request."""
        code = "; ".join(describe_code(withheld))
        self._context.notices.offer(
            f"{title} was imported. Code that it names is left out, because it would run as you:"
            f" {code}",
            "Use this code",
            lambda: self._context.training.duplicate_run(restore_code(config, withheld), title),
            tone="warning",
            topic="imported-code",
        )

    def show_keys(self) -> None:
        self._show_settings(_KEYS_TOPIC)

    def _show_settings(self, topic: str) -> None:
        self._context.window.centre.show_settings()
        self._context.settings_page.content.show_topic(topic)

    def _on_launched(self, run_id: str) -> None:
        """Keep the current tab; select the run if no run is selected."""
        self._context.navigation.disable_welcome()
        if not self._context.models.live.run_id:
            self._context.runs_view.select(run_id)
        run = self._context.training.model.run.run
        name = title_of(run) if run is not None else "The run"
        self._context.notices.offer(
            f"{name} was launched.",
            "Open",
            lambda: self._context.analysis.open_run(run_id),
            tone="good",
        )

    def _refresh_keys(self) -> None:
        """Update the workers that need an API key."""
        self._context.training.refresh_keys()
