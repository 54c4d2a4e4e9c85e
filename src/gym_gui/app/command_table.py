"""Every command of the window: its words, its keys, its picture and its place, in one table.

Menus, the command palette, the list of shortcuts and docs/commands.md are made from it; what each
does is bound in `command_bindings.py`.
"""

from dataclasses import dataclass
from typing import Literal

from gym_gui.widgets.icon_drawings import IconName

Menu = Literal["Session", "Run", "View", "Tools", "Help"]

MENUS: tuple[Menu, ...] = ("Session", "Run", "View", "Tools", "Help")


@dataclass(frozen=True, slots=True)
class Command:
    """`text` in sentence case, with `…` when more input follows; `tip` is a whole sentence."""

    id: str
    menu: Menu
    text: str
    tip: str
    shortcut: str = ""
    icon: IconName | None = None
    begins_group: bool = False
    """A line goes before it in its menu."""


COMMANDS: tuple[Command, ...] = (
    Command(
        "session.play",
        "Session",
        "Play",
        "Start a session with the environment and the actor of the panel.",
        "Ctrl+Return",
        "play",
    ),
    Command(
        "session.stop",
        "Session",
        "Stop",
        "End the session; what was played stays in the list of runs.",
        "Ctrl+.",
        "stop",
    ),
    Command(
        "session.pause",
        "Session",
        "Pause or go on",
        "Pause or resume the session.",
        "Ctrl+Space",
        "pause",
    ),
    Command(
        "session.step", "Session", "One step", "Take a single step while paused.", "F10", "step"
    ),
    Command(
        "session.reset",
        "Session",
        "New episode",
        "Begin the next episode now.",
        "Ctrl+Shift+R",
        "reset",
    ),
    Command(
        "session.again",
        "Session",
        "Again with the same seed",
        "Begin an episode from the same start.",
        "Ctrl+Shift+A",
        "undo",
    ),
    Command(
        "session.takeover",
        "Session",
        "Take over or give back",
        "Act yourself in the middle of an agent's episode, or let it act again.",
        "Ctrl+T",
        "takeover",
    ),
    Command(
        "session.environment",
        "Session",
        "Choose an environment…",
        "Search by name, family and description.",
        "Ctrl+E",
        "search",
        begins_group=True,
    ),
    Command(
        "session.dice", "Session", "New seed", "Choose another start by chance.", "Ctrl+D", "dice"
    ),
    Command(
        "session.human",
        "Session",
        "Human mode",
        "Only you act.",
        "Ctrl+1",
        "person",
        begins_group=True,
    ),
    Command(
        "session.hybrid",
        "Session",
        "Hybrid mode",
        "An agent acts, and you may take over at any moment.",
        "Ctrl+2",
        "takeover",
    ),
    Command("session.agent", "Session", "Agent mode", "An agent acts.", "Ctrl+3", "robot"),
    Command(
        "session.quit",
        "Session",
        "Quit",
        "Close the window; runs and the daemon go on.",
        "Ctrl+Q",
        "close",
        begins_group=True,
    ),
    Command(
        "run.train",
        "Run",
        "Train an agent…",
        "Fill in what is to be trained, and launch it.",
        "Ctrl+N",
        "robot",
    ),
    Command(
        "run.open",
        "Run",
        "Open the selected run",
        "Everything about it: configuration, log, artifacts, how to reproduce it.",
        "Ctrl+O",
        "info",
        begins_group=True,
    ),
    Command(
        "run.watch",
        "Run",
        "Watch the selected run",
        "Show what the run is doing now.",
        "Ctrl+W",
        "live",
    ),
    Command(
        "run.replay",
        "Run",
        "Replay the selected run",
        "Play its recorded episodes again, exactly.",
        "Ctrl+R",
        "replay",
    ),
    Command(
        "run.compare",
        "Run",
        "Compare the selected runs",
        "Their curves in one chart, their scores in one table, their episodes side by side.",
        "Ctrl+Shift+C",
        "compare",
    ),
    Command(
        "run.tensorboard",
        "Run",
        "Open TensorBoard for the selected runs",
        "Start a TensorBoard server on their event files, and show it.",
        "",
        "external",
    ),
    Command(
        "run.duplicate",
        "Run",
        "Duplicate the selected run as a draft",
        "Fill the training form with its configuration.",
        "Ctrl+Shift+D",
        "copy",
    ),
    Command(
        "run.stop",
        "Run",
        "Stop the selected run",
        "End the run and everything it has started.",
        "",
        "stop",
    ),
    Command(
        "run.demo",
        "Run",
        "Start the demo run",
        "Let an agent learn to cross a frozen lake, and watch it.",
        "",
        "play",
        begins_group=True,
    ),
    Command("view.grid", "View", "Grid", "The environment drawn from its state.", "Alt+1", "grid"),
    Command(
        "view.frame", "View", "Frame", "The picture that the environment draws.", "Alt+2", "frame"
    ),
    Command("view.raw", "View", "Raw", "Observation and info as text.", "Alt+3", "raw"),
    Command("view.video", "View", "Video", "The videos of the selected run.", "Alt+4", "video"),
    Command(
        "view.replay", "View", "Replay", "Episodes of the selected run, again.", "Alt+5", "replay"
    ),
    Command("view.live", "View", "Live-Agent", "What the selected run does now.", "Alt+6", "live"),
    Command(
        "view.beliefs",
        "View",
        "Beliefs",
        "What the agent of the selected run believes, wants and is at.",
        "Alt+B",
        "robot",
    ),
    Command(
        "view.run",
        "View",
        "Run",
        "What the selected run is and how it goes.",
        "Alt+7",
        "info",
        begins_group=True,
    ),
    Command("view.charts", "View", "Charts", "Every metric of the run.", "Alt+8", "chart"),
    Command(
        "view.compare",
        "View",
        "Compare",
        "Curves and scores of several runs, and two episodes side by side.",
        "Alt+9",
        "compare",
    ),
    Command(
        "view.tensorboard", "View", "TensorBoard", "Event files of the run.", "Alt+0", "external"
    ),
    Command("view.wandb", "View", "Weights & Biases", "W&B data of the run.", "", "external"),
    Command("view.optuna", "View", "Optuna trials", "The trials of a sweep.", "", "table"),
    Command(
        "view.session_panel",
        "View",
        "Show or hide the session panel",
        "The panel at the left: environment, seed, actor.",
        "Ctrl+B",
        "layout",
        begins_group=True,
    ),
    Command(
        "view.telemetry_panel",
        "View",
        "Show or hide the telemetry panel",
        "The panel at the right: steps, episodes, one step in full.",
        "Ctrl+Shift+B",
        "layout",
    ),
    Command(
        "view.runs_panel",
        "View",
        "Show or hide the runs panel",
        "The panel at the bottom: runs and log.",
        "Ctrl+J",
        "layout",
    ),
    Command(
        "view.reset_layout",
        "View",
        "Reset the layout",
        "Put all panels back where they were at first.",
        "",
        "layout",
    ),
    Command(
        "view.full_screen",
        "View",
        "Full screen",
        "Let the window fill the screen, or not any more.",
        "F11",
        "fullscreen",
    ),
    Command(
        "view.system_theme",
        "View",
        "Theme of the desktop",
        "Light or dark, as the desktop is.",
        "",
        "sun",
        begins_group=True,
    ),
    Command("view.light_theme", "View", "Light theme", "Dark words on white.", "", "sun"),
    Command("view.dark_theme", "View", "Dark theme", "Light words on black.", "", "moon"),
    Command(
        "tools.palette",
        "Tools",
        "Search commands…",
        "Find and start any command by its name.",
        "Ctrl+Shift+P",
        "command",
    ),
    Command(
        "tools.log",
        "Tools",
        "Log",
        "What the daemon, the workers and this window have to say.",
        "Ctrl+L",
        "log",
    ),
    Command(
        "tools.settings",
        "Tools",
        "Settings",
        "Home, theme, storage, keys of services, the daemon.",
        "Ctrl+,",
        "settings",
    ),
    Command(
        "tools.tensorboard_folder",
        "Tools",
        "Open a folder in TensorBoard…",
        "Start a TensorBoard server on any folder of event files.",
        "",
        "folder",
    ),
    Command(
        "tools.start_daemon",
        "Tools",
        "Start the daemon",
        "Start the trainer daemon of this home when none answers.",
        "",
        "link",
        begins_group=True,
    ),
    Command(
        "help.welcome",
        "Help",
        "Welcome",
        "Three things to begin with.",
        "",
        "star",
    ),
    Command(
        "help.shortcuts", "Help", "Keyboard shortcuts", "All keys of the window.", "F1", "keyboard"
    ),
    Command(
        "help.log_folder",
        "Help",
        "Open the folder of logs",
        "For a report: what the daemon wrote.",
        "",
        "folder",
    ),
    Command("help.about", "Help", "About MOSAIC", "Version, home and licence.", "", "info"),
)
