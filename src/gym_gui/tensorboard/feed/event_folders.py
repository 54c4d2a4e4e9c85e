"""Event files of runs: which there are, what they hold, and how a run without any gets some.

Everything here waits for the disk or the daemon: `TensorBoardModel` calls it on threads.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic.analytics.event_files import EventFolder, find_event_files
from mosaic.analytics.run_event_files import EventFileExport, export_event_file
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import decode_manifest
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_EXPORTS = Path("exports") / "tensorboard"


@dataclass(frozen=True, slots=True)
class TagRow:
    """One curve in numbers."""

    tag: str
    points: int
    last_step: int
    last_value: float


@dataclass(frozen=True, slots=True)
class EventsFound:
    """What a folder holds."""

    folder: Path
    files: int
    size_bytes: int
    tags: tuple[TagRow, ...]
    points: int
    other_tags: tuple[str, ...]
    """What only TensorBoard shows: texts, histograms, pictures."""
    unreadable_records: int
    broken_files: tuple[str, ...]


class EventReader:
    """The first of some folders that has event files, read on at every look. One thread a time."""

    def __init__(self, candidates: Iterable[Path]) -> None:
        self._candidates = tuple(candidates)
        self._events: EventFolder | None = None
        self._found: EventsFound | None = None

    def look(self) -> EventsFound | None:
        """None: none of them has any."""
        if self._events is None:
            folder = next(filter(has_event_files, self._candidates), None)
            if folder is None:
                return None
            self._events = EventFolder(folder)
        events = self._events
        if not events.read_more() and self._found is not None:
            return self._found
        rows = (
            TagRow(name, len(each), each.steps[-1], each.values[-1])
            for name, each in events.series.items()
        )
        self._found = EventsFound(
            folder=events.path,
            files=len(events.files),
            size_bytes=sum(file.size_bytes for file in events.files),
            tags=tuple(rows),
            points=events.points,
            other_tags=events.other_tags,
            unreadable_records=events.unreadable_records,
            broken_files=tuple(path.name for path in events.broken_files),
        )
        return self._found


def has_event_files(folder: Path) -> bool:
    return next(find_event_files(folder), None) is not None


def exported_folder(home: Home, run_id: str) -> Path:
    """Where the window puts event files of a run that wrote none; found again the next time."""
    return home.path / _EXPORTS / run_id


def export_run(
    client: "TrainerClient",
    home: Home,
    run: RunRecord,
    stop: threading.Event,
    on_progress: Callable[[int], None],
) -> tuple[Path, EventFileExport]:
    """Its event files, and the folder they are in. Those of an earlier export are replaced."""
    folder = exported_folder(home, run.run_id)
    done = export_event_file(client, run, folder, stop=stop, on_progress=on_progress)
    for path in tuple(find_event_files(folder)):
        if path != done.path:
            path.unlink(missing_ok=True)
    return folder, done


def folder_of_run(
    client: "TrainerClient",
    home: Home,
    run: RunRecord,
    stop: threading.Event,
    on_progress: Callable[[int], None],
) -> Path:
    """Its own event files, else those exported before, else exported now. UserError: it has none
    and no numbers either."""
    manifest = decode_manifest(client.run(run.run_id).manifest_json or b"{}")
    own = home.run(run.run_id).path / (manifest.tensorboard_dir or "")
    if manifest.tensorboard_dir and has_event_files(own):
        return own
    exported = exported_folder(home, run.run_id)
    if has_event_files(exported) and run.ended_at is not None:
        return exported
    return export_run(client, home, run, stop, on_progress)[0]


def check_folder(folder: Path) -> Path:
    """UserError unless it is a folder that has event files, or runs that have."""
    if not folder.is_dir():
        raise UserError(
            f"{folder} is not a folder.", remedy="Choose one that is there.", code="C360"
        )
    if not has_event_files(folder):
        raise UserError(
            f"{folder} has no event files, and no folder in it has any.",
            remedy="Choose the folder that a run wrote its TensorBoard files to.",
            code="C361",
        )
    return folder
