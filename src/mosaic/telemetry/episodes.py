"""What is known of each episode while its lines come in, and the row it becomes."""

import math
import sqlite3
from collections.abc import Iterator
from typing import Any

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import EpisodeEnd, EpisodeStart
from mosaic.telemetry import counters

_MAX_CACHED = 2_048
STATE_COLUMNS = (
    "key, ordinal, episode_id, agent_id, start_event, end_event, steps, reward_sum, seen, "
    "terminated, truncated, duplicate_steps, out_of_order_steps, reported_steps, reported_return"
)

_SEEN = STATE_COLUMNS.split(", ").index("seen")


class SeenSteps(msgspec.Struct, array_like=True):
    """Which step numbers of one agent have come: `first` to `last`, whole unless `has_gaps`."""

    first: int
    last: int
    has_gaps: bool = False


class EpisodeState(msgspec.Struct):
    """An episode as far as its lines have come."""

    key: int
    ordinal: int
    episode_id: str
    agent_id: str | None = None
    start_event: int | None = None
    end_event: int | None = None
    steps: int = 0
    reward_sum: float = 0.0
    seen: dict[str, SeenSteps] = {}
    terminated: bool = False
    truncated: bool = False
    duplicate_steps: int = 0
    out_of_order_steps: int = 0
    reported_steps: int | None = None
    reported_return: float | None = None

    @property
    def is_in_order(self) -> bool:
        """Whether its steps came one agent's, each above the last."""
        return not self.duplicate_steps and not self.out_of_order_steps and len(self.seen) <= 1

    def note_steps(self, agent_id: str | None, first: int, count: int) -> None:
        """Steps `first`, `first` + 1 … have come; repeated and late ones are counted."""
        self.steps += count
        last = first + count - 1
        seen = self.seen.get(agent_id or "")
        if seen is None:
            self.seen[agent_id or ""] = SeenSteps(first, last)
        elif first > seen.last:
            seen.has_gaps = seen.has_gaps or first > seen.last + 1
            seen.last = last
        else:
            self._note_repeated(seen, first, last)

    def _note_repeated(self, seen: SeenSteps, first: int, last: int) -> None:
        repeated = min(last, seen.last) - first + 1
        is_known = first in (seen.first, seen.last)
        certain = is_known or (first >= seen.first and not seen.has_gaps)
        if certain:
            self.duplicate_steps += repeated
        else:
            self.out_of_order_steps += repeated
            seen.has_gaps = True
        seen.first = min(seen.first, first)
        seen.last = max(seen.last, last)

    def as_row(self) -> tuple[object, ...]:
        return (
            self.ordinal,
            self.agent_id,
            self.start_event,
            self.end_event,
            self.steps,
            sql_real(self.reward_sum),
            msgspec.json.encode(self.seen),
            self.terminated,
            self.truncated,
            self.duplicate_steps,
            self.out_of_order_steps,
            self.reported_steps,
            sql_real(self.reported_return),
        )


class EpisodeBook:
    """The episodes that lines are coming in for. Bounded: the rest is read back when needed.

    A new one gets its row at `flush`, where short ones are complete already; until then it is
    among the cached.
    """

    def __init__(self, connection: sqlite3.Connection, tally: counters.Counters) -> None:
        self._connection = connection
        self._tally = tally
        self._cached: dict[str, EpisodeState] = {}
        self._dirty: dict[int, EpisodeState] = {}
        self._new_ordinals: set[int] = set()
        """Of episodes without a row."""
        next_key, next_ordinal, revision = connection.execute(
            "SELECT coalesce(max(key), 0) + 1, coalesce(max(ordinal), -1) + 1,"
            " coalesce(max(revision), 0) FROM episode"
        ).fetchone()
        self._first_new_key = self._next_key = int(next_key)
        self._next_ordinal: int = next_ordinal
        self._revision: int = revision

    def open(self, episode_id: str, wanted_ordinal: int | None = None) -> EpisodeState:
        """The episode of that id, made when there is none; it will be written at `flush`."""
        state = self._cached.get(episode_id) or self._load(episode_id)
        if state is None:
            state = self._create(episode_id, wanted_ordinal)
        elif wanted_ordinal is not None and wanted_ordinal != state.ordinal:
            self._renumber(state, wanted_ordinal)
        self._cached[episode_id] = state
        self._dirty[state.key] = state
        return state

    def start(self, event: EpisodeStart, seq: int) -> None:
        state = self.open(event.episode_id, event.episode)
        state.start_event = seq
        state.agent_id = state.agent_id or event.agent_id

    def end(self, event: EpisodeEnd, seq: int) -> None:
        state = self.open(event.episode_id, event.episode)
        state.end_event = seq
        state.agent_id = state.agent_id or event.agent_id
        state.reported_steps = event.steps
        state.reported_return = numbers.as_float(event.total_return)
        state.terminated = state.terminated or bool(event.terminated)
        state.truncated = state.truncated or bool(event.truncated)

    def flush(self) -> None:
        """Write what changed, and let go of what is over."""
        self._connection.executemany(
            "INSERT INTO episode VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self._new_rows(),
        )
        self._connection.executemany(
            "UPDATE episode SET revision = ?, ordinal = ?, agent_id = ?, start_event = ?,"
            " end_event = ?, steps = ?, reward_sum = ?, seen = ?, terminated = ?, truncated = ?,"
            " duplicate_steps = ?, out_of_order_steps = ?, reported_steps = ?,"
            " reported_return = ? WHERE key = ?",
            self._changed_rows(),
        )
        for state in self._dirty.values():
            if state.end_event is not None:
                del self._cached[state.episode_id]
        self._dirty.clear()
        self._new_ordinals.clear()
        self._first_new_key = self._next_key
        while len(self._cached) > _MAX_CACHED:
            del self._cached[next(iter(self._cached))]

    def _new_rows(self) -> Iterator[tuple[object, ...]]:
        for state in self._dirty.values():
            if self._is_new(state):
                self._revision += 1
                ordinal, *rest = state.as_row()
                yield (state.key, ordinal, state.episode_id, self._revision, *rest)

    def _changed_rows(self) -> Iterator[tuple[object, ...]]:
        for state in self._dirty.values():
            if not self._is_new(state):
                self._revision += 1
                yield (self._revision, *state.as_row(), state.key)

    def _is_new(self, state: EpisodeState) -> bool:
        """Whether it has no row yet."""
        return state.key >= self._first_new_key

    def _load(self, episode_id: str) -> EpisodeState | None:
        row = self._connection.execute(
            f"SELECT {STATE_COLUMNS} FROM episode WHERE episode_id = ?",  # noqa: S608 - our columns
            (episode_id,),
        ).fetchone()
        return state_of_row(row) if row else None

    def _create(self, episode_id: str, wanted_ordinal: int | None) -> EpisodeState:
        ordinal = self._next_ordinal
        if wanted_ordinal is not None and not self._is_taken(wanted_ordinal):
            ordinal = wanted_ordinal
        self._next_ordinal = max(self._next_ordinal, ordinal + 1)
        self._new_ordinals.add(ordinal)
        key = self._next_key
        self._next_key += 1
        self._tally.bump(counters.EPISODES)
        return EpisodeState(key, ordinal, episode_id)

    def _renumber(self, state: EpisodeState, wanted_ordinal: int) -> None:
        """The worker's own number came after the first step; at once, so that no other takes it."""
        if self._is_taken(wanted_ordinal):
            return
        self._next_ordinal = max(self._next_ordinal, wanted_ordinal + 1)
        if self._is_new(state):
            self._new_ordinals.discard(state.ordinal)
            self._new_ordinals.add(wanted_ordinal)
        else:
            self._connection.execute(
                "UPDATE episode SET ordinal = ? WHERE key = ?", (wanted_ordinal, state.key)
            )
        state.ordinal = wanted_ordinal

    def _is_taken(self, ordinal: int) -> bool:
        if ordinal >= self._next_ordinal:
            return False  # as of nearly every new one: numbers grow
        if ordinal in self._new_ordinals:
            return True
        row = self._connection.execute("SELECT 1 FROM episode WHERE ordinal = ?", (ordinal,))
        return row.fetchone() is not None


def state_of_row(row: tuple[Any, ...]) -> EpisodeState:
    """The state that `STATE_COLUMNS` of a row spell out."""
    state = EpisodeState(*row)
    state.seen = msgspec.json.decode(row[_SEEN], type=dict[str, SeenSteps])
    state.reward_sum = numbers.as_float(state.reward_sum)
    if state.reported_return is not None:
        state.reported_return = numbers.as_float(state.reported_return)
    state.terminated = bool(state.terminated)
    state.truncated = bool(state.truncated)
    return state


def sql_real(value: float | None) -> float | str | None:
    """SQLite stores NaN as NULL, so it goes in as its word."""
    return "NaN" if value is not None and math.isnan(value) else value
