"""Reads and writes the scalars of TensorBoard's event files, without TensorBoard.

`read_scalars` reads a folder once; an `EventFolder` continues to read files that grow. Both block
on the disk, so the window calls them on threads. `EventFileWriter` writes one file.
"""

import os
import socket
import stat
import tempfile
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from mosaic.analytics.summary_events import (
    NotAnEventError,
    decode_event,
    encode_scalars_event,
    encode_version_event,
)
from mosaic.analytics.tfrecord import decode_records, encode_record
from mosaic.contract.regular_files import open_regular

_NAME_MARKER = ".tfevents."
_SKIPPED_FOLDERS = frozenset({"wandb", "videos", "checkpoints", "reports", "frames"})
_READ_BYTES = 4 << 20
_MAX_FOLDERS = 50_000


@dataclass(slots=True)
class ScalarSeries:
    """One curve, sorted by time."""

    tag: str
    steps: "array[int]" = field(default_factory=lambda: array("q"))
    times: "array[float]" = field(default_factory=lambda: array("d"))
    """Seconds since the epoch."""
    values: "array[float]" = field(default_factory=lambda: array("d"))
    _is_sorted: bool = True

    def __len__(self) -> int:
        return len(self.values)

    def add(self, step: int, wall_time: float, value: float) -> None:
        if self.times and wall_time < self.times[-1]:
            self._is_sorted = False
        self.steps.append(step)
        self.times.append(wall_time)
        self.values.append(value)

    def sort(self) -> None:
        """Sort by time; points with the same time keep their order."""
        if self._is_sorted:
            return
        order = sorted(range(len(self.times)), key=self.times.__getitem__)
        self.steps = array("q", map(self.steps.__getitem__, order))
        self.values = array("d", map(self.values.__getitem__, order))
        self.times = array("d", map(self.times.__getitem__, order))
        self._is_sorted = True


class EventFileInfo(NamedTuple):
    """Path and last known size of an event file."""

    path: Path
    size_bytes: int


@dataclass(slots=True)
class _ReadState:
    """How far a file was read."""

    folder: str
    size_bytes: int = 0
    offset: int = 0
    last_read_size_bytes: int = -1
    """Size at the last read; if it is unchanged, there is nothing new."""
    is_broken: bool = False


class EventFolder:
    """All event files in a folder and its subfolders, read incrementally."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable_records = 0
        """Number of skipped records: damaged, or not events."""
        self._read_states: dict[Path, _ReadState] = {}
        self._series: dict[tuple[str, str], ScalarSeries] = {}
        self._other_tags: set[tuple[str, str]] = set()

    @property
    def files(self) -> tuple[EventFileInfo, ...]:
        """Sorted by name, which starts with the time of creation."""
        files = (EventFileInfo(path, state.size_bytes) for path, state in self._read_states.items())
        return tuple(sorted(files, key=_sort_key))

    @property
    def broken_files(self) -> tuple[Path, ...]:
        """Files that cannot be read any further because of an invalid record."""
        return tuple(path for path, state in self._read_states.items() if state.is_broken)

    @property
    def series(self) -> dict[str, ScalarSeries]:
        """By tag; by folder and tag if several subfolders have the same tag."""
        folders: dict[str, int] = {}
        for _, tag in self._series:
            folders[tag] = folders.get(tag, 0) + 1
        named = {
            (tag if folders[tag] == 1 or not folder else f"{folder}/{tag}"): series
            for (folder, tag), series in self._series.items()
        }
        return dict(sorted(named.items()))

    @property
    def other_tags(self) -> tuple[str, ...]:
        """Tags that only TensorBoard shows: texts, histograms, images."""
        return tuple(sorted({tag for _, tag in self._other_tags}))

    @property
    def points(self) -> int:
        return sum(map(len, self._series.values()))

    def read_more(self) -> int:
        """Read what was written since the last call; return the number of new points."""
        previous = self.points
        self._scan()
        for file in self.files:
            state = self._read_states[file.path]
            if state.size_bytes != state.last_read_size_bytes:
                state.last_read_size_bytes = state.size_bytes
                self._read_file(file.path, state)
        for series in self._series.values():
            series.sort()
        return self.points - previous

    def _scan(self) -> None:
        for path in find_event_files(self.path):
            try:
                status = path.stat()
            except OSError:
                continue  # the file was removed
            if not stat.S_ISREG(status.st_mode):
                continue  # reading a pipe would block
            subfolder = path.parent.relative_to(self.path).as_posix()
            state = self._read_states.setdefault(
                path, _ReadState("" if subfolder == "." else subfolder)
            )
            state.size_bytes = status.st_size

    def _read_file(self, path: Path, state: _ReadState) -> None:
        read_bytes = _READ_BYTES
        while True:
            try:
                descriptor = open_regular(path, follow_links=True)
                with open(descriptor, "rb") as file:  # noqa: PTH123 - opened by descriptor
                    file.seek(state.offset)
                    data = file.read(read_bytes)
            except OSError:
                state.is_broken = path.exists()
                return
            decoded = decode_records(data)
            self.unreadable_records += decoded.damaged
            state.offset += decoded.consumed_bytes
            state.is_broken = decoded.is_broken
            for record in decoded.records:
                self._add_record(record, state.folder)
            if decoded.is_broken or len(data) < read_bytes:
                return
            if not decoded.consumed_bytes:
                read_bytes *= 2  # a larger record, such as an image

    def _add_record(self, record: bytes, folder: str) -> None:
        try:
            event = decode_event(record)
        except NotAnEventError:
            self.unreadable_records += 1
            return
        for tag, number in event.values:
            key = (folder, tag)
            if number is None or key in self._other_tags:
                # TensorFlow writes the type of a tag with its first value only.
                self._other_tags.add(key)
                continue
            series = self._series.get(key)
            if series is None:
                series = self._series[key] = ScalarSeries(tag)
            series.add(event.step, event.wall_time, number)


def read_scalars(folder: Path) -> dict[str, ScalarSeries]:
    """Read all curves of the event files in `folder` and its subfolders, by tag."""
    events = EventFolder(folder)
    events.read_more()
    return events.series


def has_event_files(folder: Path) -> bool:
    """Return whether the folder itself contains event files, not only its subfolders."""
    return any(_NAME_MARKER in path.name for path in folder.iterdir())


def find_event_files(folder: Path) -> Iterator[Path]:
    """Find event files in `folder` and its subfolders, except those with other content.

    The number of folders is limited: a user may choose the root of a disk.
    """
    for parent, folders, names in islice(os.walk(folder), _MAX_FOLDERS):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        yield from (Path(parent) / name for name in sorted(names) if _NAME_MARKER in name)


def _sort_key(file: EventFileInfo) -> tuple[str, str]:
    """Names are `events.out.tfevents.<seconds>.<host>.<pid>.<number>`."""
    return file.path.name, str(file.path)


class EventFileWriter:
    """Writes one file in `folder`, which is created. The file appears when `with` ends normally."""

    def __init__(self, folder: Path, started_at: float) -> None:
        """`started_at` is part of the name: readers sort the files of a folder by it."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(started_at):010d}.{socket.gethostname()}.{os.getpid()}.0"
        self.path = folder / name
        # Without the marker in its name, no reader opens the temporary file.
        descriptor, temporary = tempfile.mkstemp(prefix=".mosaic-export-", dir=folder)
        self._temporary = Path(temporary)
        self._file = os.fdopen(descriptor, "wb")
        self._file.write(encode_record(encode_version_event(started_at)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            self._file.close()
            if kind is None:
                self._temporary.chmod(0o644)
                self._temporary.replace(self.path)
        finally:
            self._temporary.unlink(missing_ok=True)

    def add(self, wall_time: float, step: int, scalars: Mapping[str, float]) -> None:
        self._file.write(encode_record(encode_scalars_event(wall_time, step, scalars)))
