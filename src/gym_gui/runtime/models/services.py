"""Services: what most models need, handed to them as one value."""

from dataclasses import dataclass

from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.settings_store import Settings
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker


@dataclass(frozen=True, slots=True)
class Services:
    """Created once, by the wiring. A class that needs only one or two of them takes those."""

    link: TrainerLink
    tasks: Tasks
    ticker: UiTicker
    notices: Notices
    settings: Settings
