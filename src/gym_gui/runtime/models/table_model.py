"""TableModel: the base of table models with declared columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


class Column(NamedTuple):
    """The header of a column. Numbers are right-aligned."""

    title: str
    tool_tip: str = ""
    is_number: bool = False


class TableModel(QAbstractTableModel):
    """Subclasses declare `COLUMNS`, and define `row_count` and `data`."""

    COLUMNS: Sequence[Column] = ()

    def row_count(self) -> int:
        raise NotImplementedError

    def column_title(self, column: int) -> str:
        """Subclasses override this for a title that changes."""
        return self.COLUMNS[column].title

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        """Of the header, and for `data` of a subclass."""
        is_number = self.COLUMNS[column].is_number
        side = Qt.AlignmentFlag.AlignRight if is_number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else self.row_count()

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self.COLUMNS)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or section >= len(self.COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.column_title(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.COLUMNS[section].tool_tip or None
        return self.alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None
