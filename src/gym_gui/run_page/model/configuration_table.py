"""ConfigurationTable: the values of a run by group, against the defaults or against another run."""

from enum import IntEnum
from typing import Any, Literal

from PySide6.QtCore import (
    QObject,
    Qt,
    Signal,
)

from gym_gui.run_page.model.run_configuration import ConfigRow, ConfigSource, as_json, rows_of
from gym_gui.runtime.models.table_model import Column, Index, TableModel

Against = Literal["defaults", "run"]
ROW_ROLE = Qt.ItemDataRole.UserRole + 1
"""A `ConfigRow`, or the name of a group."""


class ConfigColumn(IntEnum):
    NAME = 0
    VALUE = 1
    REFERENCE = 2


class ConfigurationTable(TableModel):
    """A row is a value, or the heading of a group."""

    COLUMNS = (
        Column("setting"),
        Column("this run"),
        Column("default"),
    )

    changed = Signal()
    """The counts or the comparison changed."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.against: Against = "defaults"
        self.only_differences = False
        self.text = ""
        self._source: ConfigSource | None = None
        self._other: ConfigSource | None = None
        self._all: list[ConfigRow] = []
        self._rows: list[ConfigRow | str] = []

    def show(self, source: ConfigSource | None, other: ConfigSource | None) -> None:
        """`other` is used only for a comparison with a run."""
        if source == self._source and other == self._other:
            return
        self._source, self._other = source, other
        self._all = rows_of(source, other) if source else []
        self._select()

    def compare_against(self, against: Against) -> None:
        self.against = against
        self._select()

    def show_only_differences(self, is_only: bool) -> None:
        self.only_differences = is_only
        self._select()

    def search(self, text: str) -> None:
        self.text = text.strip()
        self._select()

    @property
    def is_known(self) -> bool:
        return self._source is not None

    @property
    def displayed(self) -> list[ConfigRow]:
        return [row for row in self._rows if isinstance(row, ConfigRow)]

    @property
    def differences(self) -> int:
        """Of all values, regardless of the search."""
        return sum(map(self._is_different, self._all))

    @property
    def total(self) -> int:
        return len(self._all)

    def as_json(self) -> str:
        return as_json(self._source) if self._source else ""

    def as_text(self, rows: list[int]) -> str:
        """These rows, tab-separated."""
        selected = (self._rows[row] for row in rows)
        return "\n".join(
            "\t".join((row.name, row.value, self._reference(row)))
            if isinstance(row, ConfigRow)
            else row
            for row in selected
        )

    # Item model.

    def column_title(self, column: int) -> str:
        is_reference = column == ConfigColumn.REFERENCE and self.against == "run"
        return "other run" if is_reference else super().column_title(column)

    def row_count(self) -> int:
        return len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if isinstance(self._rows[index.row()], str):
            return Qt.ItemFlag.ItemIsEnabled
        return super().flags(index)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], ConfigColumn(index.column())
        if role == ROW_ROLE:
            return row
        if isinstance(row, str):
            is_text = role == Qt.ItemDataRole.DisplayRole and column is ConfigColumn.NAME
            return row if is_text else None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            mark = ", different" if self._is_different(row) else ""
            return f"{self.column_title(column)} " + (self._text(row, column) + mark)
        return None

    def is_marked(self, row: ConfigRow) -> bool:
        return self._is_different(row)

    def _text(self, row: ConfigRow, column: ConfigColumn) -> str:
        if column is ConfigColumn.NAME:
            return row.name
        return row.value if column is ConfigColumn.VALUE else self._reference(row)

    def _reference(self, row: ConfigRow) -> str:
        return row.default if self.against == "defaults" else row.other

    def _tip(self, row: ConfigRow) -> str:
        reference = "Default" if self.against == "defaults" else "Other run"
        lines = [f"{row.group}: {row.name}", row.help, f"This run: {row.value or 'not set'}"]
        return "\n".join(filter(None, (*lines, f"{reference}: {self._reference(row) or 'none'}")))

    def _is_different(self, row: ConfigRow) -> bool:
        return row.is_changed if self.against == "defaults" else row.differs

    def _select(self) -> None:
        needle = self.text.casefold()
        self.beginResetModel()
        self._rows = []
        group = ""
        for row in self._all:
            if self.against == "defaults" and not row.value and not row.has_default:
                continue  # only the other run has it
            if self.only_differences and not self._is_different(row):
                continue
            if needle and needle not in f"{row.group} {row.name} {row.value} {row.help}".casefold():
                continue
            if row.group != group:
                group = row.group
                self._rows.append(group)
            self._rows.append(row)
        self.endResetModel()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(ConfigColumn) - 1)
        self.changed.emit()
