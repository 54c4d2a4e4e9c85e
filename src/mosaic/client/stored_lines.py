"""Decodes what the daemon streams: chunks of stored lines into steps and metrics, logs into lines.

Used by `TelemetryApi`.
"""

import codecs
from collections.abc import Callable

from mosaic.contract.compression import decompress
from mosaic.contract.decode import decode, decode_steps
from mosaic.contract.events import Metric, StepRecord, absolute_time
from mosaic.contract.rpc.trainer_pb2 import LineChunk

_MAX_CHUNK_BYTES = 4 << 20
_MAX_LINE_LENGTH = 4 << 20
"""Characters. A longer line is split here, or joining its parts would take quadratic time."""


class LineCursor:
    """Returns each line once: a chunk may start before the last line that was returned."""

    def __init__(self, after: int) -> None:
        self.seq = after
        """Number of the last line that was returned."""

    def read_lines(self, chunk: LineChunk) -> list[tuple[int, bytes]]:
        text = decompress(chunk.zstd, _MAX_CHUNK_BYTES)
        first = max(chunk.first_seq, self.seq + 1)
        lines = list(enumerate(text.split(b"\n")[first - chunk.first_seq :], first))
        self.seq = max(self.seq, chunk.first_seq + chunk.lines - 1)
        return lines


class TimestampConverter:
    """Converts times relative to the start of the run; fetches the start only if needed."""

    def __init__(self, started_at: Callable[[], float | None]) -> None:
        self._fetch_start = started_at
        self._started_at: float | None = None

    def to_absolute(self, t: float) -> float:
        if self._started_at is None and absolute_time(t, 0.0) != absolute_time(t, 1.0):
            self._started_at = self._fetch_start()
        return absolute_time(t, self._started_at)


def decode_stored_steps(line: bytes, clock: TimestampConverter) -> list[StepRecord]:
    """Decode the steps of a stored line: one, or several if they are stored as columns."""
    steps = decode_steps(line)
    for step in steps:
        if step.t is not None:
            step.t = clock.to_absolute(step.t)
    return steps


def decode_metric(line: bytes, clock: TimestampConverter) -> Metric | None:
    """Decode the metric of a stored line; None if it is another event."""
    event = decode(line)
    if not isinstance(event, Metric):
        return None
    if event.t is not None:
        event.t = clock.to_absolute(event.t)
    return event


class LineSplitter:
    """Splits chunks of a log, which may end within a line or a UTF-8 sequence, into lines."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unfinished = ""

    def feed(self, chunk: bytes) -> list[str]:
        """Return the lines that are now complete, without line endings."""
        *lines, self._unfinished = (self._unfinished + self._decoder.decode(chunk)).split("\n")
        while len(self._unfinished) > _MAX_LINE_LENGTH:
            lines.append(self._unfinished[:_MAX_LINE_LENGTH])
            self._unfinished = self._unfinished[_MAX_LINE_LENGTH:]
        return lines

    def flush(self) -> list[str]:
        """Return the incomplete last line, if any, at the end of the log."""
        line = self._unfinished + self._decoder.decode(b"", final=True)
        self._unfinished = ""
        return [line] if line else []
