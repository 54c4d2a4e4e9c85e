"""BdiHistory: the newest BDI changes in memory, and the state of every agent at any position.

The oldest entries are dropped. Their resulting state and their positions stay, so that
`BdiHistoryCache` can read them again. Both are owned by `BeliefsModel`.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from gym_gui.beliefs.feed.bdi_state import BdiChange, BdiEntry, BdiState, StepPosition, fold
from gym_gui.beliefs.feed.bdi_stream import fetch_changes
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.errors import UserError

MAX_ENTRIES = 20_000
_MAX_RANGES = 4
_DROP_COUNT = 2_048
_SNAPSHOT_INTERVAL = 256
"""Entries between two snapshots."""

BdiStates = dict[str, BdiState]


@dataclass(frozen=True, slots=True, eq=False)
class DroppedRange:
    """Changes that were dropped from memory, with what is needed to read them again."""

    before: BdiStates
    """The states before the first change."""
    seqs: "array[int]"
    episodes: "array[int]"
    steps: "array[int]"

    @property
    def first(self) -> StepPosition:
        return StepPosition(self.episodes[0], self.steps[0])

    def positions(self) -> dict[int, StepPosition]:
        """Return the position of each change by the `seq` of its line."""
        return {
            seq: StepPosition(episode, step)
            for seq, episode, step in zip(self.seqs, self.episodes, self.steps, strict=True)
        }


class BdiHistory:
    """Entries in ascending order of position. `before`: the states at the start."""

    def __init__(self, before: BdiStates | None = None) -> None:
        self.entries: list[BdiEntry] = []
        self.now: BdiStates = _copy_states(before or {})
        self._positions: list[StepPosition] = []
        self._snapshots: list[BdiStates] = [_copy_states(self.now)]
        """Snapshots of the states before entry 0, 256, 512 …"""
        self._dropped_ranges: list[DroppedRange] = []

    @property
    def agents(self) -> list[str]:
        """In order of first appearance."""
        return list(self.now)

    @property
    def dropped(self) -> int:
        return len(self._dropped_ranges) * _DROP_COUNT

    @property
    def total(self) -> int:
        return self.dropped + len(self.entries)

    def add(self, entries: Sequence[BdiEntry]) -> int:
        """Add entries and return the number of dropped ones."""
        for entry in entries:
            if entry.is_after:
                self._move(entry)
                continue
            if self.entries and len(self.entries) % _SNAPSHOT_INTERVAL == 0:
                self._snapshots.append(_copy_states(self.now))
            self.entries.append(entry)
            self._positions.append(entry.position)
            fold(self.now, entry)
        return self._drop() if len(self.entries) > MAX_ENTRIES else 0

    def dropped_range_at(self, position: StepPosition) -> DroppedRange | None:
        """Return the range to read again for the states at `position`; None if in memory."""
        if not self._dropped_ranges or (self._positions and self._positions[0] <= position):
            return None
        after = bisect_right(
            self._dropped_ranges, position, key=lambda dropped_range: dropped_range.first
        )
        return self._dropped_ranges[max(0, after - 1)]

    def states_at(self, position: StepPosition) -> BdiStates:
        """Return the states after all changes up to `position`."""
        end = bisect_right(self._positions, position)
        mark = min(end // _SNAPSHOT_INTERVAL, len(self._snapshots) - 1)
        states = _copy_states(self._snapshots[mark])
        for entry in self.entries[mark * _SNAPSHOT_INTERVAL : end]:
            fold(states, entry)
        return states

    def entries_at(self, position: StepPosition) -> list[BdiEntry]:
        """Return the changes at exactly this step."""
        first, end = bisect_left(self._positions, position), bisect_right(self._positions, position)
        return self.entries[first:end]

    def last_entry_at(self, position: StepPosition) -> BdiEntry | None:
        """Return the last change up to `position` that is in memory."""
        end = bisect_right(self._positions, position)
        return self.entries[end - 1] if end else None

    def entries_in(self, episode: int) -> list[BdiEntry]:
        first = bisect_left(self._positions, StepPosition(episode, 0))
        return self.entries[first : bisect_left(self._positions, StepPosition(episode + 1, 0))]

    def _move(self, entry: BdiEntry) -> None:
        at = bisect_left(self.entries, entry.seq, key=lambda other: other.seq)
        if at < len(self.entries) and self.entries[at].seq == entry.seq:
            self.entries[at], self._positions[at] = entry, entry.position

    def _drop(self) -> int:
        # A multiple of the snapshot interval, so that the snapshots stay valid.
        dropped = self.entries[:_DROP_COUNT]
        self._dropped_ranges.append(
            DroppedRange(
                before=self._snapshots[0],
                seqs=array("q", (entry.seq for entry in dropped)),
                episodes=array("q", (entry.position.episode for entry in dropped)),
                steps=array("q", (entry.position.step for entry in dropped)),
            )
        )
        del self.entries[:_DROP_COUNT]
        del self._positions[:_DROP_COUNT]
        del self._snapshots[: _DROP_COUNT // _SNAPSHOT_INTERVAL]
        return _DROP_COUNT


class BdiHistoryCache(QObject):
    """Dropped changes of one run, read again on request.

    A range is read at once and cached for the replay. A failed range is read again only after
    `try_again`.
    """

    changed = Signal()
    """A requested range was read, or failed."""

    def __init__(self, link: TrainerLink, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._run_id = ""
        self._read: dict[DroppedRange, BdiHistory] = {}
        """Least recently used first."""
        self._reading: DroppedRange | None = None
        self._failed: tuple[DroppedRange, UserError] | None = None
        link.recovered.connect(self._on_recovered)

    def show(self, run_id: str) -> None:
        self._run_id = run_id
        self._read, self._reading = {}, None
        self.try_again()

    def try_again(self) -> None:
        """Clear the error; the next request reads again."""
        self._failed = None

    def history_of(self, dropped_range: DroppedRange) -> BdiHistory | None:
        """Return None while the range is being read, or if that failed."""
        history = self._read.pop(dropped_range, None)
        if history is not None:
            self._read[dropped_range] = history
        elif self.error_of(dropped_range) is None and self._link.has_client:
            self._fetch(dropped_range)
        return history

    def error_of(self, dropped_range: DroppedRange) -> UserError | None:
        """Return why the range cannot be read."""
        return self._failed[1] if self._failed and self._failed[0] is dropped_range else None

    def _fetch(self, dropped_range: DroppedRange) -> None:
        if self._reading is not None:
            return  # the next request reads the range of the new replay position
        self._reading = dropped_range
        client, run_id = self._link.client, self._run_id

        def on_result(entries: list[BdiEntry]) -> None:
            if self._reading is dropped_range:
                history = BdiHistory(dropped_range.before)
                history.add(entries)
                self._read[dropped_range] = history
                if len(self._read) > _MAX_RANGES:
                    del self._read[next(iter(self._read))]
                self._end_reading()

        def on_error(error: UserError) -> None:
            if self._reading is dropped_range:
                self._failed = (dropped_range, error)
                self._end_reading()

        self._tasks.run(
            self,
            lambda: fetch_changes(client, run_id, dropped_range.positions()),
            on_result,
            on_error,
        )

    def _on_recovered(self) -> None:
        if self._failed is not None:
            self.try_again()
            self.changed.emit()

    def _end_reading(self) -> None:
        self._reading = None
        self.changed.emit()


def combine_changes(changes: Sequence[BdiChange]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the beliefs that all changes together added and removed."""
    added: set[str] = set()
    removed: set[str] = set()
    for change in changes:
        for belief in change.removed:
            if belief in added:
                added.discard(belief)  # added and removed in between
            else:
                removed.add(belief)
        for belief in change.added:
            added.add(belief)
    both = added & removed
    return frozenset(added - both), frozenset(removed - both)


def _copy_states(states: BdiStates) -> BdiStates:
    return {agent: bdi_state.copy() for agent, bdi_state in states.items()}
