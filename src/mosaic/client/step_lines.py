"""From a chunk of stored lines to steps and metrics, decoded once."""

from collections.abc import Callable

from mosaic.contract.compression import decompress
from mosaic.contract.decode import decode, decode_steps
from mosaic.contract.events import Metric, StepRecord, absolute_time
from mosaic.contract.rpc.trainer_pb2 import LineChunk

_MAX_DECOMPRESSED = 4 << 20


class LineCursor:
    """The lines of chunks, each once: a chunk may begin before what was seen already."""

    def __init__(self, after: int) -> None:
        self.seq = after
        """Of the last line that was handed out."""

    def lines_of(self, chunk: LineChunk) -> list[tuple[int, bytes]]:
        text = decompress(chunk.zstd, _MAX_DECOMPRESSED)
        first = max(chunk.first_seq, self.seq + 1)
        found = list(enumerate(text.split(b"\n")[first - chunk.first_seq :], first))
        self.seq = max(self.seq, chunk.first_seq + chunk.lines - 1)
        return found


class RunClock:
    """Makes times absolute that count from the run's start; asks for the start only then."""

    def __init__(self, started_at: Callable[[], float | None]) -> None:
        self._ask = started_at
        self._started_at: float | None = None

    def absolute(self, t: float) -> float:
        if self._started_at is None and absolute_time(t, 0.0) != absolute_time(t, 1.0):
            self._started_at = self._ask()
        return absolute_time(t, self._started_at)


def steps_on(line: bytes, clock: RunClock) -> list[StepRecord]:
    """The step on a stored line, or all of them when they came as columns."""
    steps = decode_steps(line)
    for step in steps:
        if step.t is not None:
            step.t = clock.absolute(step.t)
    return steps


def metric_on(line: bytes, clock: RunClock) -> Metric | None:
    """The metric on a stored line."""
    event = decode(line)
    if not isinstance(event, Metric):
        return None
    if event.t is not None:
        event.t = clock.absolute(event.t)
    return event
