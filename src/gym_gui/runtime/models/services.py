"""Services: what most models need, handed to them as one value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.settings_store import Settings
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from gym_gui.runtime.trainer_link import TrainerClient

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Services:
    """Created once, by the wiring. A class that needs only one or two of them takes those."""

    link: TrainerLink
    tasks: Tasks
    ticker: UiTicker
    notices: Notices
    settings: Settings

    def call(
        self,
        parent: QObject,
        op: "Callable[[TrainerClient], Result]",
        on_success: Callable[[Result], None] = lambda _: None,
        on_failure: Callable[[UserError], None] | None = None,
    ) -> None:
        """Call `op` with the client on a thread; see `Tasks.run`. The link must have a client."""
        client = self.link.client
        self.tasks.run(parent, lambda: op(client), on_success, on_failure)
