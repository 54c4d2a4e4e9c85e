"""How far pip is, read from what it prints and from what it has put in place."""

import re
from collections.abc import Callable
from pathlib import Path

from mosaic.contract.readiness import InstallPhase, InstallProgress

_COLLECTING = re.compile(r"\s*(?:Collecting|Processing|Obtaining) (?P<what>\S+)")
_FETCHING = re.compile(r"\s+(?:Downloading|Using cached) (?P<what>\S+)(?P<size> \([^)]*\))?")
_BUILDING = re.compile(r"\s*Building wheel for (?P<what>\S+)")
_BYTES = re.compile(r"Progress (?P<done>\d+) of (?P<total>\d+)")
_INSTALLING = re.compile(r"Installing collected packages: (?P<what>.+)")


class PipProgress:
    """Turns pip's lines into progress; equal progress is told once."""

    def __init__(self, packages: int, on_progress: Callable[[InstallProgress], None]) -> None:
        """`packages`: how many the requirements name; those that they need come on top."""
        self._on_progress = on_progress
        self._total = packages
        self._collected = 0
        self._file = ""
        self._to_install = 0
        self._told: InstallProgress | None = None

    def take(self, line: str) -> None:
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

    def look(self, site_packages: Path | None) -> None:
        """pip is silent while it puts packages in place: count those that are."""
        if self._to_install and site_packages is not None:
            there = sum(1 for _ in site_packages.glob("*.dist-info"))
            self._installing(min(there, self._to_install))

    def _installing(self, done: int) -> None:
        self._tell("installing", "Installing packages", done, self._to_install)

    def _downloading(self, message: str) -> None:
        self._tell(
            "downloading",
            message,
            min(max(self._collected - 1, 0), self._total),
            self._total,
        )

    def _tell(self, phase: InstallPhase, message: str, done: int, total: int) -> None:
        progress = InstallProgress(phase=phase, message=message, done=done, total=total)
        if progress != self._told:
            self._told = progress
            self._on_progress(progress)


def _short(what: str) -> str:
    """A file by its name, without the folder or the address it comes from."""
    return what.rstrip("/").rpartition("/")[2][:100]
