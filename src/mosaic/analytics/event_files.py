"""The numbers in TensorBoard's event files, without TensorBoard, also while they are written.

`scalars` reads a folder once; an `EventFolder` is kept to read on. Both wait for the disk, so the
window calls them on threads.
"""

import os
import stat
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mosaic.analytics.event_messages import Event, NotAnEventError, read_event
from mosaic.analytics.record_frames import split_frames

_MARK = ".tfevents."
_NOT_LOOKED_INTO = frozenset({"wandb", "videos", "checkpoints", "reports", "frames"})
_BYTES_AT_A_TIME = 4 << 20
_MOST_FOLDERS = 50_000


@dataclass(slots=True)
class ScalarSeries:
    """One curve, in the order of time."""

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

    def put_in_order(self) -> None:
        """Points of one time stay as they came."""
        if self._is_sorted:
            return
        order = sorted(range(len(self.times)), key=self.times.__getitem__)
        self.steps = array("q", map(self.steps.__getitem__, order))
        self.values = array("d", map(self.values.__getitem__, order))
        self.times = array("d", map(self.times.__getitem__, order))
        self._is_sorted = True


class EventFile(NamedTuple):
    """One file, as it was when it was last looked at."""

    path: Path
    size_bytes: int


@dataclass(slots=True)
class _Reading:
    """How far a file was read."""

    folder: str
    size_bytes: int = 0
    offset: int = 0
    looked_at_bytes: int = -1
    """The size it had when it was last read; the same again says that there is nothing new."""
    is_broken: bool = False


class EventFolder:
    """All event files in a folder and below, each read on from where it was left."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable_records = 0
        """Those that were passed over: damaged, or not what an event file holds."""
        self._readings: dict[Path, _Reading] = {}
        self._series: dict[tuple[str, str], ScalarSeries] = {}
        self._others: set[tuple[str, str]] = set()

    @property
    def files(self) -> tuple[EventFile, ...]:
        """By their names, which begin with the time at which they were begun."""
        found = (EventFile(path, each.size_bytes) for path, each in self._readings.items())
        return tuple(sorted(found, key=_begun))

    @property
    def broken_files(self) -> tuple[Path, ...]:
        """Files of which nothing more can be read, since the rest is no record."""
        return tuple(path for path, each in self._readings.items() if each.is_broken)

    @property
    def series(self) -> dict[str, ScalarSeries]:
        """By tag; where several runs below have the same one, by their folder and the tag."""
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
        """What only TensorBoard shows: texts, histograms, pictures."""
        return tuple(sorted({tag for _, tag in self._others}))

    @property
    def points(self) -> int:
        return sum(map(len, self._series.values()))

    def read_more(self) -> int:
        """Read what was written since the last call; how many points that were."""
        before = self.points
        self._look()
        for file in self.files:
            reading = self._readings[file.path]
            if reading.size_bytes != reading.looked_at_bytes:
                reading.looked_at_bytes = reading.size_bytes
                self._read_on(file.path, reading)
        for series in self._series.values():
            series.put_in_order()
        return self.points - before

    def _look(self) -> None:
        for path in find_event_files(self.path):
            try:
                state = path.stat()
            except OSError:
                continue  # it was removed meanwhile
            if not stat.S_ISREG(state.st_mode):
                continue  # a pipe of that name would be waited for
            below = path.parent.relative_to(self.path).as_posix()
            reading = self._readings.setdefault(path, _Reading("" if below == "." else below))
            reading.size_bytes = state.st_size

    def _read_on(self, path: Path, reading: _Reading) -> None:
        wanted = _BYTES_AT_A_TIME
        while True:
            try:
                with path.open("rb") as file:
                    file.seek(reading.offset)
                    data = file.read(wanted)
            except OSError:
                reading.is_broken = path.exists()
                return
            frames = split_frames(data)
            self.unreadable_records += frames.damaged
            reading.offset += frames.taken
            reading.is_broken = frames.is_broken
            for content in frames.contents:
                self._take(content, reading.folder)
            if frames.is_broken or len(data) < wanted:
                return
            if not frames.taken:
                wanted *= 2  # a picture, say, that is larger than that

    def _take(self, content: bytes, folder: str) -> None:
        try:
            event: Event = read_event(content)
        except NotAnEventError:
            self.unreadable_records += 1
            return
        for tag, number in event.said:
            place = (folder, tag)
            if number is None or place in self._others:
                # TensorFlow says what a tag is with its first value only.
                self._others.add(place)
                continue
            series = self._series.get(place)
            if series is None:
                series = self._series[place] = ScalarSeries(tag)
            series.add(event.step, event.wall_time, number)


def scalars(folder: Path) -> dict[str, ScalarSeries]:
    """All curves of the event files in `folder` and below, by tag."""
    events = EventFolder(folder)
    events.read_more()
    return events.series


def has_event_files_itself(folder: Path) -> bool:
    """Not only in folders below."""
    return any(_MARK in path.name for path in folder.iterdir())


def find_event_files(folder: Path) -> Iterator[Path]:
    """Those in `folder` and below. Folders that hold something else are not looked into.

    The search has an end: somebody may have chosen the root of a disk.
    """
    for below, folders, names in islice(os.walk(folder), _MOST_FOLDERS):
        folders[:] = sorted(name for name in folders if name not in _NOT_LOOKED_INTO)
        yield from (Path(below) / name for name in sorted(names) if _MARK in name)


def _begun(file: EventFile) -> tuple[str, str]:
    """`events.out.tfevents.<seconds>.<host>.<pid>.<number>`."""
    return file.path.name, str(file.path)
