"""WandbValues: a table of names and values, for the W&B summary and configuration."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Qt

from gym_gui.runtime.models.formatting import format_full_value, format_value
from gym_gui.runtime.models.table_model import Column, Index, TableModel

NAME, VALUE = 0, 1
_MAX_TOOLTIP = 400


class WandbValues(TableModel):
    """Rows in input order. Values update in place, so that the selection stays."""

    def __init__(self, headings: tuple[str, str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.COLUMNS = (Column(headings[NAME]), Column(headings[VALUE], is_number=True))
        self._names: list[str] = []
        self._values: dict[str, Any] = {}

    def show(self, values: Mapping[str, Any]) -> None:
        names = list(values)
        if names == self._names:
            before, self._values = self._values, dict(values)
            if names and repr(before) != repr(self._values):  # NaN != NaN
                self.dataChanged.emit(self.index(0, VALUE), self.index(len(names) - 1, VALUE))
            return
        self.beginResetModel()
        self._names, self._values = names, dict(values)
        self.endResetModel()

    def as_text(self) -> str:
        """Tab-separated, with all digits."""
        return "\n".join(f"{name}\t{format_full_value(self._values[name])}" for name in self._names)

    def row_count(self) -> int:
        return len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        name = self._names[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return name if index.column() == NAME else format_value(self._values[name])
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{name}\n{format_full_value(self._values[name])[:_MAX_TOOLTIP]}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(index.column())
        return None
