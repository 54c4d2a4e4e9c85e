"""Reads lines from chunks: by cursor, or the lines of an episode."""

import sqlite3
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from mosaic.contract import decode as line_decoding
from mosaic.contract.decode import decode_steps
from mosaic.contract.events import Metric, StepRecord, absolute_time
from mosaic.telemetry.chunks import StoredChunk, decompress_lines
from mosaic.telemetry.episodes import EpisodeState
from mosaic.telemetry.steps import STEP_LINES, step_range

_CACHED_CHUNKS = 32
_CHUNKS_PER_CALL = 16


class SequencedStep(NamedTuple):
    """A step and the `seq` of its line."""

    seq: int
    step: StepRecord


class SequencedMetric(NamedTuple):
    """A metric and the `seq` of its line."""

    seq: int
    metric: Metric


class LineReader:
    """Reads the chunk tables of one run."""

    def __init__(self, connection: sqlite3.Connection, run_started: float | None) -> None:
        self._connection = connection
        self._run_started = run_started
        self._cache: OrderedDict[int, list[bytes]] = OrderedDict()

    def chunks_after(self, table: str, seq: int, limit: int) -> list[StoredChunk]:
        """Return up to `limit` chunks with lines after `seq`; the first may include older lines."""
        rows = self._connection.execute(
            f"SELECT first_seq, lines, data FROM {table} WHERE first_seq + lines > :next"  # noqa: S608 - our table
            f" AND first_seq >= coalesce("
            f"  (SELECT max(first_seq) FROM {table} WHERE first_seq <= :next), 0)"
            " ORDER BY first_seq LIMIT :limit",
            {"next": seq + 1, "limit": limit},
        )
        return [StoredChunk(*row) for row in rows]

    def steps_after(self, seq: int, limit_chunks: int = _CHUNKS_PER_CALL) -> list[SequencedStep]:
        """Return the steps on the lines after `seq`, in order of arrival."""
        return [
            SequencedStep(line_seq, step)
            for line_seq, line in self._lines_after("step_chunk", seq, limit_chunks)
            for step in self._steps_on(line)
        ]

    def newest_chunk(self, table: str) -> StoredChunk | None:
        """Return the last chunk, which may still grow."""
        row = self._connection.execute(
            f"SELECT first_seq, lines, data FROM {table} ORDER BY first_seq DESC LIMIT 1"  # noqa: S608 - our table
        ).fetchone()
        return StoredChunk(*row) if row else None

    def newest_step(self) -> StepRecord | None:
        """Return the step that arrived last."""
        chunk = self.newest_chunk("step_chunk")
        return self._steps_on(chunk.split()[-1])[-1] if chunk else None

    def metrics_after(
        self, seq: int, limit_chunks: int = _CHUNKS_PER_CALL
    ) -> list[SequencedMetric]:
        """Return the metrics on the lines after `seq`, in order of arrival."""
        metrics = []
        for line_seq, line in self._lines_after("metric_chunk", seq, limit_chunks):
            event = line_decoding.decode(line)
            if isinstance(event, Metric):
                if event.t is not None:
                    event.t = absolute_time(event.t, self._run_started)
                metrics.append(SequencedMetric(line_seq, event))
        return metrics

    def steps_of(self, episode: EpisodeState, first: int, last: int) -> list[StepRecord]:
        """Return the steps `first` to `last` (included) of an episode, in order of their numbers.

        Duplicates are all included, in order of arrival.
        """
        steps = list(self.iter_steps_of(episode, first, last))
        if not episode.is_in_order:
            steps.sort(key=lambda step: step.step)
        return steps

    def iter_steps_of(self, episode: EpisodeState, first: int, last: int) -> Iterator[StepRecord]:
        """Iterate over the same steps in order of arrival, without loading all into memory."""
        for line in self._lines_of(episode, first, last):
            for step in self._steps_on(line, first, last):
                if first <= step.step <= last:
                    yield step

    def _steps_on(self, line: bytes, first: int = 0, last: int | None = None) -> list[StepRecord]:
        steps = decode_steps(line, first, last)
        for step in steps:
            if step.t is not None:
                step.t = absolute_time(step.t, self._run_started)
        return steps

    def _lines_of(self, episode: EpisodeState, first: int, last: int) -> Iterator[bytes]:
        for chunk, runs in self._spans_of(episode, first, last):
            positions = array("H", runs)
            lines = self._lines(chunk, positions[-2] + positions[-1])
            episode_lines = [
                line
                for start, length in zip(positions[::2], positions[1::2], strict=True)
                for line in lines[start : start + length]
            ]
            yield from (
                _select_range(episode_lines, first, last) if episode.is_in_order else episode_lines
            )

    def _spans_of(self, episode: EpisodeState, first: int, last: int) -> list[tuple[int, bytes]]:
        if not episode.is_in_order:
            return self._connection.execute(
                "SELECT chunk, runs FROM step_span WHERE episode = ? ORDER BY chunk",
                (episode.key,),
            ).fetchall()
        spans = []
        for chunk, last_step, runs in self._connection.execute(
            "SELECT chunk, last_step, runs FROM step_span WHERE episode = ? AND first_step <= ?"
            " ORDER BY first_step DESC",
            (episode.key, last),
        ):
            if last_step < first:
                break
            spans.append((chunk, runs))
        spans.reverse()
        return spans

    def _lines(self, chunk: int, needed: int) -> list[bytes]:
        """Return at least `needed` lines of a chunk; a cached tail may be too short."""
        lines = self._cache.get(chunk)
        if lines is None or len(lines) < needed:
            (data,) = self._connection.execute(
                "SELECT data FROM step_chunk WHERE first_seq = ?", (chunk,)
            ).fetchone()
            lines = self._cache[chunk] = decompress_lines(data)
            if len(self._cache) > _CACHED_CHUNKS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(chunk)
        return lines

    def _lines_after(self, table: str, seq: int, limit: int) -> Iterator[tuple[int, bytes]]:
        for chunk in self.chunks_after(table, seq, limit):
            for line_seq, line in enumerate(decompress_lines(chunk.data), chunk.first_seq):
                if line_seq > seq:
                    yield line_seq, line


def _select_range(lines: list[bytes], first: int, last: int) -> list[bytes]:
    """Select the lines with the steps `first` to `last`; `lines` must be in order."""
    start = bisect_right(lines, first, key=_first_step_on)
    end = bisect_right(lines, last, lo=start, key=_first_step_on)
    return lines[max(start - 1, 0) : end]


def _first_step_on(line: bytes) -> int:
    event = line_decoding.decode_head(line)
    if isinstance(event, STEP_LINES):
        return step_range(event)[0]
    raise TypeError(f"expected a line with steps, got {type(event).__name__}")
