"""The environment variables that a script is started with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mosaic_worker

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.script_location import ScriptLocation

WANDB_KEY = "WANDB_API_KEY"

_ALWAYS = {
    "PYTHONUNBUFFERED": "1",  # else lines come in blocks of 8 KiB
    "SDL_NO_SIGNAL_HANDLERS": "1",  # SDL swallows SIGTERM once pygame starts
}
_UNLESS_SET = {
    "OMP_NUM_THREADS": "1",  # two threads on a busy machine take seven times as long
    "MUJOCO_GL": "egl",  # draws without a display
}


def child_environment(location: ScriptLocation, config: Mapping[str, Any]) -> dict[str, str]:
    """This process's own, with the checkout's modules in reach. `config` is the whole run's."""
    environment = {**_UNLESS_SET, **os.environ, **_ALWAYS}
    folders = [str(folder) for folder in config.get("python_path") or ()]
    if str(location.root) not in sys.path:  # site-packages must not come before the library
        folders.insert(0, str(location.root))
    folders += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    folders += [_home(mosaic_worker.__file__), _home(__file__, above=2)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    return environment


def tracking_environment(wandb: Mapping[str, Any]) -> tuple[dict[str, str], str]:
    """Variables for Weights & Biases, and why it works offline; an empty reason where it does not.

    The key itself is in the environment already, or nowhere.
    """
    variables = {}
    if wandb.get("proxy"):
        variables = {"HTTPS_PROXY": str(wandb["proxy"]), "HTTP_PROXY": str(wandb["proxy"])}
    if wandb.get("mode") == "offline":
        return {**variables, "WANDB_MODE": "offline"}, "the run asks for it"
    if os.environ.get("WANDB_MODE"):
        mode = os.environ["WANDB_MODE"]
        return variables, "WANDB_MODE says so" if mode == "offline" else ""
    if not os.environ.get(WANDB_KEY):
        return {**variables, "WANDB_MODE": "offline"}, f"there is no {WANDB_KEY}"
    return variables, ""


def _home(file: str | None, above: int = 1) -> str:
    """The folder that a package is imported from."""
    return str(Path(file or "").resolve().parents[above])
