"""LineIngester: passes each line of the spool to the writer of its type, or rejects it."""

import logging
import os
import sqlite3
import time
from collections.abc import Sequence
from itertools import count, repeat
from pathlib import Path
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
from mosaic.contract.process_records import run_start_time
from mosaic.telemetry import counters
from mosaic.telemetry.counters import Counters
from mosaic.telemetry.curves import MetricWriter
from mosaic.telemetry.database import BulkInsert
from mosaic.telemetry.episodes import EpisodeIndex
from mosaic.telemetry.rejects import RejectsWriter
from mosaic.telemetry.spool import Block, OversizeLine, SpoolReader
from mosaic.telemetry.steps import StepWriter

_log = logging.getLogger(__name__)
_STEP_TYPE = counters.TYPE_PREFIX + tag_of(StepRecord)
_END_TYPE = counters.TYPE_PREFIX + tag_of(EpisodeEnd)
_EPISODE_BOUNDS = (EpisodeStart, EpisodeEnd)
_PATH_FIELDS = {Artifact: ("path",), LegacyArtifacts: ("video", "tensorboard")}
MAX_BLOCK_S = 0.1
_NUMBER_CHARACTERS = b"0123456789-.,"


class LineIngester:
    """Ingests every line of the spool once, in order, inside a transaction."""

    def __init__(self, run: RunDirectory, connection: sqlite3.Connection, counts: Counters) -> None:
        self._run = run
        self._real_directory = os.path.realpath(run.path)
        self._counts = counts
        self._episodes = EpisodeIndex(connection, counts)
        self._steps = StepWriter(connection, self._episodes)
        self._metrics = MetricWriter(connection, counts, run_start_time(run))
        self._events = _EventTableWriter(connection)
        self._rejects = RejectsWriter(run.rejects, counts[counters.REJECTS_BYTES])

    def ingest_block(self, block: Block) -> int:
        """Ingest complete lines or, at the end of a spool, a last line without newline.

        Returns the offset of the next line. After `MAX_BLOCK_S` the rest is left for the next call,
        so that slow lines, such as paths that are compared with the file system, do not delay other
        runs.
        """
        deadline = time.monotonic() + MAX_BLOCK_S
        lines = block.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        events = _decode_all(lines, is_utf8=_is_utf8(block.data))
        self._episodes.prefetch(
            event.episode_id for event in events if isinstance(event, _EPISODE_BOUNDS)
        )
        position = block.start
        start = 0
        while start < len(lines):
            end = _end_of_group(events, start)
            group = lines[start:end]
            self._ingest_group(position, events[start:end], group)
            position += sum(map(len, group)) + len(group)
            start = end
            if time.monotonic() > deadline:
                break
        self._counts.increment(counters.LINES, start)
        return min(position, block.end)  # the last line of a spool may have no newline

    def ingest_oversize(self, line: OversizeLine, spool: SpoolReader) -> None:
        """Reject a line that is longer than the protocol allows."""
        size = line.content_end - line.start
        self._counts.increment(counters.LINES)
        self._counts.increment(counters.REJECT_PREFIX + RejectKind.TOO_LONG)
        self._rejects.add_oversize(line.start, size, f"{size} bytes", spool.beginning(line))

    def flush(self) -> None:
        """Write everything ingested so far to the transaction."""
        self._rejects.flush()
        self._counts[counters.REJECTS_BYTES] = self._rejects.length
        self._steps.flush()
        self._metrics.flush()
        self._events.flush()
        self._episodes.flush()

    def sync(self) -> None:
        """Flush to disk what is not part of the transaction."""
        self._rejects.sync()

    def close(self) -> None:
        self._rejects.close()

    def _ingest_group(
        self, position: int, events: Sequence[AnyEvent | None], lines: list[bytes]
    ) -> None:
        """Ingest consecutive lines that `_end_of_group` grouped."""
        event = events[0]
        if isinstance(event, StepHead):
            self._steps.add_all(cast("Sequence[StepHead]", events), lines)
            self._count_steps(_STEP_TYPE, len(lines), len(lines))
        elif isinstance(event, EpisodeEnd):
            self._ingest_episode_ends(cast("Sequence[EpisodeEnd]", events), lines)
        else:
            self._ingest(position, event, lines[0])

    def _ingest_unusual_line(self, position: int, line: bytes) -> None:
        if not line.strip():
            self._counts.increment(counters.BLANK)
            return
        try:
            event, normalised = line_decoding.decode_slowly(line)
        except RejectedLineError as error:
            self._reject(position, error.kind, error.reason, line)
            return
        if normalised is not line:
            self._counts.increment(counters.NORMALISED)
        self._ingest(position, event, normalised)

    def _ingest(self, position: int, event: AnyEvent | None, line: bytes) -> None:
        if event is None:
            self._ingest_unusual_line(position, line)
        elif isinstance(event, StepRecord):
            self._steps.add(event, line)
            self._count_steps(_STEP_TYPE, 1, 1)
        elif isinstance(event, StepColumns):
            self._steps.add_columns([event], [line])
            self._count_steps(_type_counter(event), 1, len(event.actions))
        elif isinstance(event, EpisodeEnd):
            self._ingest_episode_ends([event], [line])
        elif isinstance(event, Metric):
            self._metrics.add(event, line)
            self._counts.increment(_type_counter(event))
        elif isinstance(event, UnknownEvent):
            self._events.add(event.type, line)
            self._counts.increment_named(counters.UNKNOWN_PREFIX, event.type)
        else:
            self._ingest_event(position, event, line)

    def _ingest_event(self, position: int, event: Event | LegacyArtifacts, line: bytes) -> None:
        if isinstance(event, (Artifact, LegacyArtifacts)):
            try:
                line = _make_paths_relative(self._run.path, self._real_directory, event, line)
            except RejectedLineError as error:
                _log.warning("T203 artifact rejected: %s", error.reason)
                self._reject(position, error.kind, error.reason, line)
                return
        kind = event.type if isinstance(event, LegacyArtifacts) else tag_of(type(event))
        seq = self._events.add(kind, line)
        self._counts.increment(counters.TYPE_PREFIX + kind)
        if isinstance(event, EpisodeStart):
            self._episodes.start(event, seq)

    def _ingest_episode_ends(self, ends: Sequence[EpisodeEnd], lines: list[bytes]) -> None:
        """Ingest ends of episodes, of which either all or none contain steps."""
        if ends[0].actions:
            episodes = self._steps.add_columns(ends, lines)
            self._count_steps(_END_TYPE, len(ends), sum(len(end.actions or ()) for end in ends))
            lines = list(map(remove_columns, lines))
        else:
            episodes = [self._episodes.open(end.episode_id, end.episode) for end in ends]
            self._counts.increment(_END_TYPE, len(ends))
        first_seq = self._events.add_all(tag_of(EpisodeEnd), lines)
        for seq, (episode, end) in enumerate(zip(episodes, ends, strict=True), first_seq):
            self._episodes.end(episode, end, seq)

    def _count_steps(self, type_counter: str, lines: int, steps: int) -> None:
        self._counts.increment(type_counter, lines)
        self._counts.increment(counters.STEPS, steps)

    def _reject(self, position: int, kind: RejectKind, reason: str, line: bytes) -> None:
        self._counts.increment(counters.REJECT_PREFIX + kind)
        self._rejects.add(position, kind, reason, line)


def _end_of_group(events: Sequence[AnyEvent | None], start: int) -> int:
    """Return the end of the group of events that are ingested together; most groups have one."""
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
    """Decode each line; None for lines that need the slow path."""
    # Fields that ingest does not need are not decoded: UTF-8 and depth are checked here.
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
            is_valid = (is_utf8 or _is_utf8(line)) and not line_decoding.nests_too_deeply(line)
            event = line_decoding.decode_head_fast(line) if is_valid else None
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


class _EventTableWriter:
    """Appends rows to the `event` table; `seq` numbers them from 0."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._rows = BulkInsert(connection, "INSERT INTO event", columns=3)
        self._pending: list[tuple[int, str, bytes]] = []
        (self._next_seq,) = connection.execute(
            "SELECT coalesce(max(seq), -1) + 1 FROM event"
        ).fetchone()

    def add(self, kind: str, line: bytes) -> int:
        """Add a line; returns its `seq`."""
        return self.add_all(kind, [line])

    def add_all(self, kind: str, lines: Sequence[bytes]) -> int:
        """Add lines of one type; returns the `seq` of the first."""
        first: int = self._next_seq
        self._next_seq += len(lines)
        self._pending += zip(count(first), repeat(kind), lines, strict=False)
        return first

    def flush(self) -> None:
        self._rows.insert(self._pending)
        self._pending.clear()


def _make_paths_relative(
    run_directory: Path, real_directory: str, event: Artifact | LegacyArtifacts, line: bytes
) -> bytes:
    """Rewrite the line with paths relative to the run's directory, otherwise unchanged.

    Raises `RejectedLineError` for a path outside the directory.
    """
    document = msgspec.json.decode(line)
    changed = False
    for field in _PATH_FIELDS[type(event)]:
        path = document.get(field)
        if isinstance(path, str) and path:
            document[field] = _make_relative(run_directory, real_directory, path)
            changed = changed or document[field] != path
    if not changed:
        return line
    rewritten = msgspec.json.encode(document)
    line_decoding.require_storable(rewritten)
    return rewritten


def _make_relative(run_directory: Path, real_directory: str, path: str) -> str:
    if "\0" in path:
        raise RejectedLineError(RejectKind.ARTIFACT_PATH, "the path contains a NUL byte")
    root = os.path.abspath(run_directory)  # noqa: PTH100 - removes dots, keeps links
    normalised = os.path.normpath(os.path.join(root, path))  # noqa: PTH118 - likewise
    for base, candidate in (
        (root, normalised),
        # A link inside the directory may point outside.
        (real_directory, os.path.realpath(normalised)),
    ):
        if os.path.commonpath((base, candidate)) != base:
            raise RejectedLineError(
                RejectKind.ARTIFACT_PATH, f"{path} is outside the run's directory"
            )
    return os.path.relpath(normalised, root)


def remove_columns(line: bytes) -> bytes:
    """Return an `episode` line without its steps, which are stored among the steps."""
    prefix, _, columns = line.rpartition(b',"actions":[')
    if columns.translate(None, _NUMBER_CHARACTERS) == b']"rewards":[]}' and not (
        b'"actions"' in prefix
        or b'"rewards"' in prefix
        or b'"first"' in prefix
        or b"\\" in prefix  # an escape may hide one of those names
    ):
        return prefix + b"}"  # the SDK's format: two lists of numbers at the end
    # Raw values: an unknown field may contain a number that cannot be decoded.
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    for name in ("first", "actions", "rewards"):
        fields.pop(name, None)
    return msgspec.json.encode(fields)
