"""ColumnsMenu: which columns the list of runs has, remembered from one start to the next."""

from typing import Protocol

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from gym_gui.runs.model.runs_columns import HEADINGS, USUAL_COLUMNS, RunColumn
from gym_gui.widgets.tables.data_table import DataTable

_KEY = "runs/columns"


class KeptSettings(Protocol):
    """What is remembered, by name."""

    def text(self, key: str, default: str = "") -> str: ...

    def set(self, key: str, value: str) -> None: ...


class ColumnsMenu(QMenu):
    """Shown by the header of the list, and as a part of its menu of views."""

    def __init__(self, table: DataTable, settings: KeptSettings | None, parent: QWidget) -> None:
        super().__init__("Columns", parent)
        self._table = table
        self._settings = settings
        self._boxes: dict[RunColumn, QAction] = {}
        for column in RunColumn:
            if column is not RunColumn.RUN:
                box = self.addAction(HEADINGS[column].name)
                box.setCheckable(True)
                box.setToolTip(HEADINGS[column].tip)
                box.triggered.connect(self._on_chosen)
                self._boxes[column] = box
        self.addSeparator()
        self.addAction("As usual").triggered.connect(self._show_usual)
        self.aboutToShow.connect(self._say_what_has_no_room)
        self._show(self._remembered())

    def _say_what_has_no_room(self) -> None:
        for column, box in self._boxes.items():
            has_room = not box.isChecked() or not self._table.isColumnHidden(column)
            box.setText(HEADINGS[column].name + ("" if has_room else " (no room)"))

    def _remembered(self) -> frozenset[RunColumn]:
        names = self._settings.text(_KEY) if self._settings else ""
        if not names:
            return USUAL_COLUMNS
        known = {column.name.lower(): column for column in RunColumn}
        return frozenset(known[name] for name in names.split(",") if name in known)

    def _on_chosen(self) -> None:
        shown = frozenset(column for column, box in self._boxes.items() if box.isChecked())
        self._show(shown)
        if self._settings is not None:
            names = (column.name.lower() for column in sorted({RunColumn.RUN, *shown}))
            self._settings.set(_KEY, ",".join(names))

    def _show_usual(self) -> None:
        self._show(USUAL_COLUMNS)
        if self._settings is not None:
            self._settings.set(_KEY, "")

    def _show(self, shown: frozenset[RunColumn]) -> None:
        for column, box in self._boxes.items():
            box.setChecked(column in shown)
        self._table.use_columns(shown | {RunColumn.RUN})
