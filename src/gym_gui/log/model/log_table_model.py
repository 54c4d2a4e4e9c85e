"""LogTableModel: table model of log records, with a filter and a search.

Every stored line has a serial number. The rows are the lines that pass the filter: filtering is one
pass over plain values, without a proxy model.
"""

import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.runtime.log_records import LogRecord, Severity, Source
from gym_gui.runtime.ui_ticker import UiTicker

__all__ = ["LogFilter", "LogRecord", "LogTableModel", "Severity"]

_MAX_CHARACTERS = 20_000_000
_RETAINED_SHARE = 0.9
"""Share of the maximum number of characters that is left after dropping lines."""
_MAX_DISPLAYED = 2_000
"""Characters of a message in a cell; the details have the complete line."""
_MIN_DROPPED = 1_000
"""Rows are dropped in blocks, so that the visible ones do not move with every new line."""
_CONTEXT_LINES = 5
_MAX_TOOLTIP_LENGTH = 2_000
_MAX_DISORDER_S = 5.0

COLUMNS = ("Time", "Severity", "Component", "Code", "Message")
TIME, SEVERITY, COMPONENT, CODE, MESSAGE = range(len(COLUMNS))
RECORD_ROLE = int(Qt.ItemDataRole.UserRole)

_SYMBOLS = {
    Severity.DEBUG: "·",
    Severity.INFO: "○",
    Severity.WARNING: "▲",
    Severity.ERROR: "✕",
}
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


@dataclass(frozen=True, slots=True)
class LogFilter:
    """All conditions must hold; an empty one always does. Ignores case."""

    component: str = ""
    min_severity: Severity = Severity.DEBUG
    code: str = ""
    """Prefix of the code."""
    text: str = ""
    """Search text. Hides no lines without `only_matches`."""
    only_matches: bool = False

    def select(self, records: Sequence[LogRecord]) -> list[int]:
        """Return the indices of the records that pass."""
        indices: Sequence[int] = range(len(records))
        if self.min_severity > Severity.DEBUG:
            minimum = self.min_severity
            indices = [index for index in indices if records[index].severity >= minimum]
        if self.component:
            component = self.component
            indices = [index for index in indices if records[index].component == component]
        if self.code:
            code = self.code.upper()
            indices = [index for index in indices if records[index].code.startswith(code)]
        if self.only_matches and self.text:
            indices = self.find_matches(records, indices)
        return list(indices)

    def find_matches(self, records: Sequence[LogRecord], indices: Sequence[int]) -> list[int]:
        """Return those of `indices` whose record contains the search text."""
        if not self.text:
            return []
        needle = self.text.lower()
        return [index for index in indices if needle in records[index].lowered]


class RecordFeed(Protocol):
    """What a table model needs of its feed."""

    meanings: dict[str, str]

    def drain(self) -> list[LogRecord]: ...
    def drain_overflow(self) -> int: ...


class LogTableModel(QAbstractTableModel):
    """The newest records of a feed. The oldest ones are dropped above `max_records`."""

    max_characters = _MAX_CHARACTERS
    """Limit for records with long messages."""
    min_batch_s = 0.0
    """Minimum time between two batches."""

    changed = Signal()
    """The counts, components, codes or matches changed; at most once per tick."""

    def __init__(
        self, feed: RecordFeed, ticker: UiTicker, max_records: int, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.max_records = max_records
        self._records_feed = feed
        self._filter = LogFilter()
        self._records: list[LogRecord] = []
        self._first = 0
        """The serial number of the oldest stored line."""
        self._drained_at = 0.0
        self._cleared = 0
        """Lines below this serial number are hidden."""
        self._visible: list[int] = []
        self._matches: list[int] = []
        self._dropped: Counter[Source] = Counter()
        self._components: Counter[str] = Counter()
        self._codes: set[str] = set()
        self._characters = 0
        ticker.subscribe(self, self._on_tick)

    # Filter.

    @property
    def filter(self) -> LogFilter:
        return self._filter

    def set_filter(self, new: LogFilter) -> None:
        if new != self._filter:
            self._filter = new
            self._apply_filter()

    def clear(self) -> None:
        """Hide all lines; `restore` shows them again."""
        self._cleared = self._first + len(self._records)
        self._apply_filter()

    def restore(self) -> None:
        self._cleared = 0
        self._apply_filter()

    @property
    def cleared_count(self) -> int:
        return max(0, self._cleared - self._first)

    # Content.

    @property
    def hidden_columns(self) -> frozenset[int]:
        return frozenset()

    @property
    def stored_count(self) -> int:
        """Number of stored lines, including filtered and cleared ones."""
        return len(self._records)

    @property
    def total(self) -> int:
        """Number of all lines that were read, including dropped ones."""
        return self.stored_count + self.dropped_count

    @property
    def components(self) -> list[str]:
        return sorted(self._components)

    @property
    def codes(self) -> list[str]:
        return sorted(self._codes)

    @property
    def dropped_count(self) -> int:
        return self._dropped.total()

    @property
    def dropped_text(self) -> str:
        """How many lines were dropped and which files have them; empty if none were."""
        count = self.dropped_count
        if not count:
            return ""
        files = []
        if self._dropped["daemon"]:
            files.append("logs/daemon.log")
        if self._dropped["window"]:
            files.append("logs/window.log")
        if self._dropped["run"]:
            files.append("the run's worker.log")
        return f"{count:,} older lines are in {' and '.join(files)}"

    def record(self, row: int) -> LogRecord:
        return self._records[self._visible[row] - self._first]

    def serial(self, row: int) -> int:
        """Return the serial number of the line of a row; it stays valid when rows change."""
        return self._visible[row]

    def row_of(self, serial: int) -> int:
        """Return the row of a line, or of the next visible one; -1 if there is none."""
        row = bisect_left(self._visible, serial)
        return row if row < len(self._visible) else len(self._visible) - 1

    def meaning(self, code: str) -> str:
        """Return the description of a code; empty if it is unknown."""
        return self._records_feed.meanings.get(code, "")

    # Searching.

    @property
    def match_count(self) -> int:
        return len(self._matches)

    def match_number(self, row: int) -> int:
        """Return the index of the match on this row, from 1; 0 if there is none."""
        if not 0 <= row < len(self._visible):
            return 0
        serial = self._visible[row]
        index = bisect_left(self._matches, serial)
        is_match = index < len(self._matches) and self._matches[index] == serial
        return index + 1 if is_match else 0

    def next_match(self, row: int) -> int:
        """Return the row of the next match after `row`, wrapping around; -1 if there is none."""
        if not self._matches:
            return -1
        serial = self._visible[row] if 0 <= row < len(self._visible) else -1
        index = bisect_right(self._matches, serial) % len(self._matches)
        return bisect_left(self._visible, self._matches[index])

    def previous_match(self, row: int) -> int:
        """Return the row of the match before `row`, wrapping around; -1 if there is none."""
        if not self._matches:
            return -1
        serial = self._visible[row] if 0 <= row < len(self._visible) else self._first
        return bisect_left(self._visible, self._matches[bisect_left(self._matches, serial) - 1])

    # Copying.

    def text_of(self, rows: Iterable[int]) -> str:
        """Return the complete lines of these rows."""
        return "\n".join(self.line_text(self.record(row)) for row in sorted(rows))

    def line_text(self, record: LogRecord) -> str:
        """Return a line as it is copied."""
        return record.as_text()

    def text_with_context(self, rows: Sequence[int]) -> str:
        """Return these rows with the lines around them, including filtered ones."""
        if not rows:
            return ""
        selected = {self._visible[row] for row in rows}
        start = max(min(selected) - _CONTEXT_LINES, self._first)
        end = min(max(selected) + _CONTEXT_LINES + 1, self._first + len(self._records))
        return "\n".join(
            f"{'>' if serial in selected else ' '} {self.line_text(record)}"
            for serial, record in enumerate(
                self._records[start - self._first : end - self._first], start
            )
        )

    # QAbstractTableModel.

    def rowCount(self, parent: _Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._visible)

    def columnCount(self, parent: _Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        record = self.record(index.row())
        if role == RECORD_ROLE:
            return record
        if role == Qt.ItemDataRole.DisplayRole:
            return column_text(record, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(record, index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{record.severity.label} {column_text(record, index.column())}"
        return None

    # Updates.

    def _on_tick(self) -> bool:
        now = time.monotonic()
        if now - self._drained_at < self.min_batch_s:
            return False
        records = self._records_feed.drain()
        self._dropped["window"] += self._records_feed.drain_overflow()
        if not records:
            return False
        self._drained_at = now
        newest = self._records[-1].at if self._records else 0.0
        if records[0].at < newest - _MAX_DISORDER_S:
            # Older lines, for example of a run that was just selected.
            self._replace_records(
                sorted([*self._not_cleared(), *records], key=lambda record: record.at)
            )
        else:
            self._append(records)
        return True

    def _append(self, records: list[LogRecord]) -> None:
        self._dropped.update(record.source for record in records[: -self.max_records])
        records = records[-self.max_records :]
        self._drop_for(records)
        serial = self._first + len(self._records)
        self._records += records
        indices = self._filter.select(records)
        visible = [serial + index for index in indices]
        if visible:
            row = len(self._visible)
            self.beginInsertRows(_NO_PARENT, row, row + len(visible) - 1)
            self._visible += visible
            self.endInsertRows()
        matches = self._filter.find_matches(records, indices)
        self._matches += [serial + index for index in matches]
        self._count(records)
        self.changed.emit()

    def _drop_for(self, records: list[LogRecord]) -> None:
        """Drop the oldest lines, so that the new ones fit."""
        excess = len(self._records) + len(records) - self.max_records
        count = min(max(excess, _MIN_DROPPED), len(self._records)) if excess > 0 else 0
        characters = self._characters + sum(map(_length, records))
        if characters > self.max_characters:
            characters -= sum(map(_length, self._records[:count]))
            limit = self.max_characters * _RETAINED_SHARE
            while count < len(self._records) and characters > limit:
                characters -= _length(self._records[count])
                count += 1
        if count:
            self._drop(count)

    def _drop(self, count: int) -> None:
        dropped = self._records[:count]
        self._dropped.update(record.source for record in dropped)
        self._components -= Counter(record.component for record in dropped)
        self._characters -= sum(map(_length, dropped))
        first = self._first + count
        rows = bisect_left(self._visible, first)
        if rows:
            self.beginRemoveRows(_NO_PARENT, 0, rows - 1)
        del self._records[:count]
        del self._visible[:rows]
        del self._matches[: bisect_left(self._matches, first)]
        self._first = first
        if rows:
            self.endRemoveRows()

    def _not_cleared(self) -> list[LogRecord]:
        return self._records[self.cleared_count :]

    def _replace_records(self, records: list[LogRecord]) -> None:
        """Replace all lines; they get new serial numbers."""
        self.beginResetModel()
        self._dropped.update(record.source for record in records[: -self.max_records])
        self._first += len(self._records)
        self._records = records[-self.max_records :]
        self._cleared = 0
        self._components.clear()
        self._codes.clear()
        self._characters = 0
        self._count(self._records)
        self._select_rows()
        self.endResetModel()
        self.changed.emit()

    def _count(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            self._characters += _length(record)
            self._components[record.component] += 1
            if record.code:
                self._codes.add(record.code)

    def _apply_filter(self) -> None:
        self.beginResetModel()
        self._select_rows()
        self.endResetModel()
        self.changed.emit()

    def _select_rows(self) -> None:
        records = self._not_cleared()
        first = self._first + self.cleared_count
        indices = self._filter.select(records)
        self._visible = [first + index for index in indices]
        matches = self._filter.find_matches(records, indices)
        self._matches = [first + index for index in matches]

    def _tooltip(self, record: LogRecord, column: int) -> str:
        if column == TIME:
            return f"{record.date_text} {record.time_text}" if record.has_time else "No timestamp"
        if column == CODE and record.code:
            return f"{record.code}  {self.meaning(record.code)}".strip()
        if column == MESSAGE:
            return _tooltip_html(f"{record.message}\n{record.details}".strip())
        return record.run_id and f"Run {record.run_id}"


def _length(record: LogRecord) -> int:
    return len(record.message) + len(record.details)


def _tooltip_html(text: str) -> str:
    """Keep line breaks, and escape text such as `<module>` that Qt would take for a tag."""
    return f"<p style='white-space: pre-wrap'>{escape(text[:_MAX_TOOLTIP_LENGTH])}</p>"


def column_text(record: LogRecord, column: int) -> str:
    """Return the text of a column."""
    if column == TIME:
        return record.time_text or (f"{record.number:,}" if record.number else "")
    if column == SEVERITY:
        return f"{_SYMBOLS[record.severity]} {record.severity.label}"
    if column == COMPONENT:
        return record.component
    return record.code if column == CODE else record.message[:_MAX_DISPLAYED]
