"""BdiTimeline: item model of the BDI changes of one agent, filtered by text. Of `BeliefsModel`.

Rows reference the entries of the history; texts are built on demand.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.beliefs.feed.bdi_state import BdiChange, BdiEntry, StepPosition
from mosaic.contract.events import absolute_time
from mosaic.contract.formatting import format_clock

Index = QModelIndex | QPersistentModelIndex
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_NO_PARENT = QModelIndex()
_EPOCH_S = 1e9


class TimelineRow(NamedTuple):
    """The displayed texts of a change."""

    position: str
    time: str
    plan: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    goal_text: str
    """The goals, if no belief was added or removed."""
    is_current: bool
    """Whether the change is at the replayed step."""


class BdiTimeline(QAbstractListModel):
    """Oldest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.agent = ""
        self.needle = ""
        self.run_started: float | None = None
        self.replay_position: StepPosition | None = None
        """The replayed step; None while the newest changes are displayed."""
        self.total = 0
        """Number of changes of this agent, without the filter."""
        self._rows: list[BdiEntry] = []

    def show(self, entries: Sequence[BdiEntry], agent: str, needle: str) -> None:
        """Reset the rows for another run, agent or filter."""
        self.beginResetModel()
        self.agent, self.needle = agent, needle.strip().lower()
        own = [entry for entry in entries if entry.agent == agent]
        self.total = len(own)
        self._rows = self._filter(own)
        self.endResetModel()

    def add(self, entries: Sequence[BdiEntry]) -> None:
        own = [entry for entry in entries if entry.agent == self.agent and not entry.is_after]
        self.total += len(own)
        matching = self._filter(own)
        if matching:
            first = len(self._rows)
            self.beginInsertRows(_NO_PARENT, first, first + len(matching) - 1)
            self._rows += matching
            self.endInsertRows()
        for entry in entries:
            if entry.is_after:
                self._move(entry)

    def _move(self, entry: BdiEntry) -> None:
        """Update the position of an entry; its row number stays."""
        at = bisect_left(self._rows, entry.seq, key=lambda other: other.seq)
        if at < len(self._rows) and self._rows[at].seq == entry.seq:
            self._rows[at] = entry
            self.dataChanged.emit(self.index(at), self.index(at))

    def drop_before(self, seq: int) -> None:
        """Remove the rows that the history dropped."""
        count = bisect_left(self._rows, seq, key=lambda entry: entry.seq)
        if count:
            self.beginRemoveRows(_NO_PARENT, 0, count - 1)
            del self._rows[:count]
            self.endRemoveRows()

    def mark(self, position: StepPosition | None) -> None:
        if position != self.replay_position:
            self.replay_position = position
            if self._rows:
                self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    @property
    def current_row(self) -> int:
        """Row of the last change up to the replayed step; -1 if there is none."""
        if self.replay_position is None:
            return len(self._rows) - 1
        return bisect_right(self._rows, self.replay_position, key=lambda entry: entry.position) - 1

    def entry(self, row: int) -> BdiEntry:
        return self._rows[row]

    def row(self, row: int) -> TimelineRow:
        entry = self._rows[row]
        change, position = entry.change, entry.position
        return TimelineRow(
            entry_text(entry),
            self._time_text(entry.t),
            change.plan,
            change.added,
            change.removed,
            "" if change.added or change.removed else _goal_text(change),
            position == self.replay_position,
        )

    def text(self, row: int) -> str:
        """Text for the tooltip and for screen readers."""
        texts, change = self.row(row), self._rows[row].change
        parts = [f"{texts.position}{f' · {texts.time}' if texts.time else ''}"]
        parts += [f"Added: {', '.join(change.added)}"] if change.added else []
        parts += [f"Removed: {', '.join(change.removed)}"] if change.removed else []
        parts += [f"Goals: {', '.join(change.goals)}"] if change.goals else []
        parts += [f"Plan: {change.plan}"] if change.plan else []
        return "\n".join(parts)

    # Qt item model.

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
        return self.text(index.row()) if role in texts else None

    def _filter(self, entries: list[BdiEntry]) -> list[BdiEntry]:
        needle = self.needle
        return [entry for entry in entries if needle in entry.text] if needle else entries

    def _time_text(self, t: float | None) -> str:
        if t is None:
            return ""
        when = absolute_time(t, self.run_started)
        if when < _EPOCH_S:
            return format_clock(max(0.0, when))
        return f"{datetime.fromtimestamp(when):%H:%M:%S}"  # noqa: DTZ006 - local time


def _goal_text(change: BdiChange) -> str:
    return f"goals: {', '.join(change.goals)}" if change.goals else "no goals"


def position_text(position: StepPosition) -> str:
    """Return text such as `episode 12 · step 34`."""
    return f"episode {position.episode:,} · step {position.step:,}"


def entry_text(entry: BdiEntry) -> str:
    """Return the step of the change, or that it came after the last step."""
    if entry.is_after:
        return f"episode {entry.position.episode:,} · after the last step"
    return position_text(entry.position)
