"""The environment variables of a script's process.

Keys and tokens are included only if the script may use them.
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
"""The run id at Weights & Biases, if the user set one."""

_MODE = "WANDB_MODE"
_OFFLINE = "offline"
_HUB_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
_WITHHELD = frozenset((KEY_VARIABLE, *_HUB_TOKENS, *PROXIES_WITH_PASSWORD))
_CHECK_ONLINE = (
    "from mosaic_worker.tracking.wandb_process import offline_reason; print(offline_reason())"
)
_CHECK_TIMEOUT_S = 30.0

_ALWAYS = {
    "PYTHONUNBUFFERED": "1",  # otherwise lines arrive in blocks of 8 KiB
    "SDL_NO_SIGNAL_HANDLERS": "1",  # otherwise SDL ignores SIGTERM once pygame starts
}
_UNLESS_SET = {
    "OMP_NUM_THREADS": "1",  # two threads on a busy machine are seven times slower
    "MUJOCO_GL": "egl",  # renders without a display
    _MODE: _OFFLINE,  # a script that tracks by default has no key
}


def child_environment(location: ScriptLocation, config: Mapping[str, Any]) -> dict[str, str]:
    """Return this process's environment with the script's modules; `config` is the run's."""
    inherited = {name: value for name, value in os.environ.items() if name not in _WITHHELD}
    environment = {**_UNLESS_SET, **inherited, **_ALWAYS}
    folders = [str(folder) for folder in config.get("python_path") or ()]
    if str(location.root) not in sys.path:  # site-packages must not precede the standard library
        folders.insert(0, str(location.root))
    folders += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    folders += [_import_folder(mosaic_worker.__file__), _import_folder(__file__, levels=2)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    return environment


def tracking_environment(
    environment: Mapping[str, str], wandb: Mapping[str, Any]
) -> tuple[dict[str, str], str]:
    """Return `environment` for Weights & Biases, and why it runs offline (empty: online).

    The key is taken from this process's environment only.
    """
    tracking = dict(environment)
    if wandb.get("proxy"):
        tracking.update(proxy_variables(str(wandb["proxy"])))
    mode = os.environ.get(_MODE, "")
    if wandb.get("mode") == _OFFLINE:
        return {**tracking, _MODE: _OFFLINE}, "the run requests it"
    if mode in (_OFFLINE, "dryrun"):
        return {**tracking, _MODE: _OFFLINE}, f"{_MODE} is set to {mode}"
    if mode == "disabled":
        return tracking, ""
    if os.environ.get(KEY_VARIABLE):
        tracking[KEY_VARIABLE] = os.environ[KEY_VARIABLE]
    reason = _find_offline_reason(tracking)
    return {**tracking, _MODE: _OFFLINE if reason else "online"}, reason


def upload_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return `environment` with the tokens of the Hugging Face hub."""
    tokens = {name: os.environ[name] for name in _HUB_TOKENS if name in os.environ}
    return {**environment, **tokens}


def _find_offline_reason(environment: Mapping[str, str]) -> str:
    """Run the SDK's check in the script's environment; returns a reason, or an empty text.

    Without the check, W&B would block the script for minutes and then fail.
    """
    try:
        result = subprocess.run(
            [sys.executable, "-c", _CHECK_ONLINE],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CHECK_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return f"its server could not be reached ({type(error).__name__})"
    return result.stdout.decode("utf-8", "replace").strip()


def _import_folder(file: str | None, levels: int = 1) -> str:
    """Return the folder that a package is imported from, `levels` above the file's own."""
    return str(Path(file or "").resolve().parents[levels])
