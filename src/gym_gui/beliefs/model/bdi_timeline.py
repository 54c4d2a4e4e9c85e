"""BdiTimeline: the changes of one agent's mind as rows, filtered by words. Of `BeliefsModel`.

Rows are plain references to what the history keeps: 20,000 of them cost nothing until painted.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.beliefs.feed.bdi_state import BdiChange, MindEntry, Place
from gym_gui.runtime.models import run_text
from mosaic.contract.events import absolute_time

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_NO_PARENT = QModelIndex()
_EPOCH_S = 1e9


class TimelineRow(NamedTuple):
    """What is painted of a change."""

    place: str
    time: str
    plan: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    otherwise: str
    """What there is to say where no belief came or went."""
    is_shown: bool
    """It was told at the step that is shown."""


class BdiTimeline(QAbstractListModel):
    """Oldest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.agent = ""
        self.needle = ""
        self.run_started: float | None = None
        self.shown_place: Place | None = None
        """The step of the replay; None while the newest is shown."""
        self.total = 0
        """Of this agent, filtered or not."""
        self._rows: list[MindEntry] = []

    def show(self, entries: Sequence[MindEntry], agent: str, needle: str) -> None:
        """All anew: another run, another agent, or other words."""
        self.beginResetModel()
        self.agent, self.needle = agent, needle.strip().lower()
        mine = [entry for entry in entries if entry.agent == agent]
        self.total = len(mine)
        self._rows = self._found(mine)
        self.endResetModel()

    def add(self, entries: Sequence[MindEntry]) -> None:
        mine = [entry for entry in entries if entry.agent == self.agent and not entry.is_after]
        self.total += len(mine)
        found = self._found(mine)
        if found:
            first = len(self._rows)
            self.beginInsertRows(_NO_PARENT, first, first + len(found) - 1)
            self._rows += found
            self.endInsertRows()
        for entry in entries:
            if entry.is_after:
                self._move(entry)

    def _move(self, entry: MindEntry) -> None:
        """To where it belongs, as is known by now; its row stays where it is."""
        at = bisect_left(self._rows, entry.seq, key=lambda each: each.seq)
        if at < len(self._rows) and self._rows[at].seq == entry.seq:
            self._rows[at] = entry
            self.dataChanged.emit(self.index(at), self.index(at))

    def drop_before(self, seq: int) -> None:
        """What the history no longer keeps."""
        count = bisect_left(self._rows, seq, key=lambda entry: entry.seq)
        if count:
            self.beginRemoveRows(_NO_PARENT, 0, count - 1)
            del self._rows[:count]
            self.endRemoveRows()

    def mark(self, place: Place | None) -> None:
        if place != self.shown_place:
            self.shown_place = place
            if self._rows:
                self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    @property
    def shown_row(self) -> int:
        """The last change up to the step that is shown; -1: none."""
        if self.shown_place is None:
            return len(self._rows) - 1
        return bisect_right(self._rows, self.shown_place, key=lambda entry: entry.place) - 1

    def entry(self, row: int) -> MindEntry:
        return self._rows[row]

    def row(self, row: int) -> TimelineRow:
        entry = self._rows[row]
        change, place = entry.change, entry.place
        return TimelineRow(
            entry_words(entry),
            self._time_words(entry.t),
            change.plan,
            change.added,
            change.removed,
            "" if change.added or change.removed else _goal_words(change),
            place == self.shown_place,
        )

    def words(self, row: int) -> str:
        """For a screen reader, and as a tooltip."""
        shown, change = self.row(row), self._rows[row].change
        parts = [f"{shown.place}{f' · {shown.time}' if shown.time else ''}"]
        parts += [f"New: {', '.join(change.added)}"] if change.added else []
        parts += [f"Gone: {', '.join(change.removed)}"] if change.removed else []
        parts += [f"Goals: {', '.join(change.goals)}"] if change.goals else []
        parts += [f"Plan: {change.plan}"] if change.plan else []
        return "\n".join(parts)

    # Qt's side.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == ROW_ROLE:
            return self.row(index.row())
        texts = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        return self.words(index.row()) if role in texts else None

    def _found(self, entries: list[MindEntry]) -> list[MindEntry]:
        needle = self.needle
        return [entry for entry in entries if needle in entry.words] if needle else entries

    def _time_words(self, t: float | None) -> str:
        if t is None:
            return ""
        when = absolute_time(t, self.run_started)
        if when < _EPOCH_S:
            return run_text.duration(max(0.0, when))
        return f"{datetime.fromtimestamp(when):%H:%M:%S}"  # noqa: DTZ006 - as clocks here


def _goal_words(change: BdiChange) -> str:
    return f"wants {', '.join(change.goals)}" if change.goals else "wants nothing any more"


def place_words(place: Place) -> str:
    """`episode 12, step 34`, counted as everywhere else in the window."""
    return f"episode {place.episode:,} · step {place.step:,}"


def entry_words(entry: MindEntry) -> str:
    """Where it was told: at a step, or when an episode had no other."""
    if entry.is_after:
        return f"episode {entry.place.episode:,} · after its last step"
    return place_words(entry.place)
