"""The SDK and the echo worker pass their tests on the oldest and the newest Python found here."""

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
    """A Python that runs, with its version."""

    version: tuple[int, ...]
    path: str


def candidates() -> list[str]:
    """Possible paths of Pythons, including shims and leftovers."""
    names = [f"python{_OLDEST[0]}.{minor}" for minor in range(_OLDEST[1], _NEWEST[1] + 1)]
    found = [path for name in names if (path := shutil.which(name))]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return found + [str(path) for path in sorted(pyenv.glob("versions/*/bin/python3"))]


def version_of(path: str) -> tuple[int, ...] | None:
    """The version that the candidate prints; None if it does not run."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=30, check=False)
    except OSError:
        return None
    output = re.match(rb"Python (\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(int(part) for part in output.groups()) if output and not done.returncode else None


@cache
def interpreters() -> list[Interpreter]:
    """All usable ones, oldest first."""
    found = [Interpreter(version, path) for path in candidates() if (version := version_of(path))]
    return sorted(each for each in found if _OLDEST <= each.version[:2] <= _NEWEST)


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize("suite", _SUITES)
@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_on_another_interpreter(which: str, suite: str) -> None:
    """The SDK works with any Python that a learner's pins require."""
    found = interpreters()
    if not found:
        pytest.skip("no Python from 3.8 on was found beside the one that runs this test")
    chosen = found[0] if which == "oldest" else found[-1]
    sources = [_ROOT / name / "src" for name in _SUITES]
    done = subprocess.run(
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
    assert done.returncode == 0, f"{chosen.path} {chosen.version}\n{done.stderr}"
    ran = re.search(r"Ran (\d+) tests", done.stderr)
    assert ran
    assert int(ran[1]) > 10
