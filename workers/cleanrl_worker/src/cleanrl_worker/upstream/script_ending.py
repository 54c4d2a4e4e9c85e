"""Says why a script ended, in words for the person who started it."""

from __future__ import annotations

import difflib
import re
import signal
from typing import TYPE_CHECKING

from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD_FLAG = 2
_LINES_SHOWN = 12
_LETTERS_SHOWN = 300
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'")
_NOT_INSTALLED = re.compile(r"DependencyNotInstalled: .*?\[(?P<extra>[a-z0-9_-]+)\]")
_UNREGISTERED = re.compile(
    r"gymnasium\.error\.(?:NameNotFound|NamespaceNotFound|VersionNotFound|UnregisteredEnv): "
    r"(?P<said>.*)"
)

_EXTRAS = {
    **dict.fromkeys(("ale_py", "shimmy", "cv2", "AutoROM"), "atari"),
    **dict.fromkeys(("mujoco", "mujoco_py"), "mujoco"),
    "wandb": "wandb",
    "huggingface_hub": "hub",
    "stable_baselines3": "sb3",
}
"""Which extra of the bundle `cleanrl_upstream` brings a module."""

_GYMNASIUM_EXTRAS = {"atari": "atari", "accept-rom-license": "atari", "mujoco": "mujoco"}
"""Likewise, by the name that gymnasium has for its own."""

_ENVIRONMENT_FLAGS = ("--env-id", "--env_id")
_ATARI = re.compile(r"Namespace ALE |`\w+(?:NoFrameskip|Deterministic|-ram)\w*`")


def script_failure(code: int, last_lines: Sequence[str], words: Sequence[str]) -> WorkerError:
    """The error for a script that did not end well: a negative `code` is a signal."""
    if code < 0:
        message = f"The script was ended by {_signal_name(-code)}."
    else:
        message = f"The script ended with exit code {code}."
    shown = [line[:_LETTERS_SHOWN] for line in list(last_lines)[-_LINES_SHOWN:]]
    said = "\n".join(shown)
    ending = f"\nIts last lines:\n{said}\n" if shown else " It printed nothing."
    return WorkerError(f"{message}{ending}", remedy=_remedy(code, said, words))


def _remedy(code: int, said: str, words: Sequence[str]) -> str:
    missing = _MISSING.search(said)
    absent = _NOT_INSTALLED.search(said)
    unknown = _UNREGISTERED.search(said)
    extra = (
        (missing and _EXTRAS.get(missing["module"].partition(".")[0]))
        or (absent and _GYMNASIUM_EXTRAS.get(absent["extra"]))
        or (unknown and _ATARI.search(unknown["said"]) and "atari")
    )
    if extra:
        return f"Start it with `--extra {extra}`."
    if missing:
        return (
            f"Install the package that brings the module {missing['module']} into the script's "
            "environment, or use a version of the script that does without."
        )
    if unknown:
        return _environments_meant(words)
    if code == _BAD_FLAG:
        return f"Its flags were: {' '.join(words)}. Correct the one that it names."
    if code == -signal.SIGKILL:
        return (
            "Most likely there was not enough memory: use fewer environments or a smaller buffer."
        )
    return "All of its output is in the run's log."


def _environments_meant(words: Sequence[str]) -> str:
    """Close matches among those of the gymnasium that the script has, which is this process's."""
    check = "Check the id of the environment, and that its package is installed."
    flag = next((word for word in words if word in _ENVIRONMENT_FLAGS), None)
    if flag is None or flag == words[-1]:
        return check
    try:
        import gymnasium  # noqa: PLC0415 - only after such a failure
    except ImportError:
        return check
    close = difflib.get_close_matches(words[words.index(flag) + 1], gymnasium.registry, n=3)
    return f"Did you mean {' or '.join(close)}? {check}" if close else check


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
