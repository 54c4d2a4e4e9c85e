"""RunLogModel: the lines of one run's log as a list, followed and searched.

Every line is listed; the oldest ones are dropped above a limit.
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
MAX_LINES = 100_000
MAX_CHARACTERS = 20_000_000
_RETAINED_SHARE = 0.9
MAX_DISPLAYED = 2_000
"""Characters of a line that are rendered; the complete line is available on request."""
_NO_PARENT = QModelIndex()


class RunLogModel(QAbstractListModel):
    """Owned by `RunPageModel`. Rows are lines of one source."""

    changed = Signal()
    """The counts, the matches or the source changed; at most once per tick."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.source: LogSource = "output"
        self.run_id = ""
        self.dropped = 0
        """Number of lines dropped at the start."""
        self.text = ""
        """The search text."""
        self._feed = RunLogFeed(link, ticker, self)
        self._lines: list[LogLine] = []
        self._characters = 0
        self._matches: list[int] = []
        self._was_finished = False
        ticker.subscribe(self, self._on_tick)

    def show(self, run_id: str, source: LogSource | None = None) -> None:
        """Follow the log of this run; an empty id stops."""
        source = source or self.source
        if (run_id, source) == (self.run_id, self.source):
            return
        self.run_id, self.source = run_id, source
        self.beginResetModel()
        self._lines, self._matches, self.dropped, self._characters = [], [], 0, 0
        self._was_finished = False
        self.endResetModel()
        self._feed.show_source(run_id, source)
        self.changed.emit()

    @property
    def is_finished(self) -> bool:
        """The log is complete and has been read to the end."""
        return self._was_finished

    @property
    def problem(self) -> UserError | None:
        return self._feed.error

    @property
    def is_truncated(self) -> bool:
        """Whether there may be lines before the first one."""
        return self.dropped > 0 or self.total >= TAIL_LINES

    @property
    def total(self) -> int:
        return self.dropped + len(self._lines)

    def line(self, row: int) -> LogLine:
        return self._lines[row]

    def number(self, row: int) -> int:
        """Line number, from 1."""
        return self.dropped + row + 1

    def text_of(self, rows: list[int]) -> str:
        """Complete lines, as they were written."""
        return "\n".join(full_text(self._lines[row]) for row in rows)

    def all_text(self) -> str:
        return self.text_of(list(range(len(self._lines))))

    # Searching.

    def search(self, text: str) -> None:
        self.text = text
        self._matches = self._find_matches(0)
        self.changed.emit()

    @property
    def match_count(self) -> int:
        return len(self._matches)

    def match_number(self, row: int) -> int:
        """Index of the match on this row, from 1; 0 if there is none."""
        at = bisect_left(self._matches, row)
        return at + 1 if at < len(self._matches) and self._matches[at] == row else 0

    def next_match(self, row: int) -> int:
        """The next match after `row`, wrapping around; -1 if there is none."""
        if not self._matches:
            return -1
        return self._matches[bisect_right(self._matches, row) % len(self._matches)]

    def previous_match(self, row: int) -> int:
        if not self._matches:
            return -1
        return self._matches[bisect_left(self._matches, max(row, 0)) - 1]

    # Item model.

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.text[:MAX_DISPLAYED]
        return None

    def close(self) -> None:
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    # Incoming lines.

    def _on_tick(self) -> bool:
        is_finished = self._feed.is_finished  # read first: lines before the end are drained below
        lines = self._feed.drain()
        if lines:
            self._append(lines)
        elif is_finished != self._was_finished:
            self._was_finished = is_finished
        else:
            return False
        self.changed.emit()
        return True

    def _append(self, lines: list[LogLine]) -> None:
        self._characters += sum(map(_length, lines))
        if len(self._lines) + len(lines) > MAX_LINES or self._characters > MAX_CHARACTERS:
            self._drop(len(lines))
        first = len(self._lines)
        self.beginInsertRows(_NO_PARENT, first, first + len(lines) - 1)
        self._lines += lines
        self._matches += self._find_matches(first)
        self.endInsertRows()

    def _drop(self, coming: int) -> None:
        """Drop the oldest lines so that `coming` lines fit, with some spare capacity."""
        min_count = len(self._lines) + coming - round(MAX_LINES * _RETAINED_SHARE)
        max_characters = round(MAX_CHARACTERS * _RETAINED_SHARE)
        count = 0
        while count < len(self._lines) and (count < min_count or self._characters > max_characters):
            self._characters -= _length(self._lines[count])
            count += 1
        if count == 0:
            return
        self.beginRemoveRows(_NO_PARENT, 0, count - 1)
        del self._lines[:count]
        self.dropped += count
        self._matches = self._find_matches(0)
        self.endRemoveRows()

    def _find_matches(self, first: int) -> list[int]:
        if not self.text:
            return []
        needle = self.text.lower()
        return [
            row for row in range(first, len(self._lines)) if needle in self._lines[row].text.lower()
        ]


def _length(line: LogLine) -> int:
    return len(line.text) + len(line.more)


def full_text(line: LogLine) -> str:
    """The line and the text that did not fit in it."""
    return f"{line.text}\n{line.more}" if line.more else line.text
