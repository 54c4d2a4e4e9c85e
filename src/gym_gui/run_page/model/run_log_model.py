"""RunLogModel: the lines of one run's log as a list, followed and searched.

Nothing is left out between two lines: a line that comes is kept until there are far too many.
"""

from bisect import bisect_left, bisect_right
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.run_page.feed.run_log_feed import TAIL_LINES, LogLine, LogSource, RunLogFeed, Severity
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

__all__ = ["LINE_ROLE", "LogLine", "LogSource", "RunLogModel", "Severity"]

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = Qt.ItemDataRole.UserRole + 1
MOST_LINES = 100_000
MOST_CHARACTERS = 20_000_000
_KEPT_OF_TOO_MANY = 0.9
LONGEST_SHOWN = 2_000
"""Characters of a line that are painted; the rest is there when one asks for it."""
_NO_PARENT = QModelIndex()


class RunLogModel(QAbstractListModel):
    """Owned by `RunPageModel`. Rows are lines of one source."""

    changed = Signal()
    """Counts, what was found, or another source; at most once a beat."""

    def __init__(self, link: TrainerLink, pulse: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source: LogSource = "output"
        self.run_id = ""
        self.dropped = 0
        """Lines at the beginning that had to go."""
        self.text = ""
        """What is searched for."""
        self._feed = RunLogFeed(link, pulse, self)
        self._lines: list[LogLine] = []
        self._characters = 0
        self._found: list[int] = []
        self._was_over = False
        pulse.subscribe(self, self._on_beat)

    def show(self, run_id: str, source: LogSource | None = None) -> None:
        """From now on the log of this run; an empty id: of none."""
        source = source or self.source
        if (run_id, source) == (self.run_id, self.source):
            return
        self.run_id, self.source = run_id, source
        self.beginResetModel()
        self._lines, self._found, self.dropped, self._characters = [], [], 0, 0
        self._was_over = False
        self.endResetModel()
        self._feed.show_source(run_id, source)
        self.changed.emit()

    @property
    def is_over(self) -> bool:
        """All has been read, and nothing more comes."""
        return self._was_over

    @property
    def problem(self) -> UserError | None:
        return self._feed.error

    @property
    def begins_later(self) -> bool:
        """There may be lines before the first one."""
        return self.dropped > 0 or self.total >= TAIL_LINES

    @property
    def total(self) -> int:
        return self.dropped + len(self._lines)

    def line(self, row: int) -> LogLine:
        return self._lines[row]

    def number(self, row: int) -> int:
        """As one counts lines, from 1."""
        return self.dropped + row + 1

    def text_of(self, rows: list[int]) -> str:
        """Whole lines, as they were written."""
        return "\n".join(whole(self._lines[row]) for row in rows)

    def all_text(self) -> str:
        return self.text_of(list(range(len(self._lines))))

    # Searching.

    def search(self, text: str) -> None:
        self.text = text
        self._found = self._finds(0)
        self.changed.emit()

    @property
    def found_count(self) -> int:
        return len(self._found)

    def found_number(self, row: int) -> int:
        """The how manieth find is on this row, from 1; 0: none."""
        at = bisect_left(self._found, row)
        return at + 1 if at < len(self._found) and self._found[at] == row else 0

    def next_found(self, row: int) -> int:
        """After `row`, and from the top again; -1: nothing is found."""
        if not self._found:
            return -1
        return self._found[bisect_right(self._found, row) % len(self._found)]

    def previous_found(self, row: int) -> int:
        if not self._found:
            return -1
        return self._found[bisect_left(self._found, max(row, 0)) - 1]

    # Qt's side.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.text[:LONGEST_SHOWN]
        return None

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    # What comes.

    def _on_beat(self) -> bool:
        is_over = self._feed.is_over  # asked first: what came before the end is taken below
        lines = self._feed.take()
        if lines:
            self._append(lines)
        elif is_over != self._was_over:
            self._was_over = is_over
        else:
            return False
        self.changed.emit()
        return True

    def _append(self, lines: list[LogLine]) -> None:
        self._characters += sum(map(_length, lines))
        if len(self._lines) + len(lines) > MOST_LINES or self._characters > MOST_CHARACTERS:
            self._drop(len(lines))
        first = len(self._lines)
        self.beginInsertRows(_NO_PARENT, first, first + len(lines) - 1)
        self._lines += lines
        self._found += self._finds(first)
        self.endInsertRows()

    def _drop(self, coming: int) -> None:
        """Make room at the beginning for so many that come, and for some more."""
        least = len(self._lines) + coming - round(MOST_LINES * _KEPT_OF_TOO_MANY)
        room = round(MOST_CHARACTERS * _KEPT_OF_TOO_MANY)
        count = 0
        while count < len(self._lines) and (count < least or self._characters > room):
            self._characters -= _length(self._lines[count])
            count += 1
        if count == 0:
            return
        self.beginRemoveRows(_NO_PARENT, 0, count - 1)
        del self._lines[:count]
        self.dropped += count
        self._found = self._finds(0)
        self.endRemoveRows()

    def _finds(self, first: int) -> list[int]:
        if not self.text:
            return []
        needle = self.text.lower()
        return [
            row for row in range(first, len(self._lines)) if needle in self._lines[row].text.lower()
        ]


def _length(line: LogLine) -> int:
    return len(line.text) + len(line.more)


def whole(line: LogLine) -> str:
    """With what did not fit into it."""
    return f"{line.text}\n{line.more}" if line.more else line.text
