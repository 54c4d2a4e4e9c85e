"""State of each episode while its lines are ingested, and its row in the store."""

import math
import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import EpisodeEnd, EpisodeStart
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.telemetry import counters
from mosaic.telemetry.database import BulkInsert

_MAX_CACHED = 2_048
_MAX_AGENTS = 64
OTHER_AGENTS = "(others)"
"""Name for all agents of an episode after the first `_MAX_AGENTS`."""
STATE_COLUMNS = (
    "key, ordinal, episode_id, agent_id, start_event, end_event, steps, reward_sum, seen, "
    "terminated, truncated, duplicate_steps, out_of_order_steps, reported_steps, reported_return"
)

_SEEN = STATE_COLUMNS.split(", ").index("seen")
_CHANGING_COLUMNS = (
    "revision, ordinal, agent_id, start_event, end_event, steps, reward_sum, seen, terminated, "
    "truncated, duplicate_steps, out_of_order_steps, reported_steps, reported_return"
)
_UPDATE = (
    f"UPDATE episode SET {_CHANGING_COLUMNS.replace(',', ' = ?,')} = ?"  # noqa: S608 - our columns
    " WHERE key = ?"
)
_IDS_PER_LOOKUP = 32
_PLACEHOLDERS = ", ".join("?" * _IDS_PER_LOOKUP)
_SELECT_STORED_IDS = f"SELECT episode_id FROM episode WHERE episode_id IN ({_PLACEHOLDERS})"  # noqa: S608
_encode = msgspec.json.Encoder().encode


class SeenSteps(msgspec.Struct, array_like=True):
    """Step numbers of one agent so far: `first` to `last`, complete unless `has_gaps`."""

    first: int
    last: int
    has_gaps: bool = False


class EpisodeState(msgspec.Struct):
    """State of an episode after the lines so far."""

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
    is_counted_as_mixed: bool = False
    """Not stored: whether the counter of mixed episodes includes it."""

    @property
    def has_several_agents(self) -> bool:
        """Whether lines of several agents have its id; lines without an agent do not count."""
        names = self.seen.keys() - {""}
        return len(names) > 1 or (self.agent_id is not None and bool(names - {self.agent_id}))

    @property
    def is_in_order(self) -> bool:
        """Whether all steps are of one agent, in ascending order."""
        return not self.duplicate_steps and not self.out_of_order_steps and len(self.seen) <= 1

    def record_steps(self, agent_id: str | None, first: int, count: int) -> None:
        """Record steps from `first` on; duplicate and late ones are counted."""
        self.steps += count
        last = first + count - 1
        name = agent_id or ""
        seen = self.seen.get(name)
        if seen is None and len(self.seen) >= _MAX_AGENTS:
            # Further agents are not stored one by one, because the row would grow with each.
            self.seen.setdefault(OTHER_AGENTS, SeenSteps(first, last, has_gaps=True))
        elif seen is None:
            self.seen[name] = SeenSteps(first, last)
        elif first > seen.last:
            seen.has_gaps = seen.has_gaps or first > seen.last + 1
            seen.last = last
        else:
            self._record_repeated(seen, first, last)

    def add_agent(self, agent_id: str | None) -> None:
        """Record the agent of a line without steps; the first one names the episode."""
        self.agent_id = self.agent_id or agent_id
        if agent_id is not None and agent_id != self.agent_id and len(self.seen) < _MAX_AGENTS:
            self.seen.setdefault(agent_id, SeenSteps(0, -1))

    def _record_repeated(self, seen: SeenSteps, first: int, last: int) -> None:
        repeated = min(last, seen.last) - first + 1
        is_known = first in (seen.first, seen.last)
        is_duplicate = is_known or (first >= seen.first and not seen.has_gaps)
        if is_duplicate:
            self.duplicate_steps += repeated
        else:
            self.out_of_order_steps += repeated
            seen.has_gaps = True
        seen.first = min(seen.first, first)
        seen.last = max(seen.last, last)

    def as_row(self, revision: int) -> tuple[object, ...]:
        """Return the values of `_CHANGING_COLUMNS`, then the key."""
        return (
            revision,
            self.ordinal,
            self.agent_id,
            self.start_event,
            self.end_event,
            self.steps,
            sql_real(self.reward_sum),
            _encode(self.seen),
            self.terminated,
            self.truncated,
            self.duplicate_steps,
            self.out_of_order_steps,
            self.reported_steps,
            sql_real(self.reported_return),
            self.key,
        )


class EpisodeIndex:
    """The episodes that are being ingested. The cache is bounded; others are loaded on demand.

    A new episode gets its row at `flush`, when short ones are already complete; until then it is
    in the cache.
    """

    def __init__(self, connection: sqlite3.Connection, counts: counters.Counters) -> None:
        self._connection = connection
        self._counts = counts
        self._new_rows = BulkInsert(
            connection,
            f"INSERT INTO episode ({_CHANGING_COLUMNS}, key, episode_id)",
            columns=len(_CHANGING_COLUMNS.split(", ")) + 2,
        )
        self._cached: dict[str, EpisodeState] = {}
        self._dirty: dict[int, EpisodeState] = {}
        self._without_row: set[str] = set()
        """Ids that are known to have no row."""
        self._new_ordinals: set[int] = set()
        """Ordinals of episodes without a row."""
        next_key, next_ordinal, revision = connection.execute(
            "SELECT coalesce(max(key), 0) + 1, coalesce(max(ordinal), -1) + 1,"
            " coalesce(max(revision), 0) FROM episode"
        ).fetchone()
        self._first_new_key = self._next_key = int(next_key)
        self._next_ordinal: int = next_ordinal
        self._revision: int = revision

    def prefetch(self, episode_ids: Iterable[str]) -> None:
        """Find the ids without a row in batches; `open` looks up the remaining ones."""
        unknown = list(set(episode_ids).difference(self._cached))
        for end in range(_IDS_PER_LOOKUP, len(unknown) + 1, _IDS_PER_LOOKUP):
            batch = unknown[end - _IDS_PER_LOOKUP : end]
            self._without_row.update(batch)
            self._without_row.difference_update(
                *self._connection.execute(_SELECT_STORED_IDS, batch).fetchall()
            )

    def open(self, episode_id: str, requested_ordinal: int | None = None) -> EpisodeState:
        """Return the episode with that id, created if needed; it is written at `flush`."""
        state = self._cached.get(episode_id)
        if state is None and episode_id not in self._without_row:
            state = self._load(episode_id)
        if state is None:
            state = self._create(episode_id, requested_ordinal)
        elif requested_ordinal is not None and requested_ordinal != state.ordinal:
            self._renumber(state, requested_ordinal)
        self._cached[episode_id] = state
        self._dirty[state.key] = state
        return state

    def start(self, event: EpisodeStart, seq: int) -> None:
        state = self.open(event.episode_id, event.episode)
        state.start_event = seq
        state.add_agent(event.agent_id)

    def end(self, state: EpisodeState, event: EpisodeEnd, seq: int) -> None:
        """Record the end of an episode; `state` is from `open`."""
        state.end_event = seq
        state.add_agent(event.agent_id)
        state.reported_steps = event.steps
        state.reported_return = numbers.as_float(event.total_return)
        state.terminated = state.terminated or bool(event.terminated)
        state.truncated = state.truncated or bool(event.truncated)

    def flush(self) -> None:
        """Write changed episodes, and drop finished ones from the cache."""
        first_new = self._first_new_key
        new = [state for key, state in self._dirty.items() if key >= first_new]
        changed = [state for key, state in self._dirty.items() if key < first_new]
        self._new_rows.insert([(*self._next_row(state), state.episode_id) for state in new])
        self._connection.executemany(_UPDATE, map(self._next_row, changed))
        if new:
            self._counts.increment(counters.EPISODES, len(new))
        for state in self._dirty.values():
            if not state.is_counted_as_mixed and state.has_several_agents:
                state.is_counted_as_mixed = True
                self._counts.increment(counters.MIXED_EPISODES)
            if state.end_event is not None:
                del self._cached[state.episode_id]
        self._dirty.clear()
        self._without_row.clear()
        self._new_ordinals.clear()
        self._first_new_key = self._next_key
        while len(self._cached) > _MAX_CACHED:
            del self._cached[next(iter(self._cached))]

    def _next_row(self, state: EpisodeState) -> tuple[object, ...]:
        self._revision += 1
        return state.as_row(self._revision)

    def _is_new(self, state: EpisodeState) -> bool:
        """Return whether the episode has no row yet."""
        return state.key >= self._first_new_key

    def _load(self, episode_id: str) -> EpisodeState | None:
        row = self._connection.execute(
            f"SELECT {STATE_COLUMNS} FROM episode WHERE episode_id = ?",  # noqa: S608 - our columns
            (episode_id,),
        ).fetchone()
        return state_from_row(row) if row else None

    def _create(self, episode_id: str, requested_ordinal: int | None) -> EpisodeState:
        ordinal = self._next_ordinal
        if requested_ordinal is not None and not self._is_taken(requested_ordinal):
            ordinal = requested_ordinal
        self._next_ordinal = max(self._next_ordinal, ordinal + 1)
        self._new_ordinals.add(ordinal)
        key = self._next_key
        self._next_key += 1
        return EpisodeState(key, ordinal, episode_id)

    def _renumber(self, state: EpisodeState, requested_ordinal: int) -> None:
        """Apply the worker's number, which arrived after the first step, if it is free."""
        if self._is_taken(requested_ordinal):
            return
        self._next_ordinal = max(self._next_ordinal, requested_ordinal + 1)
        if self._is_new(state):
            self._new_ordinals.discard(state.ordinal)
            self._new_ordinals.add(requested_ordinal)
        else:
            self._connection.execute(
                "UPDATE episode SET ordinal = ? WHERE key = ?", (requested_ordinal, state.key)
            )
        state.ordinal = requested_ordinal

    def _is_taken(self, ordinal: int) -> bool:
        if ordinal >= self._next_ordinal:
            return False  # the usual case: numbers increase
        if ordinal in self._new_ordinals:
            return True
        row = self._connection.execute("SELECT 1 FROM episode WHERE ordinal = ?", (ordinal,))
        return row.fetchone() is not None


def state_from_row(row: tuple[Any, ...]) -> EpisodeState:
    """Build the state from the `STATE_COLUMNS` of a row."""
    state = EpisodeState(*row)
    state.seen = msgspec.json.decode(row[_SEEN], type=dict[str, SeenSteps])
    state.reward_sum = numbers.as_float(state.reward_sum)
    if state.reported_return is not None:
        state.reported_return = numbers.as_float(state.reported_return)
    state.terminated = bool(state.terminated)
    state.truncated = bool(state.truncated)
    state.is_counted_as_mixed = state.has_several_agents
    return state


def sql_real(value: float | None) -> float | str | None:
    """Convert NaN to text, because SQLite stores NaN as NULL."""
    return "NaN" if value is not None and math.isnan(value) else value


prebuild_decoders(SeenSteps)
