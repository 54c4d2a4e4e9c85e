"""`mosaic gui`: opens the window, in a process of its own because `mosaic` must not import it."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from typing import NoReturn

import click

from mosaic.cli.commands import command
from mosaic.cli.options import home_option
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

NO_DISPLAY = "C304"
"""There is no display to open a window on."""

NO_QT = "C305"
"""The packages of the window are not installed."""


@command(examples=["mosaic gui", "mosaic gui --run last"])
@click.option("--run", default="", metavar="RUN", help="Open this run.")
@click.option("--play", default="", metavar="ENV_ID", help="Start playing this environment.")
@click.option("--no-daemon", is_flag=True, help="Connect to a running daemon, but start none.")
@home_option
def gui(home: Home, run: str, play: str, no_daemon: bool) -> None:
    """Open the window.

    It connects to the daemon, which it starts in the background if none is running.
    """
    arguments = ["--no-daemon"] if no_daemon else []
    if run:
        arguments += ["--run", run]
    if play:
        arguments += ["--play", play]
    become_window(home, *arguments)


def find_window_problem(environment: Mapping[str, str] = os.environ) -> UserError | None:
    """Return why no window can open here; None if one can."""
    if importlib.util.find_spec("PySide6") is None:
        return UserError(
            "The packages of the window are not installed.",
            remedy="Install them with `pip install 'mosaic-workbench[gui]'`; all other commands"
            " work without them.",
            code=NO_QT,
        )
    has_display = any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    # A Qt platform that is set explicitly, such as offscreen, may need no display.
    if sys.platform == "linux" and not has_display and not environment.get("QT_QPA_PLATFORM"):
        return UserError(
            "There is no display to open a window on.",
            remedy="Log in to a desktop or use `ssh -X`; `mosaic play`, `train` and `runs` work"
            " without a display.",
            code=NO_DISPLAY,
        )
    return None


def become_window(home: Home, *arguments: str) -> NoReturn:
    """Replace this process by the window. Raises `UserError` if no window can open."""
    problem = find_window_problem()
    if problem is not None:
        raise problem
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-P", "-m", "gym_gui.app", "--home", str(home.path), *arguments]
    os.execv(sys.executable, command)  # noqa: S606 - starts no shell
