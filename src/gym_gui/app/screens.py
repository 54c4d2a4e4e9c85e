"""Screens: the widgets of the window. `AppContext` creates them, `MainWindow` places them."""

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage

EnvironmentTab = Literal["grid", "frame", "raw", "video", "replay", "live"]
AnalysisTab = Literal["run", "charts", "compare", "tensorboard", "wandb", "optuna"]
WorkerTab = Literal["beliefs"]
"""Tabs that only runs of some workers open: see `analysis.py`."""
CentreTab = EnvironmentTab | AnalysisTab | WorkerTab
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
"""Titles for a narrow window."""
GROUP_TITLES: dict[CentreGroup, str] = {"watch": "Watch", "analyse": "Analyse"}
CENTRE_GROUPS: dict[CentreGroup, tuple[CentreTab, ...]] = {
    "watch": ("grid", "frame", "raw", "video", "replay", "live"),
    "analyse": ("run", "charts", "compare", "tensorboard", "wandb", "optuna"),
}
"""Only the tabs of one group are visible at a time."""
TELEMETRY_TITLES: dict[TelemetryTab, str] = {
    "steps": "Steps",
    "episodes": "Episodes",
    "step": "Step",
}
RUNS_TITLES: dict[RunsTab, str] = {"runs": "Runs", "log": "Log"}


@dataclass(frozen=True, slots=True)
class WorkerTabPage:
    """A tab at the end of the group *Watch*, visible only for some runs."""

    title: str
    page: LazyPage[QWidget]
    why_not: str
    """Why the command of the tab is disabled for a run without it."""


@dataclass(frozen=True, slots=True)
class Screens:
    """Widgets that are already bound to their models."""

    session_panel: QWidget
    centre: dict[CentreTab, QWidget]
    play_bar: QWidget
    """Below the tabs that show the session."""
    telemetry: dict[TelemetryTab, QWidget]
    runs: dict[RunsTab, QWidget]
    welcome: QWidget
    settings: QWidget
    status: QWidget
    worker_tabs: dict[WorkerTab, WorkerTabPage] = field(default_factory=dict)
    """In the centre, hidden unless the selected run has them."""
