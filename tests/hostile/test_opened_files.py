"""The daemon opens files that a worker can replace only with `contract.regular_files`."""

import re
from pathlib import Path

import mosaic

_SOURCES = Path(mosaic.__file__).parent
_FOLDERS = ("trainer", "telemetry")
_PLAIN_OPEN = re.compile(
    r"\bos\.open\(|\.open\(\"|\bopen\((?!open_regular|descriptor|fd\b)[^)]*\"|\.read_(bytes|text)\("
)
_ALLOWED = {
    "trainer/artifacts/archive_source.py": "opens each folder of a path without following links",
    "trainer/artifacts/foreign_run.py": "a file that the import has just written",
    "trainer/artifacts/run_import.py": "creates files",
    "trainer/bundles/": "virtual environments and sources, which no worker is given",
    "trainer/daemon/": "files of the home, which no worker is given",
    "trainer/machine/": "the system",
    "trainer/preflight/": "packages of a bundle",
    "trainer/processes/control_channel.py": "a FIFO, opened without blocking or following links",
    "trainer/processes/run_cgroup.py": "the system",
    "trainer/processes/supervisor.py": "the system",
    "trainer/processes/supervisor_files.py": "has its own function, to import little",
    "trainer/secrets/": "files of the user",
    "trainer/service/servicer.py": "the system",
    "trainer/daemon_settings.py": "a file of the home, which no worker is given",
    "trainer/storage/imported_checkpoints.py": "creates files",
    "trainer/workers/": "sources of workers and their cache, before a run exists",
}


def test_files_are_opened_by_regular_files() -> None:
    """A new plain `open` uses `contract.regular_files`, or is listed here with the reason."""
    opening_files = {
        path.relative_to(_SOURCES).as_posix()
        for folder in _FOLDERS
        for path in (_SOURCES / folder).rglob("*.py")
        if _PLAIN_OPEN.search(path.read_text())
    }
    assert {path for path in opening_files if not path.startswith(tuple(_ALLOWED))} == set()
    assert {
        name for name in _ALLOWED if not any(path.startswith(name) for path in opening_files)
    } == set()
