"""Follows the TensorBoard event files of a run while they are written.

TensorBoard's writer hands over what it has every two minutes, so points come in batches.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.event_records import (
    BrokenRecordError,
    read_event,
    split_records,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cleanrl_worker.upstream.event_records import EventPoint, EventText

_MARK = ".tfevents."
_NOT_LOOKED_INTO = frozenset({"wandb", "videos", "checkpoints", "reports"})
_BYTES_AT_A_TIME = 4 << 20


class EventFiles:
    """All event files below a run's directory, each read from where it was left."""

    def __init__(self, directory: Path) -> None:
        self.broken = ""
        """Why a file could not be read on; empty while all can."""
        self._directory = directory
        self._offsets: dict[Path, int] = {}
        self._given_up: set[Path] = set()

    @property
    def paths(self) -> list[Path]:
        """Those that were found, in the order of their appearance."""
        return list(self._offsets)

    def look(self) -> None:
        """Find files that are new."""
        for folder, below, names in os.walk(self._directory):
            below[:] = [name for name in below if name not in _NOT_LOOKED_INTO]
            for name in names:
                if _MARK in name:
                    self._offsets.setdefault(Path(folder) / name, 0)

    def read_new(self) -> Iterator[EventPoint | EventText]:
        """What was written since the last call."""
        for path in self.paths:
            if path not in self._given_up:
                yield from self._read_on(path)

    def _read_on(self, path: Path) -> Iterator[EventPoint | EventText]:
        wanted = _BYTES_AT_A_TIME
        while True:
            try:
                with path.open("rb") as file:
                    file.seek(self._offsets[path])
                    data = file.read(wanted)
                records, taken = split_records(data)
                self._offsets[path] += taken
                for record in records:
                    yield from read_event(record)
            except FileNotFoundError:
                return
            except (OSError, BrokenRecordError) as error:
                self._given_up.add(path)
                self.broken = f"{path.name} cannot be read on: {error}"
                return
            if not taken and len(data) < wanted:
                return
            if not taken:
                wanted *= 2  # a picture, say, that is larger than that
