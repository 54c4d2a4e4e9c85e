"""LogModel: the newest lines of all logs as a table, filtered and searched.

A line has a serial number for as long as it is kept. The rows are those that the filter shows, so
a filter is one pass over plain values, and no proxy stands between the table and its lines.
"""

import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from gym_gui.log.feed import LogFeed
from gym_gui.log.model.log_filter import LogFilter
from gym_gui.runtime.log_records import LogRecord, Severity, Source
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.runs import RunRecord

MOST_RECORDS = 20_000
_DROPPED_AT_ONCE = 1_000
"""So that rows above do not go one by one under somebody's eyes."""
_CONTEXT_LINES = 5
_LONGEST_TIP = 2_000
_OUT_OF_ORDER_SECONDS = 5.0
_LEAST_SECONDS = 0.1
"""Between two batches: nobody reads faster, and the ticker rests later than this."""

COLUMNS = ("Time", "Severity", "Component", "Code", "Message")
TIME, SEVERITY, COMPONENT, CODE, MESSAGE = range(len(COLUMNS))
RECORD_ROLE = int(Qt.ItemDataRole.UserRole)

_MARKS = {
    Severity.DEBUG: "·",
    Severity.INFO: "○",
    Severity.WARNING: "▲",
    Severity.ERROR: "✕",
}
_Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()


class LogModel(QAbstractTableModel):
    """Made once, by the wiring."""

    changed = Signal()
    """Counts, components, codes or what the search finds; at most once per tick."""

    def __init__(self, feed: LogFeed, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._filter = LogFilter()
        self._records: list[LogRecord] = []
        self._first = 0
        """The serial number of the oldest that is kept."""
        self._taken_at = 0.0
        self._cleared = 0
        """Below this number nothing is shown."""
        self._visible: list[int] = []
        self._found: list[int] = []
        self._dropped: Counter[Source] = Counter()
        self._components: Counter[str] = Counter()
        self._codes: set[str] = set()
        ticker.subscribe(self, self._on_tick)

    # What is shown.

    @property
    def filter(self) -> LogFilter:
        return self._filter

    def show_only(self, chosen: LogFilter) -> None:
        if chosen != self._filter:
            self._filter = chosen
            self._sift()

    def show_run(self, run: RunRecord | None) -> None:
        """The log of this run beside the others; that of the run before goes."""
        if self._feed.run_id == ("" if run is None else run.run_id):
            return
        self._feed.show_run(run)
        if any(record.source == "run" for record in self._records):
            self._keep_only([each for each in self._not_cleared() if each.source != "run"])

    @property
    def run_id(self) -> str:
        """The run whose log is shown too; empty: none."""
        return self._feed.run_id

    def clear(self) -> None:
        """Nothing that is there now is shown any more; `restore` brings it back."""
        self._cleared = self._first + len(self._records)
        self._sift()

    def restore(self) -> None:
        self._cleared = 0
        self._sift()

    @property
    def hidden_by_clearing(self) -> int:
        return max(0, self._cleared - self._first)

    # What there is.

    @property
    def total(self) -> int:
        return len(self._records)

    @property
    def components(self) -> list[str]:
        return sorted(self._components)

    @property
    def codes(self) -> list[str]:
        return sorted(self._codes)

    @property
    def logs_folder(self) -> Path:
        return self._feed.logs_folder

    @property
    def dropped_count(self) -> int:
        return self._dropped.total()

    @property
    def dropped_text(self) -> str:
        """Where the lines are that no longer fit; empty when all do."""
        count = self.dropped_count
        if not count:
            return ""
        places = []
        if self._dropped["daemon"]:
            places.append("logs/daemon.log")
        if self._dropped["window"]:
            places.append("logs/window.log")
        if self._dropped["run"]:
            places.append("the run's worker.log")
        return f"{count:,} older lines are in {' and '.join(places)}"

    def record(self, row: int) -> LogRecord:
        return self._records[self._visible[row] - self._first]

    def serial(self, row: int) -> int:
        """The number by which the line of a row is found again when the rows have changed."""
        return self._visible[row]

    def row_of(self, serial: int) -> int:
        """The row of a line, or of the next one that is shown; -1 when there is none."""
        row = bisect_left(self._visible, serial)
        return row if row < len(self._visible) else len(self._visible) - 1

    def meaning(self, code: str) -> str:
        """What a code says in general; empty when that is not known."""
        return self._feed.meanings.get(code, "")

    # Searching.

    @property
    def found_count(self) -> int:
        return len(self._found)

    def found_number(self, row: int) -> int:
        """The how manieth find is on this row, from 1; 0 when there is none."""
        if not 0 <= row < len(self._visible):
            return 0
        serial = self._visible[row]
        at = bisect_left(self._found, serial)
        return at + 1 if at < len(self._found) and self._found[at] == serial else 0

    def next_found(self, row: int) -> int:
        """The row of the next find after `row`, from the top again after the last; -1: none."""
        if not self._found:
            return -1
        serial = self._visible[row] if 0 <= row < len(self._visible) else -1
        at = bisect_right(self._found, serial) % len(self._found)
        return bisect_left(self._visible, self._found[at])

    def previous_found(self, row: int) -> int:
        """The same backwards."""
        if not self._found:
            return -1
        serial = self._visible[row] if 0 <= row < len(self._visible) else self._first
        return bisect_left(self._visible, self._found[bisect_left(self._found, serial) - 1])

    # Copying.

    def text_of(self, rows: Iterable[int]) -> str:
        """The lines of these rows, whole."""
        return "\n".join(self.record(row).as_text() for row in sorted(rows))

    def text_with_context(self, rows: Sequence[int]) -> str:
        """With the lines before and after them, also those that the filter hides."""
        if not rows:
            return ""
        chosen = {self._visible[row] for row in rows}
        begin = max(min(chosen) - _CONTEXT_LINES, self._first)
        end = min(max(chosen) + _CONTEXT_LINES + 1, self._first + len(self._records))
        return "\n".join(
            f"{'>' if serial in chosen else ' '} {self._records[serial - self._first].as_text()}"
            for serial in range(begin, end)
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
            return shown_text(record, index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(record, index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{record.severity.word} {shown_text(record, index.column())}"
        return None

    # What comes.

    def _on_tick(self) -> bool:
        now = time.monotonic()
        if now - self._taken_at < _LEAST_SECONDS:
            return False
        records = self._feed.drain()
        self._dropped["window"] += self._feed.take_overflow()
        if not records:
            return False
        self._taken_at = now
        newest = self._records[-1].at if self._records else 0.0
        if records[0].at < newest - _OUT_OF_ORDER_SECONDS:
            # What was told long ago, such as the log of a run that was just chosen.
            self._keep_only(sorted([*self._not_cleared(), *records], key=lambda record: record.at))
        else:
            self._append(records)
        return True

    def _append(self, records: list[LogRecord]) -> None:
        self._drop(len(self._records) + len(records) - MOST_RECORDS)
        self._dropped.update(record.source for record in records[:-MOST_RECORDS])
        records = records[-MOST_RECORDS:]
        serial = self._first + len(self._records)
        self._records += records
        places = self._filter.passing(records)
        shown = [serial + at for at in places]
        if shown:
            begin = len(self._visible)
            self.beginInsertRows(_NO_PARENT, begin, begin + len(shown) - 1)
            self._visible += shown
            self.endInsertRows()
        self._found += [serial + at for at in self._filter.found(records, places)]
        self._count(records)
        self.changed.emit()

    def _drop(self, excess: int) -> None:
        """Make room for so many."""
        if excess <= 0 or not self._records:
            return
        gone = self._records[: max(excess, _DROPPED_AT_ONCE)]
        self._dropped.update(record.source for record in gone)
        self._components -= Counter(record.component for record in gone)
        first = self._first + len(gone)
        rows = bisect_left(self._visible, first)
        if rows:
            self.beginRemoveRows(_NO_PARENT, 0, rows - 1)
        del self._records[: len(gone)]
        del self._visible[:rows]
        del self._found[: bisect_left(self._found, first)]
        self._first = first
        if rows:
            self.endRemoveRows()

    def _not_cleared(self) -> list[LogRecord]:
        return self._records[self.hidden_by_clearing :]

    def _keep_only(self, records: list[LogRecord]) -> None:
        """These instead of all others, with new numbers."""
        self.beginResetModel()
        gone = records[:-MOST_RECORDS]
        self._dropped.update(record.source for record in gone)
        self._first += len(self._records)
        self._records = records[-MOST_RECORDS:]
        self._cleared = 0
        self._components.clear()
        self._codes.clear()
        self._count(self._records)
        self._select_rows()
        self.endResetModel()
        self.changed.emit()

    def _count(self, records: Iterable[LogRecord]) -> None:
        for record in records:
            self._components[record.component] += 1
            if record.code:
                self._codes.add(record.code)

    def _sift(self) -> None:
        self.beginResetModel()
        self._select_rows()
        self.endResetModel()
        self.changed.emit()

    def _select_rows(self) -> None:
        records = self._not_cleared()
        begin = self._first + self.hidden_by_clearing
        places = self._filter.passing(records)
        self._visible = [begin + at for at in places]
        self._found = [begin + at for at in self._filter.found(records, places)]

    def _tip(self, record: LogRecord, column: int) -> str:
        if column == TIME:
            return (
                f"{record.date_text} {record.time_text}" if record.has_time else "No time is told"
            )
        if column == CODE and record.code:
            return f"{record.code}  {self.meaning(record.code)}".strip()
        if column == MESSAGE:
            return _as_tip(f"{record.message}\n{record.details}".strip())
        return record.run_id and f"Run {record.run_id}"


def _as_tip(text: str) -> str:
    """Many lines as they are; Qt would take `<module>` in a traceback for a tag."""
    return f"<p style='white-space: pre-wrap'>{escape(text[:_LONGEST_TIP])}</p>"


def shown_text(record: LogRecord, column: int) -> str:
    """What stands in a column."""
    if column == TIME:
        return record.time_text
    if column == SEVERITY:
        return f"{_MARKS[record.severity]} {record.severity.word}"
    if column == COMPONENT:
        return record.component
    return record.code if column == CODE else record.message
