"""From spool lines to rows: which writer takes a line, and what happens to those that none can."""

import logging
import sqlite3
from collections.abc import Sequence
from typing import cast

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
from mosaic.telemetry.episode_columns import without_columns
from mosaic.telemetry.episodes import EpisodeBook
from mosaic.telemetry.event_log import EventWriter
from mosaic.telemetry.metrics import MetricWriter
from mosaic.telemetry.rejects import RejectsWriter
from mosaic.telemetry.run_start import run_start_time
from mosaic.telemetry.spool import Block, OversizeLine, SpoolReader
from mosaic.telemetry.steps import StepWriter

_log = logging.getLogger(__name__)
_STEP_TYPE = counters.TYPE_PREFIX + tag_of(StepRecord)
_END_TYPE = counters.TYPE_PREFIX + tag_of(EpisodeEnd)
_EPISODE_BOUNDS = (EpisodeStart, EpisodeEnd)


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
        self._book.look_up(
            event.episode_id for event in events if isinstance(event, _EPISODE_BOUNDS)
        )
        position = block.start
        start = 0
        while start < len(lines):
            end = _end_of_run(events, start)
            run = lines[start:end]
            self._take_run(position, events[start:end], run)
            position += sum(map(len, run)) + len(run)
            start = end
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

    def _take_run(
        self, position: int, events: Sequence[AnyEvent | None], lines: list[bytes]
    ) -> None:
        """Take lines that `_end_of_run` puts together."""
        event = events[0]
        if isinstance(event, StepHead):
            self._steps.add_all(cast("Sequence[StepHead]", events), lines)
            self._count_steps(_STEP_TYPE, len(lines), len(lines))
        elif isinstance(event, EpisodeEnd):
            self._take_ends(cast("Sequence[EpisodeEnd]", events), lines)
        else:
            self._take(position, event, lines[0])

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
            self._steps.add_columns([event], [line])
            self._count_steps(_type_counter(event), 1, len(event.actions))
        elif isinstance(event, EpisodeEnd):
            self._take_ends([event], [line])
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
        kind = event.type if isinstance(event, LegacyArtifacts) else tag_of(type(event))
        seq = self._events.add(kind, line)
        self._tally.bump(counters.TYPE_PREFIX + kind)
        if isinstance(event, EpisodeStart):
            self._book.start(event, seq)

    def _take_ends(self, ends: Sequence[EpisodeEnd], lines: list[bytes]) -> None:
        """Take ends of episodes, of which either all or none carry steps."""
        if ends[0].actions:
            episodes = self._steps.add_columns(ends, lines)
            self._count_steps(_END_TYPE, len(ends), sum(len(end.actions or ()) for end in ends))
            lines = list(map(without_columns, lines))
        else:
            episodes = [self._book.open(end.episode_id, end.episode) for end in ends]
            self._tally.bump(_END_TYPE, len(ends))
        first_seq = self._events.add_all(tag_of(EpisodeEnd), lines)
        for seq, (episode, end) in enumerate(zip(episodes, ends, strict=True), first_seq):
            self._book.end(episode, end, seq)

    def _count_steps(self, type_counter: str, lines: int, steps: int) -> None:
        self._tally.bump(type_counter, lines)
        self._tally.bump(counters.STEPS, steps)

    def _reject(self, position: int, kind: RejectKind, reason: str, line: bytes) -> None:
        self._tally.bump(counters.REJECT_PREFIX + kind)
        self._rejects.add(position, kind, reason, line)


def _end_of_run(events: Sequence[AnyEvent | None], start: int) -> int:
    """Up to where events are of a kind that is taken together; of the others each is alone."""
    first = events[start]
    end = start + 1
    if isinstance(first, StepHead):
        while end < len(events) and type(events[end]) is StepHead:
            end += 1
    elif isinstance(first, EpisodeEnd):
        has_steps = bool(first.actions)
        while (
            end < len(events)
            and isinstance(event := events[end], EpisodeEnd)
            and bool(event.actions) == has_steps
        ):
            end += 1
    return end


def _type_counter(event: Event) -> str:
    return counters.TYPE_PREFIX + tag_of(type(event))


def _decode_all(lines: list[bytes], *, is_utf8: bool) -> list[AnyEvent | None]:
    """The event on each line; None for the lines that need a closer look."""
    # What storing does not look at is not decoded: its UTF-8 and depth are checked apart.
    is_shallow = max(map(len, lines), default=0) <= 2 * MAX_NESTING or not any(
        map(line_decoding.nests_too_deeply, lines)
    )
    if is_utf8 and is_shallow:
        try:
            return list(map(line_decoding.decode_head_fast, lines))
        except line_decoding.FAST_ERRORS:
            pass
    events: list[AnyEvent | None] = []
    for line in lines:
        try:
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
