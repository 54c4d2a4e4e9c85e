"""Screens: the widgets that the window puts together. Made by the wiring, placed by MainWindow."""

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage

EnvironmentTab = Literal["grid", "frame", "raw", "video", "replay", "live"]
AnalysisTab = Literal["run", "charts", "compare", "tensorboard", "wandb", "optuna"]
FurtherTab = Literal["beliefs"]
"""Those that only runs of some workers open: see `descriptor_tabs.py`."""
CentreTab = EnvironmentTab | AnalysisTab | FurtherTab
CentreGroup = Literal["watch", "analyse"]
TelemetryTab = Literal["steps", "episodes", "step"]
RunsTab = Literal["runs", "log"]

CENTRE_TITLES: dict[CentreTab, str] = {
    "grid": "Grid",
    "frame": "Frame",
    "raw": "Raw",
    "video": "Video",
    "replay": "Replay",
    "live": "Live-Agent",
    "run": "Run",
    "charts": "Charts",
    "compare": "Compare",
    "tensorboard": "TensorBoard",
    "wandb": "Weights & Biases",
    "optuna": "Optuna trials",
}
SHORT_TITLES: dict[CentreTab, str] = {
    "live": "Live",
    "tensorboard": "TB",
    "wandb": "W&B",
    "optuna": "Optuna",
}
"""Where there is little room."""
GROUP_TITLES: dict[CentreGroup, str] = {"watch": "Watch", "analyse": "Analyse"}
CENTRE_GROUPS: dict[CentreGroup, tuple[CentreTab, ...]] = {
    "watch": ("grid", "frame", "raw", "video", "replay", "live"),
    "analyse": ("run", "charts", "compare", "tensorboard", "wandb", "optuna"),
}
"""The tabs of one group are in sight at a time."""
TELEMETRY_TITLES: dict[TelemetryTab, str] = {
    "steps": "Steps",
    "episodes": "Episodes",
    "step": "Step",
}
RUNS_TITLES: dict[RunsTab, str] = {"runs": "Runs", "log": "Log"}


@dataclass(frozen=True, slots=True)
class FurtherPage:
    """A tab that stands at the end of the group *Watch* while it is in sight."""

    title: str
    page: LazyPage[QWidget]
    why_not: str
    """What the command that shows it says while the shown run has none."""


@dataclass(frozen=True, slots=True)
class Screens:
    """Each is bound to its model already."""

    session_panel: QWidget
    centre: dict[CentreTab, QWidget]
    play_bar: QWidget
    """Under the tabs that show what is played."""
    telemetry: dict[TelemetryTab, QWidget]
    runs: dict[RunsTab, QWidget]
    welcome: QWidget
    settings: QWidget
    status: QWidget
    further: dict[FurtherTab, FurtherPage] = field(default_factory=dict)
    """In the centre, hidden until the shown run asks for them."""
