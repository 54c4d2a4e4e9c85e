"""The environment variables that a script is started with.

Keys and tokens are in them only when the script is to use them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mosaic_worker
from mosaic_worker.tracking.wandb_process import (
    KEY_VARIABLE,
    PROXIES_WITH_PASSWORD,
    proxy_variables,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.upstream.script_location import ScriptLocation

WANDB_RUN_ID = "WANDB_RUN_ID"
"""Names a run at Weights & Biases, where a person set it."""

_MODE = "WANDB_MODE"
_OFFLINE = "offline"
_HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_WITHHELD = frozenset((KEY_VARIABLE, *_HUB_TOKENS, *PROXIES_WITH_PASSWORD))
_ASK_WHY_NOT_ONLINE = (
    "from mosaic_worker.tracking.wandb_process import why_not_online; print(why_not_online())"
)
_ASK_SECONDS = 30.0

_ALWAYS = {
    "PYTHONUNBUFFERED": "1",  # else lines come in blocks of 8 KiB
    "SDL_NO_SIGNAL_HANDLERS": "1",  # SDL swallows SIGTERM once pygame starts
}
_UNLESS_SET = {
    "OMP_NUM_THREADS": "1",  # two threads on a busy machine take seven times as long
    "MUJOCO_GL": "egl",  # draws without a display
    _MODE: _OFFLINE,  # whoever tracks without being asked to has no key
}


def child_environment(location: ScriptLocation, config: Mapping[str, Any]) -> dict[str, str]:
    """This process's own, with the checkout's modules in reach. `config` is the whole run's."""
    mine = {name: value for name, value in os.environ.items() if name not in _WITHHELD}
    environment = {**_UNLESS_SET, **mine, **_ALWAYS}
    folders = [str(folder) for folder in config.get("python_path") or ()]
    if str(location.root) not in sys.path:  # site-packages must not come before the library
        folders.insert(0, str(location.root))
    folders += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    folders += [_home(mosaic_worker.__file__), _home(__file__, above=2)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    return environment


def tracking_environment(
    environment: Mapping[str, str], wandb: Mapping[str, Any]
) -> tuple[dict[str, str], str]:
    """`environment` for Weights & Biases, and why it works offline; empty where it does not.

    The key comes by this process's own environment, or not at all.
    """
    tracking = dict(environment)
    if wandb.get("proxy"):
        tracking.update(proxy_variables(str(wandb["proxy"])))
    mode = os.environ.get(_MODE, "")
    if wandb.get("mode") == _OFFLINE:
        return {**tracking, _MODE: _OFFLINE}, "the run asks for it"
    if mode in (_OFFLINE, "dryrun"):
        return {**tracking, _MODE: _OFFLINE}, f"{_MODE} says so"
    if mode == "disabled":
        return tracking, ""
    if os.environ.get(KEY_VARIABLE):
        tracking[KEY_VARIABLE] = os.environ[KEY_VARIABLE]
    reason = _why_not_online(tracking)
    return {**tracking, _MODE: _OFFLINE if reason else "online"}, reason


def upload_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` for an upload to the Hugging Face hub."""
    tokens = {name: os.environ[name] for name in _HUB_TOKENS if name in os.environ}
    return {**environment, **tokens}


def _why_not_online(environment: Mapping[str, str]) -> str:
    """As `why_not_online` says, in the very environment that the script will have.

    W&B itself would make the script wait for minutes, and then fail.
    """
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _ASK_WHY_NOT_ONLINE],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"its server could not be tried ({type(error).__name__})"
    return answer.stdout.decode("utf-8", "replace").strip()


def _home(file: str | None, above: int = 1) -> str:
    """The folder that a package is imported from."""
    return str(Path(file or "").resolve().parents[above])
