"""TelemetryReader: reads the store of a run. Never blocks the writer.

History and live views read the same way: by episode and step, or from a cursor. A cursor is the
`seq` of the last line that was read (-1 for none); reading from it returns the lines after it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, Self

from mosaic.contract import numbers
from mosaic.contract.episodes import EpisodeDetails, EpisodeRecording, EpisodeRollup, TelemetryStats
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import run_start_time
from mosaic.contract.regular_files import regular_size
from mosaic.telemetry import counters, database
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.curve_reader import Axis, CurveReader, SampledCurve, SeriesInfo
from mosaic.telemetry.episodes import STATE_COLUMNS, EpisodeState, state_from_row
from mosaic.telemetry.errors import (
    PROGRAMMING_ERRORS,
    RETRYABLE_ERRORS,
    fault_from_error,
    report_damage,
)
from mosaic.telemetry.line_reader import LineReader, SequencedMetric, SequencedStep
from mosaic.telemetry.recordings import RecordingReader
from mosaic.telemetry.rejects import RejectRecord, read_rejects

_MAX_STEP = (1 << 63) - 1
_ROWS_PER_CALL = 1_000


class RunCounts(NamedTuple):
    """Numbers of stored items of a run."""

    steps: int
    episodes: int
    metrics: int
    rejects: int
    committed_bytes: int
    mixed_episodes: int = 0
    """Episodes whose id several agents used."""


class StoredEvent(NamedTuple):
    """A stored line that is neither a step nor a metric."""

    seq: int
    type: str
    line: bytes


class TelemetryReader:
    """Reads one run's store. One per thread."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        if not os.path.lexists(run.store):
            raise _empty_store_error(run)
        try:
            with report_damage():
                self.connection = database.open_for_reading(run.store)
        except database.EmptyStoreError:
            raise _empty_store_error(run) from None
        except RETRYABLE_ERRORS as error:
            raise _unreadable_error(run, "The store", error) from error
        self._lines = LineReader(self.connection, run_start_time(run))
        self._curves = CurveReader(self.connection)
        self._recordings = RecordingReader(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def explain_errors(self) -> Iterator[None]:
        """Raise `UserError` if the store cannot be read."""
        try:
            with report_damage():
                yield
        except PROGRAMMING_ERRORS:
            raise
        except RETRYABLE_ERRORS as error:
            raise _unreadable_error(self._run, "The store", error) from error

    def stats(self) -> TelemetryStats:
        values = counters.read_counters(self.connection)
        rejects = counters.with_prefix(values, counters.REJECT_PREFIX)
        duplicates, late = self.connection.execute(
            "SELECT coalesce(sum(duplicate_steps), 0), coalesce(sum(out_of_order_steps), 0)"
            " FROM episode"
        ).fetchone()
        return TelemetryStats(
            steps=values.get(counters.STEPS, 0),
            episodes=values.get(counters.EPISODES, 0),
            metrics=values.get(counters.METRIC_POINTS, 0),
            lines=values.get(counters.LINES, 0),
            blank=values.get(counters.BLANK, 0),
            normalised=values.get(counters.NORMALISED, 0),
            duplicate_steps=duplicates,
            out_of_order_steps=late,
            rejects=sum(rejects.values()),
            rejects_by_kind=rejects,
            types=counters.with_prefix(values, counters.TYPE_PREFIX),
            unknown_types=counters.with_prefix(values, counters.UNKNOWN_PREFIX),
            spool_bytes=regular_size(self._run.spool),
            committed_bytes=values.get(counters.OFFSET, 0),
        )

    def counts(self) -> RunCounts:
        """Return the frequently changing counts, without a scan of the episodes."""
        values = counters.read_counters(self.connection)
        return RunCounts(
            steps=values.get(counters.STEPS, 0),
            episodes=values.get(counters.EPISODES, 0),
            metrics=values.get(counters.METRIC_POINTS, 0),
            rejects=sum(counters.with_prefix(values, counters.REJECT_PREFIX).values()),
            committed_bytes=values.get(counters.OFFSET, 0),
            mixed_episodes=values.get(counters.MIXED_EPISODES, 0),
        )

    def episode(self, ordinal: int) -> EpisodeRollup | None:
        """Return the episode with that number."""
        return next(iter(self.episodes(ordinal, 1, ordinal)), None)

    def episodes(
        self, first: int = 0, limit: int = _ROWS_PER_CALL, last: int = _MAX_STEP
    ) -> list[EpisodeRollup]:
        """Return the episodes from number `first` to `last`, in order."""
        return select_rollups(
            self.connection,
            "WHERE ordinal BETWEEN ? AND ? ORDER BY ordinal LIMIT ?",
            first,
            last,
            limit,
        )

    def episodes_after(self, revision: int, limit: int = _ROWS_PER_CALL) -> list[EpisodeRollup]:
        """Return the episodes that changed after `revision`, in order of change."""
        return select_rollups(
            self.connection, "WHERE revision > ? ORDER BY revision LIMIT ?", revision, limit
        )

    def steps(self, ordinal: int, first: int = 0, last: int = _MAX_STEP) -> list[StepRecord]:
        """Return the steps `first` to `last` (included) of an episode, in order of their numbers.

        Duplicates are all included; the episode's `duplicate_steps` counts them.
        """
        episode = self._episode(ordinal)
        return self._lines.steps_of(episode[0], first, last) if episode else []

    def episode_details(self, ordinal: int) -> EpisodeDetails | None:
        """Return the episode with its start and end lines, and whether it can be replayed."""
        episode = self._episode(ordinal)
        return self._recordings.details(*episode) if episode else None

    def recording(self, ordinal: int) -> EpisodeRecording | str | None:
        """Return the data for a replay of the episode, or the reason why it cannot be replayed."""
        episode = self._episode(ordinal)
        if episode is None:
            return None
        # For a running episode, read only the steps that its state counts.
        steps = self._lines.iter_steps_of(episode[0], 0, episode[0].steps - 1)
        return self._recordings.recording(*episode, steps)

    def steps_after(self, seq: int, limit_chunks: int = 16) -> list[SequencedStep]:
        """Return the steps that arrived after line `seq`, in order of arrival."""
        return self._lines.steps_after(seq, limit_chunks)

    def metrics_after(self, seq: int, limit_chunks: int = 16) -> list[SequencedMetric]:
        """Return the metrics that arrived after line `seq`, in order of arrival."""
        return self._lines.metrics_after(seq, limit_chunks)

    def chunks_after(
        self, kind: Literal["step", "metric"], seq: int, limit: int = 16
    ) -> list[StoredChunk]:
        """Return stored chunks with lines after `seq`; the first may include older lines."""
        return self._lines.chunks_after(f"{kind}_chunk", seq, limit)

    def newest_chunk(self, kind: Literal["step", "metric"]) -> StoredChunk | None:
        """Return the last stored chunk."""
        return self._lines.newest_chunk(f"{kind}_chunk")

    def events_after(
        self, seq: int, kind: str | None = None, limit: int = _ROWS_PER_CALL
    ) -> list[StoredEvent]:
        """Return all other lines after `seq`, of one `kind` or of any, in order of arrival."""
        rows = self.connection.execute(
            "SELECT seq, type, line FROM event WHERE seq > :seq"
            " AND (:kind IS NULL OR type = :kind) ORDER BY seq LIMIT :limit",
            {"seq": seq, "kind": kind, "limit": limit},
        )
        return [StoredEvent(*row) for row in rows]

    def newest_event(self, kind: str) -> StoredEvent | None:
        """Return the last line of that kind."""
        row = self.connection.execute(
            "SELECT seq, type, line FROM event WHERE type = ? ORDER BY seq DESC LIMIT 1", (kind,)
        ).fetchone()
        return StoredEvent(*row) if row else None

    def newest_step(self) -> StepRecord | None:
        """Return the step that arrived last."""
        return self._lines.newest_step()

    def recent_returns(self, limit: int = 100) -> list[float]:
        """Return the returns of the last finished episodes, newest first."""
        rows = self.connection.execute(
            "SELECT coalesce(reported_return, reward_sum) FROM episode"
            " WHERE end_event IS NOT NULL OR terminated OR truncated"
            " ORDER BY ordinal DESC LIMIT ?",
            (limit,),
        )
        return [numbers.as_float(value) for (value,) in rows]

    def series(self) -> list[SeriesInfo]:
        """Return the stored curves."""
        return self._curves.series()

    def curve(
        self,
        name: str,
        *,
        agent_id: str | None = None,
        max_points: int = 2_000,
        axis: Axis = "step",
        first: float | None = None,
        last: float | None = None,
    ) -> SampledCurve:
        """Return a metric between `first` and `last` on `axis`, in at most `max_points` points."""
        return self._curves.curve(name, agent_id or "", max_points, axis, first, last)

    def rejects(self) -> Iterator[RejectRecord]:
        """Iterate over the lines that failed to parse, in order."""
        values = counters.read_counters(self.connection)
        try:
            yield from read_rejects(self._run.rejects, values.get(counters.REJECTS_BYTES, 0))
        except RETRYABLE_ERRORS as error:
            raise _unreadable_error(self._run, "The rejected lines", error) from error

    def _episode(self, ordinal: int) -> tuple[EpisodeState, EpisodeRollup] | None:
        row = self.connection.execute(
            f"SELECT revision, {STATE_COLUMNS} FROM episode WHERE ordinal = ?",  # noqa: S608 - our columns
            (ordinal,),
        ).fetchone()
        if row is None:
            return None
        state = state_from_row(tuple(row[1:]))
        return state, _rollup(row[0], state)


def select_rollups(
    connection: sqlite3.Connection, clauses: str, *values: float
) -> list[EpisodeRollup]:
    """Return the episodes that `clauses` (WHERE … ORDER BY …) select."""
    rows = connection.execute(
        f"SELECT revision, {STATE_COLUMNS} FROM episode {clauses}",  # noqa: S608 - our SQL
        values,
    )
    return [_rollup(revision, state_from_row(tuple(row))) for revision, *row in rows]


def _empty_store_error(run: RunDirectory) -> UserError:
    return UserError(
        f"Run {run.run_id} has no stored telemetry yet.",
        remedy="Wait for its first line, or check its worker.log.",
        code="T210",
    )


def _unreadable_error(run: RunDirectory, what: str, error: BaseException) -> UserError:
    fault = fault_from_error(error)
    return UserError(
        f"{what} of run {run.run_id} cannot be read: {fault.message}.",
        remedy=fault.remedy,
        code="T211",
    )


def _rollup(revision: int, state: EpisodeState) -> EpisodeRollup:
    reported = state.reported_return
    return EpisodeRollup(
        episode=state.ordinal,
        episode_id=state.episode_id,
        revision=revision,
        agent_id=state.agent_id,
        steps=state.steps,
        total_return=state.reward_sum if reported is None else reported,
        is_over=state.end_event is not None or state.terminated or state.truncated,
        terminated=state.terminated,
        truncated=state.truncated,
        duplicate_steps=state.duplicate_steps,
        out_of_order_steps=state.out_of_order_steps,
        reported_steps=state.reported_steps,
        reported_return=reported,
    )
