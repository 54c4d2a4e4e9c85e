"""DemoRuns: submits the demo run, off the UI thread. Used by `DemoStart`.

`mosaic.client.demo_run` defines its configuration, as for the command line.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.client.demo_run import (
    DEMO_NAME,
    find_missing_bundle,
    make_echo_demo,
    make_learning_demo,
)
from mosaic.contract.errors import UserError
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["DEMO_NAME", "DemoRuns", "Failed", "Submitted"]

_STEPS, _RATE = 20_000, 500
"""About 40 s, enough to watch beliefs, heat map and arrows."""
_ECHO_STEPS, _ECHO_RATE = 12_000, 60

Submitted = Callable[[RunRecord], None]
Failed = Callable[[UserError], None]


class DemoRuns:
    """Stateless; `is_available` is whether a daemon is connected."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def is_available(self) -> bool:
        return self._link.has_client

    def submit_if_installed(
        self,
        parent: QObject,
        on_submitted: Submitted,
        on_missing: Callable[[str], None],
        on_failure: Failed,
    ) -> None:
        """Submit, or call `on_missing` with the bundle to install first."""
        client = self._link.client

        def submit_or_find_missing() -> RunRecord | str:
            return find_missing_bundle(client) or _submit_learning(client)

        def on_answer(answer: RunRecord | str) -> None:
            if isinstance(answer, str):
                on_missing(answer)
            else:
                on_submitted(answer)

        self._tasks.run(parent, submit_or_find_missing, on_answer, on_failure)

    def submit_learning(self, parent: QObject, on_submitted: Submitted, on_failure: Failed) -> None:
        """Submit; the run installs a missing bundle first."""
        client = self._link.client
        self._tasks.run(parent, lambda: _submit_learning(client), on_submitted, on_failure)

    def submit_echo(self, parent: QObject, on_submitted: Submitted, on_failure: Failed) -> None:
        """Submit a run of the echo worker, which needs no bundle."""
        client, config = self._link.client, make_echo_demo(steps=_ECHO_STEPS, rate=_ECHO_RATE)
        self._tasks.run(parent, lambda: client.submit(config), on_submitted, on_failure)


def _submit_learning(client: "TrainerClient") -> RunRecord:
    return client.submit(make_learning_demo(steps=_STEPS, rate=_RATE))
