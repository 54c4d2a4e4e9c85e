"""DemoStart: the demo run from a command or the welcome page. `Navigation` shows what was started.

Where the agent's packages are missing, a person chooses: install them, or watch the echo run.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.demo_runs import DEMO_NAME, DemoRuns, Failed, Submitted
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import LIVE_STATES
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

INSTALL, ECHO, NOT_NOW = "Install and train", "Echo run at once", "Not now"


class DemoStart(QObject):
    """Made once, by `Navigation`."""

    started = Signal(str)
    """The run that is the demo; also one that was running already."""

    def __init__(self, bench: "AppContext", parent: QObject) -> None:
        super().__init__(parent)
        self._runs = bench.models.runs
        self._notices = bench.notices
        self._banner = bench.window.centre.banner
        self._demo = DemoRuns(bench.link, bench.tasks)
        self._is_submitting = False
        self._offer = ""
        """What the banner says while a person has to choose."""

    @property
    def is_offering(self) -> bool:
        """A person has to choose."""
        return bool(self._offer) and self._banner.message == self._offer

    def start(self) -> None:
        """One that is running already is enough."""
        for run in self._runs.runs:
            if run.name == DEMO_NAME and run.state in LIVE_STATES:
                self.started.emit(run.run_id)
                return
        if not self._demo.can_ask:
            self._notices.post(
                "The daemon is not there yet; try again in a moment.", tone="warning"
            )
        elif not self._is_submitting:
            self._is_submitting = True
            self._demo.learn_if_ready(self, self._on_submitted, self._on_missing, self._on_failed)

    def start_echo(self) -> None:
        self._begin(self._demo.echo)

    def _install_and_learn(self) -> None:
        self._begin(self._demo.learn)

    def _begin(self, submit: Callable[[QObject, Submitted, Failed], None]) -> None:
        self._dismiss_offer()
        if not self._is_submitting:
            self._is_submitting = True
            submit(self, self._on_submitted, self._on_failed)

    def _on_submitted(self, run: RunRecord) -> None:
        self._is_submitting = False
        self._dismiss_offer()
        self.started.emit(run.run_id)

    def _on_missing(self, bundle: str) -> None:
        self._is_submitting = False
        self._offer = (
            f"The packages of the demo's agent ({bundle}) are not installed yet. Installing"
            " them takes a minute or two. The echo run needs none."
        )
        actions = (
            (INSTALL, self._install_and_learn),
            (ECHO, self.start_echo),
            (NOT_NOW, self._dismiss_offer),
        )
        self._banner.show_message(self._offer, "plain", actions)

    def _on_failed(self, error: UserError) -> None:
        self._is_submitting = False
        self._notices.fail(error, ECHO, self.start_echo)

    def _dismiss_offer(self) -> None:
        """What the banner says of other things stays."""
        if self.is_offering:
            self._banner.clear()
        self._offer = ""
