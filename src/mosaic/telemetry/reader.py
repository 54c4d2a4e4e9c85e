"""TelemetryReader: what has been stored of a run. Never blocks the writer.

History and live views read the same way: by episode and step, or from a cursor on. A cursor is the
`seq` of the last line that was read (-1 for none); reading again from there gives what came since.
"""

import os
import sqlite3
from collections.abc import Iterator
from typing import Literal, NamedTuple, Self

from mosaic.contract import numbers
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.layout import RunDirectory
from mosaic.contract.replays import EpisodeDetails, EpisodeRecording
from mosaic.contract.rollups import EpisodeRollup, TelemetryStats
from mosaic.telemetry import counters, database
from mosaic.telemetry.chunks import StoredChunk
from mosaic.telemetry.curve_reader import Axis, Curve, CurveReader, SeriesInfo
from mosaic.telemetry.episodes import STATE_COLUMNS, EpisodeState, state_of_row
from mosaic.telemetry.failures import WORLD_ERRORS, blockage_of
from mosaic.telemetry.line_reader import LineReader, SequencedMetric, SequencedStep
from mosaic.telemetry.recordings import RecordingReader
from mosaic.telemetry.rejects import RejectRecord, read_rejects
from mosaic.telemetry.run_start import run_start_time

_MAX_STEP = (1 << 63) - 1
_ROWS_PER_CALL = 1_000


class RunCounts(NamedTuple):
    """How much is stored of a run."""

    steps: int
    episodes: int
    metrics: int
    rejects: int
    committed_bytes: int


class StoredEvent(NamedTuple):
    """A line that is neither a step nor a metric."""

    seq: int
    type: str
    line: bytes


class TelemetryReader:
    """Reads one run's store. One per thread."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        if not os.path.lexists(run.store):
            raise _nothing_yet(run)
        try:
            self.connection = database.open_for_reading(run.store)
        except database.EmptyStoreError:
            raise _nothing_yet(run) from None
        except WORLD_ERRORS as error:
            raise _unreadable(run, "The store", error) from error
        self._lines = LineReader(self.connection, run_start_time(run))
        self._curves = CurveReader(self.connection)
        self._recordings = RecordingReader(self.connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

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
            spool_bytes=self._run.spool.stat().st_size if self._run.spool.is_file() else 0,
            committed_bytes=values.get(counters.OFFSET, 0),
        )

    def counts(self) -> RunCounts:
        """The numbers that change all the time, without looking at episodes one by one."""
        values = counters.read_counters(self.connection)
        return RunCounts(
            steps=values.get(counters.STEPS, 0),
            episodes=values.get(counters.EPISODES, 0),
            metrics=values.get(counters.METRIC_POINTS, 0),
            rejects=sum(counters.with_prefix(values, counters.REJECT_PREFIX).values()),
            committed_bytes=values.get(counters.OFFSET, 0),
        )

    def episode(self, ordinal: int) -> EpisodeRollup | None:
        """The episode of that run-wide number."""
        return next(iter(self.episodes(ordinal, 1, ordinal)), None)

    def episodes(
        self, first: int = 0, limit: int = _ROWS_PER_CALL, last: int = _MAX_STEP
    ) -> list[EpisodeRollup]:
        """Episodes from number `first` to `last`, in order of starting."""
        return rollups_of(
            self.connection,
            "WHERE ordinal BETWEEN ? AND ? ORDER BY ordinal LIMIT ?",
            first,
            last,
            limit,
        )

    def episodes_after(self, revision: int, limit: int = _ROWS_PER_CALL) -> list[EpisodeRollup]:
        """Episodes that are new or have changed since `revision`, in order of change."""
        return rollups_of(
            self.connection, "WHERE revision > ? ORDER BY revision LIMIT ?", revision, limit
        )

    def steps(self, ordinal: int, first: int = 0, last: int = _MAX_STEP) -> list[StepRecord]:
        """The steps `first` to `last` (included) of an episode, in order of their numbers.

        Steps that came twice are both there; the episode's `duplicate_steps` says so.
        """
        found = self._episode(ordinal)
        return self._lines.steps_of(found[0], first, last) if found else []

    def episode_details(self, ordinal: int) -> EpisodeDetails | None:
        """The episode of that number, with how it began, and whether it can be replayed."""
        found = self._episode(ordinal)
        return self._recordings.details(*found) if found else None

    def recording(self, ordinal: int) -> EpisodeRecording | str | None:
        """All that a replay of the episode needs; or why it cannot be replayed."""
        found = self._episode(ordinal)
        if found is None:
            return None
        # Of an episode that goes on, no more than was there when its state was read.
        steps = self._lines.arrived_steps_of(found[0], 0, found[0].steps - 1)
        return self._recordings.recording(*found, steps)

    def steps_after(self, seq: int, limit_chunks: int = 16) -> list[SequencedStep]:
        """The steps that came after line `seq`, in order of arrival."""
        return self._lines.steps_after(seq, limit_chunks)

    def metrics_after(self, seq: int, limit_chunks: int = 16) -> list[SequencedMetric]:
        """The metrics that came after line `seq`, in order of arrival."""
        return self._lines.metrics_after(seq, limit_chunks)

    def chunks_after(
        self, lane: Literal["step", "metric"], seq: int, limit: int = 16
    ) -> list[StoredChunk]:
        """Chunks as stored, with lines past `seq`; the first one may begin before it."""
        return self._lines.chunks_after(f"{lane}_chunk", seq, limit)

    def newest_chunk(self, lane: Literal["step", "metric"]) -> StoredChunk | None:
        """The last chunk as stored."""
        return self._lines.newest_chunk(f"{lane}_chunk")

    def events_after(
        self, seq: int, kind: str | None = None, limit: int = _ROWS_PER_CALL
    ) -> list[StoredEvent]:
        """All other lines past `seq`, of one `kind` or of any, in order of arrival."""
        rows = self.connection.execute(
            "SELECT seq, type, line FROM event WHERE seq > :seq"
            " AND (:kind IS NULL OR type = :kind) ORDER BY seq LIMIT :limit",
            {"seq": seq, "kind": kind, "limit": limit},
        )
        return [StoredEvent(*row) for row in rows]

    def newest_event(self, kind: str) -> StoredEvent | None:
        """The last line of that kind."""
        row = self.connection.execute(
            "SELECT seq, type, line FROM event WHERE type = ? ORDER BY seq DESC LIMIT 1", (kind,)
        ).fetchone()
        return StoredEvent(*row) if row else None

    def newest_step(self) -> StepRecord | None:
        """The step that came last."""
        return self._lines.newest_step()

    def recent_returns(self, limit: int = 100) -> list[float]:
        """Returns of the finished episodes that started last, newest first."""
        rows = self.connection.execute(
            "SELECT coalesce(reported_return, reward_sum) FROM episode"
            " WHERE end_event IS NOT NULL OR terminated OR truncated"
            " ORDER BY ordinal DESC LIMIT ?",
            (limit,),
        )
        return [numbers.as_float(value) for (value,) in rows]

    def series(self) -> list[SeriesInfo]:
        """The curves there are."""
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
    ) -> Curve:
        """A metric between `first` and `last` on `axis`, in at most `max_points` points."""
        return self._curves.curve(name, agent_id or "", max_points, axis, first, last)

    def rejects(self) -> Iterator[RejectRecord]:
        """The lines that are no events, in order."""
        values = counters.read_counters(self.connection)
        try:
            yield from read_rejects(self._run.rejects, values.get(counters.REJECTS_BYTES, 0))
        except WORLD_ERRORS as error:
            raise _unreadable(self._run, "What was rejected", error) from error

    def _episode(self, ordinal: int) -> tuple[EpisodeState, EpisodeRollup] | None:
        row = self.connection.execute(
            f"SELECT revision, {STATE_COLUMNS} FROM episode WHERE ordinal = ?",  # noqa: S608 - our columns
            (ordinal,),
        ).fetchone()
        if row is None:
            return None
        state = state_of_row(tuple(row[1:]))
        return state, _rollup(row[0], state)


def rollups_of(connection: sqlite3.Connection, which: str, *values: float) -> list[EpisodeRollup]:
    """The episodes that `which` (WHERE … ORDER BY …) picks."""
    rows = connection.execute(
        f"SELECT revision, {STATE_COLUMNS} FROM episode {which}",  # noqa: S608 - our words
        values,
    )
    return [_rollup(revision, state_of_row(tuple(row))) for revision, *row in rows]


def _nothing_yet(run: RunDirectory) -> UserError:
    return UserError(
        f"Nothing has been stored of run {run.run_id} yet.",
        remedy="Wait for its first line, or look at its worker.log.",
        code="T210",
    )


def _unreadable(run: RunDirectory, what: str, error: BaseException) -> UserError:
    blockage = blockage_of(error)
    return UserError(
        f"{what} of run {run.run_id} cannot be read: {blockage.message}.",
        remedy=blockage.remedy,
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
