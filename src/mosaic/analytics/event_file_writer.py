"""EventFileWriter: numbers into an event file that TensorBoard reads, without TensorBoard."""

import os
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from mosaic.analytics.event_messages import scalars_event, version_event
from mosaic.analytics.record_frames import frame


class EventFileWriter:
    """One file in `folder`, which is made. It appears when it is whole: on leaving `with` well."""

    def __init__(self, folder: Path, begun_at: float) -> None:
        """`begun_at`: readers take the files of a folder in the order of this time."""
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{int(begun_at):010d}.{socket.gethostname()}.{os.getpid()}.0"
        self.path = folder / name
        # No reader takes a file for one of events unless the mark is in its name.
        descriptor, temporary = tempfile.mkstemp(prefix=".mosaic-export-", dir=folder)
        self._temporary = Path(temporary)
        self._file = os.fdopen(descriptor, "wb")
        self._file.write(frame(version_event(begun_at)))

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

    def add(self, wall_time: float, step: int, numbers: Mapping[str, float]) -> None:
        self._file.write(frame(scalars_event(wall_time, step, numbers)))
