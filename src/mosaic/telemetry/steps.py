"""Steps on their way into the store: chunks of lines, and spans that lead to an episode's lines."""

import sqlite3
from array import array
from collections.abc import Sequence
from itertools import chain, count
from typing import cast

from mosaic.contract import numbers
from mosaic.contract.decode import decode_head
from mosaic.contract.events import EpisodeEnd, StepColumns, StepHead, StepRecord
from mosaic.telemetry.bulk_insert import BulkInsert
from mosaic.telemetry.chunks import ChunkWriter
from mosaic.telemetry.episodes import EpisodeBook, EpisodeState


class _Span:
    """The lines of one episode within the tail chunk, as runs of neighbouring lines."""

    __slots__ = ("changed", "episode", "first_step", "last_step", "runs")

    def __init__(self, episode: int, first_step: int, last_step: int, runs: list[int]) -> None:
        self.episode = episode
        self.first_step = first_step
        self.last_step = last_step
        self.runs = runs  # start, length, start, length …
        self.changed = True

    def packed_runs(self) -> bytes:
        """The runs in order of their lines; those of several agents come in turns."""
        if len(self.runs) <= 2:  # one, as of nearly all
            return array("H", self.runs).tobytes()
        in_order = sorted(zip(self.runs[::2], self.runs[1::2], strict=True))
        return array("H", chain.from_iterable(in_order)).tobytes()


class _Feed:
    """Consecutive steps of one agent in one episode that have come but are not noted yet.

    Nearly all of a spool is such feeds, few or many of them in turns; noting what they change about
    their episode once, and not at every step, is what makes ingest fast.
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
    """Takes step lines in order of arrival, of any number of interleaved episodes."""

    def __init__(self, connection: sqlite3.Connection, book: EpisodeBook) -> None:
        self._book = book
        self._span_rows = BulkInsert(connection, "INSERT OR REPLACE INTO step_span", columns=5)
        self._chunks = ChunkWriter(connection, "step_chunk")
        self._spans: dict[int, _Span] = {}
        self._feeds: dict[tuple[str, str | None], _Feed] = {}
        self._restore_spans()

    def add(self, step: StepRecord, line: bytes) -> None:
        """Take one step that had to be decoded in full."""
        self.add_all([step], [line])

    def add_all(self, steps: Sequence[StepHead | StepRecord], lines: list[bytes]) -> None:
        """Take steps that follow each other in the spool."""
        start = 0
        while start < len(steps):
            end = start + self._chunks.room
            self._feed(steps[start:end])
            self._extend(lines[start:end])
            start = end

    def add_columns(
        self, events: Sequence[StepColumns | EpisodeEnd], lines: list[bytes]
    ) -> list[EpisodeState]:
        """Take lines that follow each other, each with many steps as columns; their episodes."""
        self._settle()
        episodes: list[EpisodeState] = []
        start = 0
        while start < len(events):
            end = start + self._chunks.fitting(lines, start)
            episodes += map(self._note_columns, events[start:end], count(len(self._chunks.tail)))
            self._extend(lines[start:end])
            start = end
        return episodes

    def flush(self) -> None:
        """Write the tail and its spans; episodes have to be flushed after this."""
        self._settle()
        self._chunks.flush()
        self._write_spans(self._chunks.first_seq)

    def _feed(self, steps: Sequence[StepHead | StepRecord]) -> None:
        feeds = self._feeds
        for position, step in enumerate(steps, len(self._chunks.tail)):
            key = (step.episode_id, step.agent_id)
            feed = feeds.get(key)
            if feed is None or step.step != feed.next_step:
                if feed is not None:
                    self._note(feed)
                episode = self._book.open(step.episode_id)
                feed = feeds[key] = _Feed(episode, step.agent_id, step.step)
            feed.next_step += 1
            reward = step.reward
            feed.reward_sum += reward if reward.__class__ is float else numbers.as_float(reward)
            if feed.end_of_run == position:
                feed.runs[-1] += 1
            else:
                feed.runs += (position, 1)
            feed.end_of_run = position + 1
            if step.terminated:
                feed.terminated = True
            if step.truncated:
                feed.truncated = True

    def _note_columns(self, event: StepColumns | EpisodeEnd, position: int) -> EpisodeState:
        first, last = step_range(event)
        wanted_ordinal = event.episode if isinstance(event, EpisodeEnd) else None
        episode = self._book.open(event.episode_id, wanted_ordinal)
        episode.note_steps(event.agent_id, first, last - first + 1)
        episode.reward_sum += _added_up(event.rewards or ())
        self._place(episode, [position, 1], first, last)
        return episode

    def _extend(self, lines: list[bytes]) -> None:
        sealed = self._chunks.extend(lines)
        if sealed is not None:
            self._settle()
            self._write_spans(sealed)
            self._spans.clear()

    def _settle(self) -> None:
        for feed in self._feeds.values():
            self._note(feed)
        self._feeds.clear()

    def _note(self, feed: _Feed) -> None:
        episode = feed.episode
        episode.note_steps(feed.agent_id, feed.first_step, feed.next_step - feed.first_step)
        episode.reward_sum += feed.reward_sum
        episode.terminated = episode.terminated or feed.terminated
        episode.truncated = episode.truncated or feed.truncated
        self._place(episode, feed.runs, feed.first_step, feed.next_step - 1)

    def _place(
        self, episode: EpisodeState, runs: list[int], first_step: int, last_step: int
    ) -> None:
        """Note that these runs of lines in the tail belong to `episode`; `runs` is given away."""
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
            [(s.episode, chunk, s.first_step, s.last_step, s.packed_runs()) for s in changed]
        )
        for span in changed:
            span.changed = False

    def _restore_spans(self) -> None:
        """The tail's spans again, from its lines, after a restart."""
        for position, line in enumerate(self._chunks.tail):
            event = decode_head(line)
            if not isinstance(event, STEP_LINES):
                raise TypeError(f"a {type(event).__name__} among the steps")
            first, last = step_range(event)
            self._place(self._book.open(event.episode_id), [position, 1], first, last)


STEP_LINES = (StepHead, StepRecord, StepColumns, EpisodeEnd)
"""What may stand among the steps; of `EpisodeEnd` only those that carry columns."""


def step_range(event: StepHead | StepRecord | StepColumns | EpisodeEnd) -> tuple[int, int]:
    """The first and the last step number on a line."""
    if isinstance(event, (StepColumns, EpisodeEnd)):
        first = event.first or 0
        return first, first + len(event.actions or ()) - 1
    return event.step, event.step


def _added_up(rewards: Sequence[float | str]) -> float:
    """Their sum; words such as NaN are rare, and cost only where they are."""
    try:
        return sum(cast("Sequence[float]", rewards))
    except TypeError:
        return sum(map(numbers.as_float, rewards))
