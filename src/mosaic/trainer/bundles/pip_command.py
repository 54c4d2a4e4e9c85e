"""How pip is run for an environment: ours from outside, else one put into it."""

import sys
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from mosaic.trainer.workers.interpreters import Interpreter
from mosaic.trainer.workers.tool_environment import installer_environment

_FIRST_WITH_PYTHON_OPTION = Version("22.3")
_FIRST_WITH_RAW_PROGRESS = Version("24.1")
_ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_REQUIREMENT", "PIP_QUIET")
"""Settings of somebody's own pip that would put packages into another place, or hide progress."""


def own_pip(interpreter: Interpreter, python: Path) -> list[str] | None:
    """Our own pip, working on the environment of `python`; None when it cannot."""
    if find_spec("pip") is None:
        return None
    try:
        described = metadata("pip")
        is_new_enough = Version(described["Version"]) >= _FIRST_WITH_PYTHON_OPTION
        supported = SpecifierSet(described["Requires-Python"] or "")
    except (PackageNotFoundError, InvalidSpecifier, KeyError):
        return None
    if not is_new_enough or not supported.contains(interpreter.version_text):
        return None
    # -P: a worker's folder, which pip works in, may have modules named like those of pip.
    return [sys.executable, "-P", "-m", "pip", "--python", str(python)]


def pip_inside(python: Path) -> list[str]:
    """The pip that `ensurepip` put into the environment."""
    return [str(python), "-I", "-m", "pip"]


def install_options(requirements: Path, *, is_own_pip: bool) -> list[str]:
    """The arguments of an installation that tells how far it is and asks nothing."""
    shows_bytes = is_own_pip and Version(metadata("pip")["Version"]) >= _FIRST_WITH_RAW_PROGRESS
    return [
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar",
        "raw" if shows_bytes else "off",
        "--requirement",
        str(requirements),
    ]


def pip_environment(scratch: Path) -> dict[str, str]:
    """Ours with `PIP_*`, and temporary files where they are found and removed after a kill."""
    environment = installer_environment()
    for name in _ELSEWHERE:
        environment.pop(name, None)
    return {
        **environment,
        "PIP_USER": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": str(scratch),
    }
