"""PackagesTable: the packages of a run, and those of another run for comparison."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QObject,
    Qt,
    Signal,
)

from gym_gui.run_page.model.run_reproduction import PackageRow, package_rows
from gym_gui.runtime.models.table_model import Column, Index, TableModel

PACKAGE_ROLE = Qt.ItemDataRole.UserRole + 1
_MISSING = "—"


class PackageColumn(IntEnum):
    NAME = 0
    HERE = 1
    THERE = 2


class PackagesTable(TableModel):
    """Rows are sorted by name."""

    COLUMNS = (
        Column("package"),
        Column("this run"),
        Column("other run"),
    )

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.only_differences = False
        self.text = ""
        self.has_other = False
        self._all: list[PackageRow] = []
        self._rows: list[PackageRow] = []

    def show(self, here: Mapping[str, str], there: Mapping[str, str] | None) -> None:
        """`there`: packages of the run to compare with; None for no comparison."""
        rows = package_rows(here, there)
        if rows == self._all and self.has_other == (there is not None):
            return
        self._all, self.has_other = rows, there is not None
        self._select()

    def show_only_differences(self, is_only: bool) -> None:
        self.only_differences = is_only
        self._select()

    def search(self, text: str) -> None:
        self.text = text.strip()
        self._select()

    @property
    def total(self) -> int:
        return len(self._all)

    @property
    def differences(self) -> int:
        return sum(row.differs for row in self._all)

    @property
    def rows(self) -> tuple[PackageRow, ...]:
        return tuple(self._rows)

    def as_text(self, rows: list[int]) -> str:
        selected = (self._rows[row] for row in rows)
        return "\n".join(f"{row.name}\t{row.here}\t{row.there}".rstrip() for row in selected)

    def row_count(self) -> int:
        return len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], PackageColumn(index.column())
        if role == PACKAGE_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_text(row, column)}{', different' if row.differs else ''}"
        return None

    def _select(self) -> None:
        needle = self.text.casefold()
        self.beginResetModel()
        self._rows = [
            row
            for row in self._all
            if (row.differs or not (self.only_differences and self.has_other))
            and needle in row.name.casefold()
        ]
        self.endResetModel()
        self.changed.emit()


def _text(row: PackageRow, column: PackageColumn) -> str:
    if column is PackageColumn.NAME:
        return row.name
    return (row.here if column is PackageColumn.HERE else row.there) or _MISSING
