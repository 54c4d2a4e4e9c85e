"""Running pip for an environment, our own from outside or one inside, and parsing its progress."""

import re
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from mosaic.contract.readiness import InstallPhase, InstallProgress
from mosaic.trainer.processes.process_environment import installer_environment
from mosaic.trainer.workers.interpreters import Interpreter

_FIRST_WITH_PYTHON_OPTION = Version("22.3")
_FIRST_WITH_RAW_PROGRESS = Version("24.1")
_REMOVED_SETTINGS = (
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_PYTHON",
    "PIP_REQUIREMENT",
    "PIP_QUIET",
)
"""Settings of the user's pip that would install elsewhere, or hide progress."""


def own_pip(interpreter: Interpreter, python: Path) -> list[str] | None:
    """The command of our own pip for the environment of `python`; None when it cannot be used."""
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
    # -P: the current folder, a worker's, may have modules with names that pip imports.
    return [sys.executable, "-P", "-m", "pip", "--python", str(python)]


def pip_inside(python: Path) -> list[str]:
    """The pip that `ensurepip` put into the environment."""
    return [str(python), "-I", "-m", "pip"]


def install_options(requirements: Path, *, is_own_pip: bool) -> list[str]:
    """The arguments of a non-interactive installation with progress."""
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
    """Our environment with `PIP_*`; temporary files go to `scratch`, which is removed later."""
    environment = installer_environment()
    for name in _REMOVED_SETTINGS:
        environment.pop(name, None)
    return {
        **environment,
        "PIP_USER": "0",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "TMPDIR": str(scratch),
    }


_COLLECTING = re.compile(r"\s*(?:Collecting|Processing|Obtaining) (?P<what>\S+)")
_FETCHING = re.compile(r"\s+(?:Downloading|Using cached) (?P<what>\S+)(?P<size> \([^)]*\))?")
_BUILDING = re.compile(r"\s*Building wheel for (?P<what>\S+)")
_BYTES = re.compile(r"Progress (?P<done>\d+) of (?P<total>\d+)")
_INSTALLING = re.compile(r"Installing collected packages: (?P<what>.+)")


class PipProgress:
    """Turns pip's lines into progress; equal progress is reported once."""

    def __init__(self, packages: int, on_progress: Callable[[InstallProgress], None]) -> None:
        """`packages`: number of packages in the requirements, without their dependencies."""
        self._on_progress = on_progress
        self._total = packages
        self._collected = 0
        self._file = ""
        self._to_install = 0
        self._reported: InstallProgress | None = None

    def handle_line(self, line: str) -> None:
        """One line of pip's output."""
        if match := _COLLECTING.match(line):
            self._collected += 1
            self._downloading(f"Collecting {_short(match['what'])}")
        elif match := _FETCHING.match(line):
            self._file = _short(match["what"])
            self._downloading(f"Downloading {self._file}{match['size'] or ''}")
        elif match := _BYTES.match(line):
            done, total = int(match["done"]) / 1e6, int(match["total"]) / 1e6
            self._downloading(f"Downloading {self._file} ({done:.0f} of {total:.0f} MB)")
        elif match := _BUILDING.match(line):
            self._downloading(f"Building {match['what']}")
        elif match := _INSTALLING.match(line):
            self._to_install = len(match["what"].split(","))
            self._installing(0)

    def poll(self, site_packages: Path | None) -> None:
        """Count installed packages: pip prints nothing while it installs them."""
        if self._to_install and site_packages is not None:
            installed = sum(1 for _ in site_packages.glob("*.dist-info"))
            self._installing(min(installed, self._to_install))

    def _installing(self, done: int) -> None:
        self._report("installing", "Installing packages", done, self._to_install)

    def _downloading(self, message: str) -> None:
        self._report(
            "downloading",
            message,
            min(max(self._collected - 1, 0), self._total),
            self._total,
        )

    def _report(self, phase: InstallPhase, message: str, done: int, total: int) -> None:
        progress = InstallProgress(phase=phase, message=message, done=done, total=total)
        if progress != self._reported:
            self._reported = progress
            self._on_progress(progress)


def _short(what: str) -> str:
    """The name of a file without its folder or URL."""
    return what.rstrip("/").rpartition("/")[2][:100]
