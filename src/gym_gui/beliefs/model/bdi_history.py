"""BdiHistory: the changes of minds that are kept, and what every agent had in mind at any of them.

The oldest go when there are too many; what they came to stays, and where each was told, so that
`BdiHistoryCache` can read them again. Owned by `BeliefsModel`.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from gym_gui.beliefs.feed.bdi_state import BdiChange, Mind, MindEntry, Place, fold

MOST_ENTRIES = 20_000
_DROPPED_AT_ONCE = 2_048
_BETWEEN_MARKS = 256
"""Changes that are folded again to know a mind in the middle of the history."""

Minds = dict[str, Mind]


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Changes that are no longer kept, in as little memory as it takes to read them again."""

    before: Minds
    """What was in mind before the first of them."""
    seqs: "array[int]"
    episodes: "array[int]"
    steps: "array[int]"

    @property
    def first(self) -> Place:
        return Place(self.episodes[0], self.steps[0])

    def places(self) -> dict[int, Place]:
        """Where each was told, by the `seq` of its line."""
        return {
            seq: Place(episode, step)
            for seq, episode, step in zip(self.seqs, self.episodes, self.steps, strict=True)
        }


class BdiHistory:
    """Places grow from entry to entry. `before`: what was in mind when it begins."""

    def __init__(self, before: Minds | None = None) -> None:
        self.entries: list[MindEntry] = []
        self.now: Minds = _copied(before or {})
        self._places: list[Place] = []
        self._marks: list[Minds] = [_copied(self.now)]
        """What was in mind before entry 0, before entry 256, before entry 512 …"""
        self._stretches: list[Stretch] = []

    @property
    def agents(self) -> list[str]:
        """In the order in which they were first heard of."""
        return list(self.now)

    @property
    def dropped(self) -> int:
        return len(self._stretches) * _DROPPED_AT_ONCE

    @property
    def total(self) -> int:
        return self.dropped + len(self.entries)

    def add(self, entries: Sequence[MindEntry]) -> int:
        """How many of the oldest had to go for them."""
        for entry in entries:
            if entry.is_after:
                self._move(entry)
                continue
            if self.entries and len(self.entries) % _BETWEEN_MARKS == 0:
                self._marks.append(_copied(self.now))
            self.entries.append(entry)
            self._places.append(entry.place)
            fold(self.now, entry)
        return self._drop() if len(self.entries) > MOST_ENTRIES else 0

    def stretch_at(self, place: Place) -> Stretch | None:
        """What has to be read again to tell what was in mind there; None: nothing."""
        if not self._stretches or (self._places and self._places[0] <= place):
            return None
        after = bisect_right(self._stretches, place, key=lambda stretch: stretch.first)
        return self._stretches[max(0, after - 1)]

    def minds_at(self, place: Place) -> Minds:
        """After all that was told up to there."""
        end = bisect_right(self._places, place)
        mark = min(end // _BETWEEN_MARKS, len(self._marks) - 1)
        minds = _copied(self._marks[mark])
        for entry in self.entries[mark * _BETWEEN_MARKS : end]:
            fold(minds, entry)
        return minds

    def told_at(self, place: Place) -> list[MindEntry]:
        """What was told at that very step."""
        first, end = bisect_left(self._places, place), bisect_right(self._places, place)
        return self.entries[first:end]

    def last_told(self, place: Place) -> MindEntry | None:
        """The last change up to there, among those that are kept."""
        end = bisect_right(self._places, place)
        return self.entries[end - 1] if end else None

    def told_in(self, episode: int) -> list[MindEntry]:
        first = bisect_left(self._places, Place(episode, 0))
        return self.entries[first : bisect_left(self._places, Place(episode + 1, 0))]

    def _move(self, entry: MindEntry) -> None:
        at = bisect_left(self.entries, entry.seq, key=lambda each: each.seq)
        if at < len(self.entries) and self.entries[at].seq == entry.seq:
            self.entries[at], self._places[at] = entry, entry.place

    def _drop(self) -> int:
        # In whole stretches between two marks, so that the marks stay where they are.
        gone = self.entries[:_DROPPED_AT_ONCE]
        self._stretches.append(
            Stretch(
                before=self._marks[0],
                seqs=array("q", (entry.seq for entry in gone)),
                episodes=array("q", (entry.place.episode for entry in gone)),
                steps=array("q", (entry.place.step for entry in gone)),
            )
        )
        del self.entries[:_DROPPED_AT_ONCE]
        del self._places[:_DROPPED_AT_ONCE]
        del self._marks[: _DROPPED_AT_ONCE // _BETWEEN_MARKS]
        return _DROPPED_AT_ONCE


def summed_up(changes: Sequence[BdiChange]) -> tuple[frozenset[str], frozenset[str]]:
    """Beliefs that came and those that went in all of them together."""
    added: set[str] = set()
    removed: set[str] = set()
    for change in changes:
        for belief in change.removed:
            if belief in added:
                added.discard(belief)  # it came and went in between
            else:
                removed.add(belief)
        for belief in change.added:
            added.add(belief)
    both = added & removed
    return frozenset(added - both), frozenset(removed - both)


def _copied(minds: Minds) -> Minds:
    return {agent: mind.copy() for agent, mind in minds.items()}
