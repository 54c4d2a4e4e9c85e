"""What is known of each episode while its lines come in, and the row it becomes."""

import math
import sqlite3
from collections.abc import Iterable
from typing import Any

import msgspec

from mosaic.contract import numbers
from mosaic.contract.events import EpisodeEnd, EpisodeStart
from mosaic.contract.type_info import work_out
from mosaic.telemetry import counters
from mosaic.telemetry.bulk_insert import BulkInsert

_MAX_CACHED = 2_048
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
_LOOKED_UP_AT_ONCE = 32
_PLACES = ", ".join("?" * _LOOKED_UP_AT_ONCE)
_WITH_A_ROW = f"SELECT episode_id FROM episode WHERE episode_id IN ({_PLACES})"  # noqa: S608
_encode = msgspec.json.Encoder().encode


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

    def as_row(self, revision: int) -> tuple[object, ...]:
        """`_CHANGING_COLUMNS`, then its key."""
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


class EpisodeBook:
    """The episodes that lines are coming in for. Bounded: the rest is read back when needed.

    A new one gets its row at `flush`, where short ones are complete already; until then it is
    among the cached.
    """

    def __init__(self, connection: sqlite3.Connection, tally: counters.Counters) -> None:
        self._connection = connection
        self._tally = tally
        self._new_rows = BulkInsert(
            connection,
            f"INSERT INTO episode ({_CHANGING_COLUMNS}, key, episode_id)",
            columns=len(_CHANGING_COLUMNS.split(", ")) + 2,
        )
        self._cached: dict[str, EpisodeState] = {}
        self._dirty: dict[int, EpisodeState] = {}
        self._without_row: set[str] = set()
        """Ids that need not be looked up."""
        self._new_ordinals: set[int] = set()
        """Of episodes without a row."""
        next_key, next_ordinal, revision = connection.execute(
            "SELECT coalesce(max(key), 0) + 1, coalesce(max(ordinal), -1) + 1,"
            " coalesce(max(revision), 0) FROM episode"
        ).fetchone()
        self._first_new_key = self._next_key = int(next_key)
        self._next_ordinal: int = next_ordinal
        self._revision: int = revision

    def look_up(self, episode_ids: Iterable[str]) -> None:
        """Find out, for many at a time, which have no row; those left over `open` asks for."""
        unknown = list(set(episode_ids).difference(self._cached))
        for end in range(_LOOKED_UP_AT_ONCE, len(unknown) + 1, _LOOKED_UP_AT_ONCE):
            asked = unknown[end - _LOOKED_UP_AT_ONCE : end]
            self._without_row.update(asked)
            self._without_row.difference_update(
                *self._connection.execute(_WITH_A_ROW, asked).fetchall()
            )

    def open(self, episode_id: str, wanted_ordinal: int | None = None) -> EpisodeState:
        """The episode of that id, made when there is none; it will be written at `flush`."""
        state = self._cached.get(episode_id)
        if state is None and episode_id not in self._without_row:
            state = self._load(episode_id)
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

    def end(self, state: EpisodeState, event: EpisodeEnd, seq: int) -> None:
        """`state` is as `open` gave it."""
        state.end_event = seq
        state.agent_id = state.agent_id or event.agent_id
        state.reported_steps = event.steps
        state.reported_return = numbers.as_float(event.total_return)
        state.terminated = state.terminated or bool(event.terminated)
        state.truncated = state.truncated or bool(event.truncated)

    def flush(self) -> None:
        """Write what changed, and let go of what is over."""
        first_new = self._first_new_key
        new = [state for key, state in self._dirty.items() if key >= first_new]
        changed = [state for key, state in self._dirty.items() if key < first_new]
        self._new_rows.insert([(*self._next_row(state), state.episode_id) for state in new])
        self._connection.executemany(_UPDATE, map(self._next_row, changed))
        if new:
            self._tally.bump(counters.EPISODES, len(new))
        for state in self._dirty.values():
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


work_out(SeenSteps)
