"""DemoRuns: asks what the demo run needs and submits it, off the UI thread. Used by `DemoStart`.

Which worker it trains is said by `mosaic.client`, as for the command line.
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
"""Some forty seconds, in which beliefs, heat map and arrows can be watched."""
_ECHO_STEPS, _ECHO_RATE = 12_000, 60

Submitted = Callable[[RunRecord], None]
Failed = Callable[[UserError], None]


class DemoRuns:
    """Keeps nothing; `can_ask` says whether there is a daemon."""

    def __init__(self, link: TrainerLink, tasks: Tasks) -> None:
        self._link = link
        self._tasks = tasks

    @property
    def can_ask(self) -> bool:
        return self._link.has_client

    def learn_if_ready(
        self,
        parent: QObject,
        on_submitted: Submitted,
        on_missing: Callable[[str], None],
        on_failure: Failed,
    ) -> None:
        """`on_missing` receives the bundle to install first; nothing is started then."""
        client = self._link.client

        def submit_or_name_missing() -> RunRecord | str:
            return find_missing_bundle(client) or _learn(client)

        def answered(answer: RunRecord | str) -> None:
            if isinstance(answer, str):
                on_missing(answer)
            else:
                on_submitted(answer)

        self._tasks.run(parent, submit_or_name_missing, answered, on_failure)

    def learn(self, parent: QObject, on_submitted: Submitted, on_failure: Failed) -> None:
        """What is missing is installed first, as a part of the run."""
        client = self._link.client
        self._tasks.run(parent, lambda: _learn(client), on_submitted, on_failure)

    def echo(self, parent: QObject, on_submitted: Submitted, on_failure: Failed) -> None:
        """The one that needs nothing installed."""
        client, config = self._link.client, make_echo_demo(steps=_ECHO_STEPS, rate=_ECHO_RATE)
        self._tasks.run(parent, lambda: client.submit(config), on_submitted, on_failure)


def _learn(client: "TrainerClient") -> RunRecord:
    return client.submit(make_learning_demo(steps=_STEPS, rate=_RATE))
