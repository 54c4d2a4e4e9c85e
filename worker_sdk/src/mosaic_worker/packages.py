"""Which packages a run used, so that it can be repeated."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

_SUFFIXES = (".dist-info", ".egg-info")


def installed_packages() -> dict[str, str]:
    """Name and version of every distribution in this environment, and of Python itself.

    They are read from the names of the installer's folders: opening each would take a third of a
    second at the start of every run.
    """
    found = {}
    for folder in reversed(sys.path):  # what is found first when importing counts
        try:
            entries = list(Path(folder).iterdir())
        except OSError:
            continue
        for entry in entries:
            name, dash, version = entry.stem.partition("-")
            if dash and entry.suffix in _SUFFIXES:
                found[name.lower().replace("_", "-").replace(".", "-")] = version.partition("-")[0]
    return {"python": platform.python_version(), **dict(sorted(found.items()))}
