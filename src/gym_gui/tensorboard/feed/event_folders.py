"""Event files of runs: find, read and export them.

Everything here blocks on the disk or the daemon: `TensorBoardModel` calls it on threads.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mosaic.analytics.event_files import EventFolder, find_event_files
from mosaic.analytics.run_event_files import EventFileExport, export_event_file
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, create_private_folder
from mosaic.contract.manifest import decode_manifest
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient


@dataclass(frozen=True, slots=True)
class TagRow:
    """Summary of one curve."""

    tag: str
    points: int
    last_step: int
    last_value: float


@dataclass(frozen=True, slots=True)
class EventSummary:
    """Contents of a folder."""

    folder: Path
    files: int
    size_bytes: int
    tags: tuple[TagRow, ...]
    points: int
    other_tags: tuple[str, ...]
    """Tags that only TensorBoard shows: texts, histograms, images."""
    unreadable_records: int
    broken_files: tuple[str, ...]


class EventReader:
    """Reads the first candidate folder that has event files. One thread at a time."""

    def __init__(self, candidates: Iterable[Path]) -> None:
        self._candidates = tuple(candidates)
        self._events: EventFolder | None = None
        self._summary: EventSummary | None = None

    def read(self) -> EventSummary | None:
        """Read new records; None if no folder has event files."""
        if self._events is None:
            folder = next(filter(has_event_files, self._candidates), None)
            if folder is None:
                return None
            self._events = EventFolder(folder)
        events = self._events
        if not events.read_more() and self._summary is not None:
            return self._summary
        rows = (
            TagRow(name, len(series), series.steps[-1], series.values[-1])
            for name, series in events.series.items()
        )
        self._summary = EventSummary(
            folder=events.path,
            files=len(events.files),
            size_bytes=sum(file.size_bytes for file in events.files),
            tags=tuple(rows),
            points=events.points,
            other_tags=events.other_tags,
            unreadable_records=events.unreadable_records,
            broken_files=tuple(path.name for path in events.broken_files),
        )
        return self._summary


def has_event_files(folder: Path) -> bool:
    return next(find_event_files(folder), None) is not None


def exported_folder(home: Home, run_id: str) -> Path:
    """Folder for exported event files of a run that wrote none."""
    return home.exports / "tensorboard" / run_id


def export_run(
    client: "TrainerClient",
    home: Home,
    run: RunRecord,
    stop: threading.Event,
    on_progress: Callable[[int], None],
) -> tuple[Path, EventFileExport]:
    """Export event files; returns their folder. Replaces those of an earlier export."""
    folder = exported_folder(home, run.run_id)
    create_private_folder(folder)
    export = export_event_file(client, run, folder, stop=stop, on_progress=on_progress)
    for path in tuple(find_event_files(folder)):
        if path != export.path:
            path.unlink(missing_ok=True)
    return folder, export


def folder_of_run(
    client: "TrainerClient",
    home: Home,
    run: RunRecord,
    stop: threading.Event,
    on_progress: Callable[[int], None],
) -> Path:
    """Its own event files, else exported ones, else a new export.

    Raises `UserError` if the run has no data to export.
    """
    manifest = decode_manifest(client.run(run.run_id).manifest_json or b"{}")
    own = home.run(run.run_id).path / (manifest.tensorboard_dir or "")
    if manifest.tensorboard_dir and has_event_files(own):
        return own
    exported = exported_folder(home, run.run_id)
    if has_event_files(exported) and run.ended_at is not None:
        return exported
    return export_run(client, home, run, stop, on_progress)[0]


def check_folder(folder: Path) -> Path:
    """Raises `UserError` unless it is a folder that contains event files."""
    if not folder.is_dir():
        raise UserError(
            f"{folder} is not a folder.", remedy="Select an existing folder.", code="C360"
        )
    if not has_event_files(folder):
        raise UserError(
            f"{folder} has no event files, and neither have its subfolders.",
            remedy="Select the TensorBoard log folder of a run.",
            code="C361",
        )
    return folder
