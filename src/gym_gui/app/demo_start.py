"""DemoStart: starts the demo run for a command or the welcome page; `Navigation` shows the run.

If the packages of the agent are missing, the user can install them or start the echo run.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gym_gui.runtime.run_operations import (
    DEMO_NAME,
    submit_echo_demo,
    submit_learning_demo,
    submit_or_find_missing,
)
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import LIVE_STATES
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

INSTALL, ECHO, NOT_NOW = "Install and train", "Start echo run", "Not now"


class DemoStart(QObject):
    """Created by `Navigation`."""

    started = Signal(str)
    """The id of the demo run, which may already be running."""

    def __init__(self, context: "AppContext", parent: QObject) -> None:
        super().__init__(parent)
        self._runs = context.models.runs
        self._services = context.services
        self._banner = context.window.centre.banner
        self._is_submitting = False
        self._offer = ""
        """The banner's message while it offers the choice."""

    @property
    def is_offering(self) -> bool:
        """Whether the banner offers to install the packages or to start the echo run."""
        return bool(self._offer) and self._banner.message == self._offer

    def start(self) -> None:
        """Start the demo run, unless one is running."""
        for run in self._runs.runs:
            if run.name == DEMO_NAME and run.state in LIVE_STATES:
                self.started.emit(run.run_id)
                return
        if not self._services.link.has_client:
            message = "The daemon is not ready. Try again in a moment."
            self._services.notices.post(message, tone="warning")
        elif not self._is_submitting:
            self._is_submitting = True
            self._services.call(self, submit_or_find_missing, self._on_answer, self._on_failed)

    def start_echo(self) -> None:
        if self._start_submission():
            self._services.call(self, submit_echo_demo, self._on_submitted, self._on_failed)

    def _install_and_train(self) -> None:
        if self._start_submission():
            self._services.call(self, submit_learning_demo, self._on_submitted, self._on_failed)

    def _start_submission(self) -> bool:
        """Return False if a submission is in progress."""
        self._dismiss_offer()
        was_submitting, self._is_submitting = self._is_submitting, True
        return not was_submitting

    def _on_answer(self, answer: RunRecord | str) -> None:
        if isinstance(answer, str):
            self._on_missing(answer)
        else:
            self._on_submitted(answer)

    def _on_submitted(self, run: RunRecord) -> None:
        self._is_submitting = False
        self._dismiss_offer()
        self.started.emit(run.run_id)

    def _on_missing(self, bundle: str) -> None:
        self._is_submitting = False
        self._offer = (
            f"The packages of the demo agent ({bundle}) are not installed. Installing them"
            " takes a minute or two. The echo run needs no packages."
        )
        actions = (
            (INSTALL, self._install_and_train),
            (ECHO, self.start_echo),
            (NOT_NOW, self._dismiss_offer),
        )
        self._banner.show_message(self._offer, "plain", actions)

    def _on_failed(self, error: UserError) -> None:
        self._is_submitting = False
        self._services.notices.post_error(error, ECHO, self.start_echo)

    def _dismiss_offer(self) -> None:
        """Clear the banner, unless it has another message."""
        if self.is_offering:
            self._banner.clear()
        self._offer = ""
