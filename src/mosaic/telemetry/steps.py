"""Steps on their way into the store: chunks of lines, and spans that lead to an episode's lines."""

import sqlite3
from array import array
from collections.abc import Sequence

from mosaic.contract import numbers
from mosaic.contract.decode import decode
from mosaic.contract.events import StepColumns, StepHead, StepRecord
from mosaic.telemetry.chunks import ChunkWriter
from mosaic.telemetry.episodes import EpisodeBook, EpisodeState


class _Span:
    """The lines of one episode within the tail chunk, as runs of neighbouring lines."""

    __slots__ = ("changed", "episode", "first_step", "last_step", "runs")

    def __init__(self, episode: int, first_step: int) -> None:
        self.episode = episode
        self.first_step = first_step
        self.last_step = first_step
        self.runs: list[int] = []  # start, length, start, length …
        self.changed = True


class StepWriter:
    """Takes step lines in order of arrival, of any number of interleaved episodes."""

    def __init__(self, connection: sqlite3.Connection, book: EpisodeBook) -> None:
        self._connection = connection
        self._book = book
        self._chunks = ChunkWriter(connection, "step_chunk")
        self._spans: dict[int, _Span] = {}
        self._restore_spans()

    def add(self, step: StepRecord, line: bytes) -> None:
        """Take one step that had to be decoded in full."""
        self.add_all([step], [line])

    def add_all(self, steps: Sequence[StepHead | StepRecord], lines: list[bytes]) -> None:
        """Take steps that follow each other in the spool."""
        start = 0
        while start < len(steps):
            end = min(len(steps), start + self._chunks.room)
            offset = len(self._chunks.tail) - start
            taken = start
            while taken < end:
                taken = self._take_run(steps, taken, end, offset)
            sealed = self._chunks.extend(lines[start:end])
            if sealed is not None:
                self._seal(sealed)
            start = end

    def _take_run(
        self, steps: Sequence[StepHead | StepRecord], start: int, limit: int, offset: int
    ) -> int:
        """Note the run of consecutive steps from `start` on, up to `limit`; where it stops.

        The line of `steps[i]` will stand at `i + offset` in the tail. Nearly all of a spool is
        such runs, so what they change about their episode is noted once.
        """
        head = steps[start]
        episode_id, agent_id, first = head.episode_id, head.agent_id, head.step
        expected = first
        rewards = 0.0
        terminated = truncated = False
        for index in range(start, limit):
            step = steps[index]
            if step.step != expected or step.episode_id != episode_id or step.agent_id != agent_id:
                break
            expected += 1
            rewards += numbers.as_float(step.reward)
            if step.terminated:
                terminated = True
            if step.truncated:
                truncated = True
        count = expected - first
        episode = self._book.open(episode_id)
        episode.note_steps(agent_id, first, count)
        episode.reward_sum += rewards
        episode.terminated = episode.terminated or terminated
        episode.truncated = episode.truncated or truncated
        self._place(episode, start + offset, count, first, expected - 1)
        return start + count

    def add_columns(self, event: StepColumns, line: bytes) -> None:
        """Take many steps that came as columns on one line."""
        episode = self._book.open(event.episode_id)
        count = len(event.actions)
        episode.note_steps(event.agent_id, event.first, count)
        episode.reward_sum += sum(map(numbers.as_float, event.rewards))
        self._place(episode, len(self._chunks.tail), 1, event.first, event.first + count - 1)
        sealed = self._chunks.extend([line])
        if sealed is not None:
            self._seal(sealed)

    def flush(self) -> None:
        """Write the tail and its spans; episodes have to be flushed after this."""
        self._chunks.flush()
        self._write_spans(self._chunks.first_seq)

    def _place(
        self, episode: EpisodeState, start: int, lines: int, first_step: int, last_step: int
    ) -> None:
        """Note that `lines` lines of the tail, from `start` on, belong to `episode`."""
        span = self._spans.get(episode.key)
        if span is None:
            span = self._spans[episode.key] = _Span(episode.key, first_step)
        runs = span.runs
        if runs and runs[-2] + runs[-1] == start:
            runs[-1] += lines
        else:
            runs += (start, lines)
        span.changed = True
        if last_step > span.last_step:
            span.last_step = last_step

    def _seal(self, chunk: int) -> None:
        self._write_spans(chunk)
        self._spans.clear()

    def _write_spans(self, chunk: int) -> None:
        changed = [span for span in self._spans.values() if span.changed]
        self._connection.executemany(
            "INSERT OR REPLACE INTO step_span VALUES (?, ?, ?, ?, ?)",
            [
                (s.episode, s.first_step, chunk, s.last_step, array("H", s.runs).tobytes())
                for s in changed
            ],
        )
        for span in changed:
            span.changed = False

    def _restore_spans(self) -> None:
        """The tail's spans again, from its lines, after a restart."""
        for position, line in enumerate(self._chunks.tail):
            event = decode(line)
            if not isinstance(event, (StepRecord, StepColumns)):
                raise TypeError(f"a {type(event).__name__} among the steps")
            first, last = step_range(event)
            self._place(self._book.open(event.episode_id), position, 1, first, last)


def step_range(event: StepHead | StepRecord | StepColumns) -> tuple[int, int]:
    """The first and the last step number on a line."""
    if isinstance(event, StepColumns):
        return event.first, event.first + len(event.actions) - 1
    return event.step, event.step
