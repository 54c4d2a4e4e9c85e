"""Opening the window: a process of its own, because nothing of `mosaic` may import it."""

import importlib.util
import os
import sys
from collections.abc import Mapping
from typing import NoReturn

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

NO_DISPLAY = "C304"
"""There is no screen to open a window on."""

NO_QT = "C305"
"""The packages of the window are not installed."""


def why_no_window(environment: Mapping[str, str] = os.environ) -> UserError | None:
    """What is in the way of a window here; None: nothing."""
    if importlib.util.find_spec("PySide6") is None:
        return UserError(
            "The window's packages are not installed.",
            remedy="Install them with `pip install 'mosaic-workbench[gui]'`; all other commands"
            " work without.",
            code=NO_QT,
        )
    has_display = any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    # Whoever names a platform of Qt's knows what they are doing: offscreen needs no display.
    if sys.platform == "linux" and not has_display and not environment.get("QT_QPA_PLATFORM"):
        return UserError(
            "There is no display to open a window on.",
            remedy="Log in to a desktop or use `ssh -X`; `mosaic play`, `train` and `runs` need"
            " none.",
            code=NO_DISPLAY,
        )
    return None


def become_window(home: Home, *arguments: str) -> NoReturn:
    """The window takes this process over. Raises `UserError` when there can be none."""
    problem = why_no_window()
    if problem is not None:
        raise problem
    sys.stdout.flush()
    sys.stderr.flush()
    command = [sys.executable, "-P", "-m", "gym_gui.app", "--home", str(home.path), *arguments]
    os.execv(sys.executable, command)  # noqa: S606 - no shell is wanted
