"""The table of all commands: id, menu, text, tip, shortcut and icon.

Menus, the command palette and the list of shortcuts are built from it; `command_bindings.py` has
what each command does. `python -m gym_gui.app.commands` prints docs/commands.md.
"""

from dataclasses import dataclass
from typing import Literal

from gym_gui.widgets.icon_drawings import IconName

Menu = Literal["Session", "Run", "View", "Tools", "Help"]

MENUS: tuple[Menu, ...] = ("Session", "Run", "View", "Tools", "Help")


@dataclass(frozen=True, slots=True)
class Command:
    """`text` is in sentence case, with `…` if more input follows; `tip` is a complete sentence."""

    id: str
    menu: Menu
    text: str
    tip: str
    shortcut: str = ""
    icon: IconName | None = None
    starts_group: bool = False
    """Whether a separator precedes it in its menu."""


COMMANDS: tuple[Command, ...] = (
    Command(
        "session.play",
        "Session",
        "Play",
        "Start a session with the selected environment and actor.",
        "Ctrl+Return",
        "play",
    ),
    Command(
        "session.stop",
        "Session",
        "Stop",
        "Stop the session. Its run stays in the list of runs.",
        "Ctrl+.",
        "stop",
    ),
    Command(
        "session.pause",
        "Session",
        "Pause or resume",
        "Pause or resume the session.",
        "Ctrl+Space",
        "pause",
    ),
    Command(
        "session.step",
        "Session",
        "Single step",
        "Run one step while the session is paused.",
        "F10",
        "step",
    ),
    Command(
        "session.reset",
        "Session",
        "New episode",
        "Start the next episode now.",
        "Ctrl+Shift+R",
        "reset",
    ),
    Command(
        "session.again",
        "Session",
        "Repeat with the same seed",
        "Start an episode with the same seed.",
        "Ctrl+Shift+A",
        "undo",
    ),
    Command(
        "session.takeover",
        "Session",
        "Take over or release control",
        "Control the agent's episode yourself, or return control to the agent.",
        "Ctrl+T",
        "takeover",
    ),
    Command(
        "session.environment",
        "Session",
        "Select environment…",
        "Search by name, family and description.",
        "Ctrl+E",
        "search",
        starts_group=True,
    ),
    Command("session.dice", "Session", "New seed", "Select a random seed.", "Ctrl+D", "dice"),
    Command(
        "session.human",
        "Session",
        "Human mode",
        "You control the environment.",
        "Ctrl+1",
        "person",
        starts_group=True,
    ),
    Command(
        "session.hybrid",
        "Session",
        "Hybrid mode",
        "An agent controls the environment; you can take over at any time.",
        "Ctrl+2",
        "takeover",
    ),
    Command(
        "session.agent",
        "Session",
        "Agent mode",
        "An agent controls the environment.",
        "Ctrl+3",
        "robot",
    ),
    Command(
        "session.quit",
        "Session",
        "Quit",
        "Close the window. Runs and the daemon keep running.",
        "Ctrl+Q",
        "close",
        starts_group=True,
    ),
    Command(
        "run.train",
        "Run",
        "Train an agent…",
        "Configure and launch a training run.",
        "Ctrl+N",
        "robot",
    ),
    Command(
        "run.open",
        "Run",
        "Open selected run",
        "Show its configuration, log, artifacts and reproduction.",
        "Ctrl+O",
        "info",
        starts_group=True,
    ),
    Command(
        "run.watch",
        "Run",
        "Watch selected run",
        "Show the live view of the run.",
        "Ctrl+W",
        "live",
    ),
    Command(
        "run.replay",
        "Run",
        "Replay selected run",
        "Replay its recorded episodes.",
        "Ctrl+R",
        "replay",
    ),
    Command(
        "run.compare",
        "Run",
        "Compare selected runs",
        "Compare their curves, scores and episodes.",
        "Ctrl+Shift+C",
        "compare",
    ),
    Command(
        "run.tensorboard",
        "Run",
        "Open selected runs in TensorBoard",
        "Start a TensorBoard server for their event files.",
        "",
        "external",
    ),
    Command(
        "run.duplicate",
        "Run",
        "Duplicate selected run as draft",
        "Fill the training form with its configuration.",
        "Ctrl+Shift+D",
        "copy",
    ),
    Command(
        "run.stop",
        "Run",
        "Stop selected run",
        "Stop the run and all its processes.",
        "",
        "stop",
    ),
    Command(
        "run.demo",
        "Run",
        "Start demo run",
        "Train an agent on FrozenLake and watch it.",
        "",
        "play",
        starts_group=True,
    ),
    Command("view.grid", "View", "Grid", "Show the environment as a grid.", "Alt+1", "grid"),
    Command(
        "view.frame",
        "View",
        "Frame",
        "Show the frame that the environment renders.",
        "Alt+2",
        "frame",
    ),
    Command("view.raw", "View", "Raw", "Show observation and info as text.", "Alt+3", "raw"),
    Command(
        "view.video", "View", "Video", "Show the videos of the selected run.", "Alt+4", "video"
    ),
    Command(
        "view.replay", "View", "Replay", "Replay episodes of the selected run.", "Alt+5", "replay"
    ),
    Command(
        "view.live",
        "View",
        "Live-Agent",
        "Show the current episode of the selected run.",
        "Alt+6",
        "live",
    ),
    Command(
        "view.beliefs",
        "View",
        "Beliefs",
        "Show the beliefs, desires and intentions of the agent.",
        "Alt+B",
        "robot",
    ),
    Command(
        "view.run",
        "View",
        "Run",
        "Show the overview and state of the selected run.",
        "Alt+7",
        "info",
        starts_group=True,
    ),
    Command("view.charts", "View", "Charts", "Show all metrics of the run.", "Alt+8", "chart"),
    Command(
        "view.compare",
        "View",
        "Compare",
        "Compare curves, scores and episodes of several runs.",
        "Alt+9",
        "compare",
    ),
    Command(
        "view.tensorboard",
        "View",
        "TensorBoard",
        "Show the event files of the run.",
        "Alt+0",
        "external",
    ),
    Command(
        "view.wandb", "View", "Weights & Biases", "Show the W&B data of the run.", "", "external"
    ),
    Command("view.optuna", "View", "Optuna trials", "Show the trials of a sweep.", "", "table"),
    Command(
        "view.session_panel",
        "View",
        "Toggle session panel",
        "Show or hide environment, seed and actor.",
        "Ctrl+B",
        "layout",
        starts_group=True,
    ),
    Command(
        "view.telemetry_panel",
        "View",
        "Toggle telemetry panel",
        "Show or hide steps, episodes and the step inspector.",
        "Ctrl+Shift+B",
        "layout",
    ),
    Command(
        "view.runs_panel",
        "View",
        "Toggle runs panel",
        "Show or hide runs and log.",
        "Ctrl+J",
        "layout",
    ),
    Command(
        "view.reset_layout",
        "View",
        "Reset layout",
        "Restore the default layout of the panels.",
        "",
        "layout",
    ),
    Command(
        "view.full_screen",
        "View",
        "Full screen",
        "Enter or leave full screen.",
        "F11",
        "fullscreen",
    ),
    Command(
        "view.system_theme",
        "View",
        "System theme",
        "Follow the theme of the desktop.",
        "",
        "sun",
        starts_group=True,
    ),
    Command("view.light_theme", "View", "Light theme", "Use the light theme.", "", "sun"),
    Command("view.dark_theme", "View", "Dark theme", "Use the dark theme.", "", "moon"),
    Command(
        "tools.palette",
        "Tools",
        "Search commands…",
        "Find and run a command by name.",
        "Ctrl+Shift+P",
        "command",
    ),
    Command(
        "tools.log",
        "Tools",
        "Log",
        "Show the log of the daemon, the workers and this window.",
        "Ctrl+L",
        "log",
    ),
    Command(
        "tools.settings",
        "Tools",
        "Settings",
        "Show settings of home, theme, storage, API keys and daemon.",
        "Ctrl+,",
        "settings",
    ),
    Command(
        "tools.tensorboard_folder",
        "Tools",
        "Open folder in TensorBoard…",
        "Start a TensorBoard server for a folder of event files.",
        "",
        "folder",
    ),
    Command(
        "tools.start_daemon",
        "Tools",
        "Start daemon",
        "Start the trainer daemon of this home if none answers.",
        "",
        "link",
        starts_group=True,
    ),
    Command(
        "help.welcome",
        "Help",
        "Welcome",
        "Show the welcome page.",
        "",
        "star",
    ),
    Command(
        "help.shortcuts",
        "Help",
        "Keyboard shortcuts",
        "Show all keyboard shortcuts.",
        "F1",
        "keyboard",
    ),
    Command(
        "help.log_folder",
        "Help",
        "Open log folder",
        "Open the folder with the logs of the daemon and the window.",
        "",
        "folder",
    ),
    Command("help.about", "Help", "About MOSAIC", "Show version, home and licence.", "", "info"),
)
