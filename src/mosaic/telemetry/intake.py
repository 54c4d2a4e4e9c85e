"""From spool lines to rows: which writer takes a line, and what happens to those that none can."""

import logging
import sqlite3
from typing import cast

import msgspec

from mosaic.contract import decode as line_decoding
from mosaic.contract.decode import AnyEvent, RejectedLineError, RejectKind
from mosaic.contract.events import (
    MAX_NESTING,
    Artifact,
    EpisodeEnd,
    EpisodeStart,
    Event,
    LegacyArtifacts,
    Metric,
    StepColumns,
    StepHead,
    StepRecord,
    UnknownEvent,
    tag_of,
)
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import counters
from mosaic.telemetry.artifact_paths import with_relative_paths
from mosaic.telemetry.counters import Counters
from mosaic.telemetry.episodes import EpisodeBook
from mosaic.telemetry.event_log import EventWriter
from mosaic.telemetry.metrics import MetricWriter
from mosaic.telemetry.rejects import RejectsWriter
from mosaic.telemetry.run_start import run_start_time
from mosaic.telemetry.spool import Block, OversizeLine, SpoolReader
from mosaic.telemetry.steps import StepWriter

_log = logging.getLogger(__name__)
_STEP_TYPE = counters.TYPE_PREFIX + tag_of(StepRecord)


class LineIntake:
    """Every line of the spool passes through here once, in order, inside a transaction."""

    def __init__(self, run: RunDirectory, connection: sqlite3.Connection, tally: Counters) -> None:
        self._run = run
        self._tally = tally
        self._book = EpisodeBook(connection, tally)
        self._steps = StepWriter(connection, self._book)
        self._metrics = MetricWriter(connection, tally, run_start_time(run))
        self._events = EventWriter(connection)
        self._rejects = RejectsWriter(run.rejects, tally[counters.REJECTS_BYTES])

    def take_block(self, block: Block) -> None:
        """Take whole lines, or, at the very end, one that lacks its newline."""
        lines = block.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        events = _decode_all(lines, is_utf8=_is_utf8(block.data))
        position = block.start
        start = 0
        while start < len(lines):
            end = start
            while end < len(lines) and type(events[end]) is StepHead:
                end += 1
            if end > start:
                step_lines = lines[start:end]
                self._steps.add_all(cast("list[StepHead]", events[start:end]), step_lines)
                self._count_steps(_STEP_TYPE, end - start, end - start)
                position += sum(map(len, step_lines)) + len(step_lines)
            if end < len(lines):
                self._take(position, events[end], lines[end])
                position += len(lines[end]) + 1
            start = end + 1
        self._tally.bump(counters.LINES, len(lines))

    def take_oversize(self, line: OversizeLine, spool: SpoolReader) -> None:
        """Keep a line aside that is longer than the protocol allows."""
        size = line.content_end - line.start
        self._tally.bump(counters.LINES)
        self._tally.bump(counters.REJECT_PREFIX + RejectKind.TOO_LONG)
        self._rejects.add_oversize(
            line.start, size, f"{size} bytes", spool.pieces(line.start, line.content_end)
        )

    def flush(self) -> None:
        """Bring everything taken so far into the transaction."""
        self._rejects.flush()
        self._tally[counters.REJECTS_BYTES] = self._rejects.length
        self._steps.flush()
        self._metrics.flush()
        self._events.flush()
        self._book.flush()

    def close(self) -> None:
        self._rejects.close()

    def _take_odd_line(self, position: int, line: bytes) -> None:
        if not line.strip():
            self._tally.bump(counters.BLANK)
            return
        try:
            event, kept = line_decoding.decode_slowly(line)
        except RejectedLineError as error:
            self._reject(position, error.kind, error.reason, line)
            return
        if kept is not line:
            self._tally.bump(counters.NORMALISED)
        self._take(position, event, kept)

    def _take(self, position: int, event: AnyEvent | None, line: bytes) -> None:
        if event is None:
            self._take_odd_line(position, line)
        elif isinstance(event, StepRecord):
            self._steps.add(event, line)
            self._count_steps(_STEP_TYPE, 1, 1)
        elif isinstance(event, StepColumns):
            self._steps.add_columns(event, line)
            self._count_steps(_type_counter(event), 1, len(event.actions))
        elif isinstance(event, Metric):
            self._metrics.add(event, line)
            self._tally.bump(_type_counter(event))
        elif isinstance(event, UnknownEvent):
            self._events.add(event.type, line)
            self._tally.bump_open_ended(counters.UNKNOWN_PREFIX, event.type)
        else:
            self._take_event(position, event, line)

    def _take_event(self, position: int, event: Event | LegacyArtifacts, line: bytes) -> None:
        if isinstance(event, (Artifact, LegacyArtifacts)):
            try:
                line = with_relative_paths(self._run.path, event, line)
            except RejectedLineError as error:
                _log.warning("T203 artifact refused: %s", error.reason)
                self._reject(position, error.kind, error.reason, line)
                return
        if isinstance(event, EpisodeEnd) and event.actions:
            self._steps.add_columns(event, line)
            self._tally.bump(counters.STEPS, len(event.actions))
            line = _without_columns(line)
        kind = event.type if isinstance(event, LegacyArtifacts) else tag_of(type(event))
        seq = self._events.add(kind, line)
        self._tally.bump(counters.TYPE_PREFIX + kind)
        if isinstance(event, EpisodeStart):
            self._book.start(event, seq)
        elif isinstance(event, EpisodeEnd):
            self._book.end(event, seq)

    def _count_steps(self, type_counter: str, lines: int, steps: int) -> None:
        if lines:
            self._tally.bump(type_counter, lines)
            self._tally.bump(counters.STEPS, steps)

    def _reject(self, position: int, kind: RejectKind, reason: str, line: bytes) -> None:
        self._tally.bump(counters.REJECT_PREFIX + kind)
        self._rejects.add(position, kind, reason, line)


def _without_columns(line: bytes) -> bytes:
    """The end of an episode without its steps, which are kept among the steps."""
    # Only taken apart: in a field that nobody knows, a number may be beyond what can be decoded.
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    for name in ("first", "actions", "rewards"):
        fields.pop(name, None)
    return msgspec.json.encode(fields)


def _type_counter(event: Event) -> str:
    return counters.TYPE_PREFIX + tag_of(type(event))


def _decode_all(lines: list[bytes], *, is_utf8: bool) -> list[AnyEvent | None]:
    """The event on each line; None for the lines that need a closer look."""
    is_plain = is_utf8 and max(map(len, lines), default=0) <= 2 * MAX_NESTING
    if is_plain:
        try:
            return list(map(line_decoding.decode_head_fast, lines))
        except line_decoding.FAST_ERRORS:
            pass
    events: list[AnyEvent | None] = []
    for line in lines:
        try:
            # What storing does not look at is not decoded: its UTF-8 and depth are checked apart.
            is_sound = (is_utf8 or _is_utf8(line)) and not line_decoding.nests_too_deeply(line)
            event = line_decoding.decode_head_fast(line) if is_sound else None
        except line_decoding.FAST_ERRORS:
            event = None
        events.append(event)
    return events


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
