"""The SDK and the echo worker pass their tests on the oldest and the newest installed Python."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

_ROOT = Path(__file__).parents[2]
_SUITES = ("worker_sdk", "workers/echo_worker")
_OLDEST = (3, 8)
_NEWEST = (3, 14)


class Interpreter(NamedTuple):
    """A Python interpreter and its version."""

    version: tuple[int, ...]
    path: str


def candidates() -> list[str]:
    """Return possible paths of Python interpreters; some may not run."""
    names = [f"python{_OLDEST[0]}.{minor}" for minor in range(_OLDEST[1], _NEWEST[1] + 1)]
    paths = [path for name in names if (path := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return paths + [str(path) for path in sorted(pyenv.glob("versions/*/bin/python3"))]


def version_of(path: str) -> tuple[int, ...] | None:
    """Return the version that the interpreter prints; None if it does not run."""
    try:
        result = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except OSError:
        return None
    match = re.match(rb"Python (\d+)\.(\d+)\.(\d+)", result.stdout)
    return tuple(map(int, match.groups())) if match and not result.returncode else None


@cache
def interpreters() -> list[Interpreter]:
    """Return all supported interpreters, oldest first."""
    usable = [Interpreter(version, path) for path in candidates() if (version := version_of(path))]
    return sorted(python for python in usable if _OLDEST <= python.version[:2] <= _NEWEST)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("suite", _SUITES)
@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_on_another_interpreter(which: str, suite: str) -> None:
    """The SDK works with any Python version that a learner may require."""
    installed = interpreters()
    if not installed:
        pytest.skip("no other Python from 3.8 on is installed")
    chosen = installed[0] if which == "oldest" else installed[-1]
    sources = [_ROOT / name / "src" for name in _SUITES]
    result = subprocess.run(
        [chosen.path, "-W", "error", "-m", "unittest", "discover", "-s", _ROOT / suite / "tests"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert result.returncode == 0, f"{chosen.path} {chosen.version}\n{result.stderr}"
    ran = re.search(r"Ran (\d+) tests", result.stderr)
    assert ran
    assert int(ran[1]) > 10
