"""StepWriter: stores step lines in chunks, and the spans that locate the lines of an episode."""

import sqlite3
from array import array
from collections.abc import Sequence
from itertools import chain, count
from typing import cast

from mosaic.contract import numbers
from mosaic.contract.decode import decode_head
from mosaic.contract.events import EpisodeEnd, StepColumns, StepHead, StepRecord
from mosaic.telemetry.chunks import ChunkWriter
from mosaic.telemetry.database import BulkInsert
from mosaic.telemetry.episodes import EpisodeIndex, EpisodeState


class _Span:
    """The lines of one episode in the tail chunk, as runs of consecutive lines."""

    __slots__ = ("changed", "episode", "first_step", "last_step", "runs")

    def __init__(self, episode: int, first_step: int, last_step: int, runs: list[int]) -> None:
        self.episode = episode
        self.first_step = first_step
        self.last_step = last_step
        self.runs = runs  # start, length, start, length …
        self.changed = True

    def pack_runs(self) -> bytes:
        """Encode the runs in order of their lines; those of several agents alternate."""
        if len(self.runs) <= 2:  # a single run, the usual case
            return array("H", self.runs).tobytes()
        in_order = sorted(zip(self.runs[::2], self.runs[1::2], strict=True))
        return array("H", chain.from_iterable(in_order)).tobytes()


class _PendingSteps:
    """Consecutive steps of one agent in one episode that are not recorded in the episode yet.

    Most lines of a spool form such sequences. Updating the episode once per sequence, not once per
    step, makes ingest fast.
    """

    __slots__ = (
        "agent_id",
        "end_of_run",
        "episode",
        "first_step",
        "next_step",
        "reward_sum",
        "runs",
        "terminated",
        "truncated",
    )

    def __init__(self, episode: EpisodeState, agent_id: str | None, first_step: int) -> None:
        self.episode = episode
        self.agent_id = agent_id
        self.first_step = self.next_step = first_step
        self.reward_sum = 0.0
        self.terminated = self.truncated = False
        self.runs: list[int] = []
        self.end_of_run = -1


class StepWriter:
    """Stores step lines in order of arrival, of any number of interleaved episodes."""

    def __init__(self, connection: sqlite3.Connection, episodes: EpisodeIndex) -> None:
        self._episodes = episodes
        self._span_rows = BulkInsert(connection, "INSERT OR REPLACE INTO step_span", columns=5)
        self._chunks = ChunkWriter(connection, "step_chunk")
        self._spans: dict[int, _Span] = {}
        self._pending: dict[tuple[str, str | None], _PendingSteps] = {}
        self._restore_spans()

    def add(self, step: StepRecord, line: bytes) -> None:
        """Add one step that took the slow path."""
        self.add_all([step], [line])

    def add_all(self, steps: Sequence[StepHead | StepRecord], lines: list[bytes]) -> None:
        """Add consecutive steps of the spool."""
        start = 0
        while start < len(steps):
            end = start + self._chunks.free_lines
            self._collect(steps[start:end])
            self._extend(lines[start:end])
            start = end

    def add_columns(
        self, events: Sequence[StepColumns | EpisodeEnd], lines: list[bytes]
    ) -> list[EpisodeState]:
        """Add consecutive lines with steps as columns; returns their episodes."""
        self._flush_pending()
        states: list[EpisodeState] = []
        start = 0
        while start < len(events):
            end = start + self._chunks.count_fitting(lines, start)
            states += map(self._record_columns, events[start:end], count(len(self._chunks.tail)))
            self._extend(lines[start:end])
            start = end
        return states

    def flush(self) -> None:
        """Write the tail and its spans. Flush the episodes after this."""
        self._flush_pending()
        self._chunks.flush()
        self._write_spans(self._chunks.first_seq)

    def _collect(self, steps: Sequence[StepHead | StepRecord]) -> None:
        pending = self._pending
        for position, step in enumerate(steps, len(self._chunks.tail)):
            key = (step.episode_id, step.agent_id)
            sequence = pending.get(key)
            if sequence is None or step.step != sequence.next_step:
                if sequence is not None:
                    self._record(sequence)
                episode = self._episodes.open(step.episode_id)
                sequence = pending[key] = _PendingSteps(episode, step.agent_id, step.step)
            sequence.next_step += 1
            reward = step.reward
            sequence.reward_sum += reward if reward.__class__ is float else numbers.as_float(reward)
            if sequence.end_of_run == position:
                sequence.runs[-1] += 1
            else:
                sequence.runs += (position, 1)
            sequence.end_of_run = position + 1
            if step.terminated:
                sequence.terminated = True
            if step.truncated:
                sequence.truncated = True

    def _record_columns(self, event: StepColumns | EpisodeEnd, position: int) -> EpisodeState:
        first, last = step_range(event)
        requested_ordinal = event.episode if isinstance(event, EpisodeEnd) else None
        episode = self._episodes.open(event.episode_id, requested_ordinal)
        episode.record_steps(event.agent_id, first, last - first + 1)
        episode.reward_sum += _sum_rewards(event.rewards or ())
        self._add_to_span(episode, [position, 1], first, last)
        return episode

    def _extend(self, lines: list[bytes]) -> None:
        sealed = self._chunks.extend(lines)
        if sealed is not None:
            self._flush_pending()
            self._write_spans(sealed)
            self._spans.clear()

    def _flush_pending(self) -> None:
        for sequence in self._pending.values():
            self._record(sequence)
        self._pending.clear()

    def _record(self, sequence: _PendingSteps) -> None:
        episode = sequence.episode
        episode.record_steps(
            sequence.agent_id, sequence.first_step, sequence.next_step - sequence.first_step
        )
        episode.reward_sum += sequence.reward_sum
        episode.terminated = episode.terminated or sequence.terminated
        episode.truncated = episode.truncated or sequence.truncated
        self._add_to_span(episode, sequence.runs, sequence.first_step, sequence.next_step - 1)

    def _add_to_span(
        self, episode: EpisodeState, runs: list[int], first_step: int, last_step: int
    ) -> None:
        """Add runs of lines in the tail to the span of `episode`; takes ownership of `runs`."""
        span = self._spans.get(episode.key)
        if span is None:
            self._spans[episode.key] = _Span(episode.key, first_step, last_step, runs)
            return
        if span.runs[-2] + span.runs[-1] == runs[0]:
            span.runs[-1] += runs[1]
            runs = runs[2:]
        span.runs += runs
        span.changed = True
        span.last_step = max(span.last_step, last_step)

    def _write_spans(self, chunk: int) -> None:
        changed = [span for span in self._spans.values() if span.changed]
        self._span_rows.insert(
            [(s.episode, chunk, s.first_step, s.last_step, s.pack_runs()) for s in changed]
        )
        for span in changed:
            span.changed = False

    def _restore_spans(self) -> None:
        """Rebuild the spans of the tail from its lines, after a restart."""
        for position, line in enumerate(self._chunks.tail):
            event = decode_head(line)
            if not isinstance(event, STEP_LINES):
                raise TypeError(f"expected a line with steps, got {type(event).__name__}")
            first, last = step_range(event)
            self._add_to_span(self._episodes.open(event.episode_id), [position, 1], first, last)


STEP_LINES = (StepHead, StepRecord, StepColumns, EpisodeEnd)
"""Events that are stored among the steps; `EpisodeEnd` only with columns."""


def step_range(event: StepHead | StepRecord | StepColumns | EpisodeEnd) -> tuple[int, int]:
    """Return the first and the last step number on a line."""
    if isinstance(event, (StepColumns, EpisodeEnd)):
        first = event.first or 0
        return first, first + len(event.actions or ()) - 1
    return event.step, event.step


def _sum_rewards(rewards: Sequence[float | str]) -> float:
    """Sum the rewards; the slow path is only for strings such as "NaN"."""
    try:
        return sum(cast("Sequence[float]", rewards))
    except TypeError:
        return sum(map(numbers.as_float, rewards))
