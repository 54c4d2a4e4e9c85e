"""EventTagsTable: the curves in a run's event files, each with its newest value."""

import math
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QObject, Qt

from gym_gui.runtime.models.formatting import format_decimal, format_integer
from gym_gui.runtime.models.table_model import Column, Index, TableModel
from gym_gui.tensorboard.feed.event_folders import TagRow

_DIGITS = 4
_MAX_PLAIN = 1e7


class TagColumn(IntEnum):
    TAG = 0
    POINTS = 1
    STEP = 2
    VALUE = 3


class EventTagsTable(TableModel):
    """Created by `TensorBoardModel`. Rows update in place while the set of curves is the same."""

    COLUMNS = (
        Column("curve", "Tag in TensorBoard"),
        Column("points", "Number of values", is_number=True),
        Column("last step", "Step of the newest value", is_number=True),
        Column("last value", "Newest value", is_number=True),
    )

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: tuple[TagRow, ...] = ()
        self._rows: list[TagRow] = []
        self._filter = ""

    def show(self, rows: tuple[TagRow, ...]) -> None:
        if rows is self._all:
            return
        self._all = rows
        self._update()

    def set_filter(self, text: str) -> None:
        """Filter by tag: it must contain every word of `text`."""
        self._filter = text
        self._update()

    @property
    def total(self) -> int:
        return len(self._all)

    @property
    def is_filtered(self) -> bool:
        return bool(self._filter.split())

    def row_count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], TagColumn(index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            is_value = column is TagColumn.VALUE
            return repr(row.last_value) if is_value else row.tag
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        return None

    def _update(self) -> None:
        terms = self._filter.lower().split()
        rows = [row for row in self._all if all(term in row.tag.lower() for term in terms)]
        if [row.tag for row in rows] == [row.tag for row in self._rows]:
            self._rows = rows
            if rows:
                last = self.index(len(rows) - 1, len(TagColumn) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    @staticmethod
    def _text(row: TagRow, column: TagColumn) -> str:
        if column is TagColumn.TAG:
            return row.tag
        if column is TagColumn.POINTS:
            return format_integer(row.points)
        if column is TagColumn.STEP:
            return format_integer(row.last_step)
        return _value(row.last_value)


def _value(value: float) -> str:
    """Significant digits rather than decimals: losses and learning rates are small."""
    if not math.isfinite(value):
        return format_decimal(value)
    is_plain = value == int(value) and abs(value) < _MAX_PLAIN
    text = f"{int(value):,}" if is_plain else f"{value:.{_DIGITS}g}"
    return text.replace("-", "\N{MINUS SIGN}")
