"""A table of numbers and texts in a narrow dock: no number is ever cut off."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_painter import CellDelegate
from gym_gui.widgets.tables.data_table import DataTable

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
_NUMBER, _TEXT = range(2)
_ROWS = [("1.00", "left"), ("\N{MINUS SIGN}100.00", "fire the main engine"), ("0.00", "wait")]

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


class _Rows(QAbstractTableModel):
    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(_ROWS)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        shown = _ROWS[index.row()][index.column()]
        return shown if role == Qt.ItemDataRole.DisplayRole else None


class _Delegate(CellDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.note_text(index.column(), index.data())
        is_number = index.column() == _NUMBER
        self.paint_text(painter, option, index.data(), "text", is_right=is_number)


@pytest.fixture
def table(theme: ThemeModel, qtbot: QtBot) -> Iterator[DataTable]:
    holder = QWidget()
    qtbot.addWidget(holder)
    made = DataTable(_Rows(holder), _Delegate(theme, holder), (-2, -9), theme, holder, numbers=(0,))
    made.resize(made.fontMetrics().averageCharWidth() * 22, 200)
    holder.show()
    yield made
    holder.hide()


def room(table: DataTable, column: int) -> int:
    return table.columnWidth(column) - table.fontMetrics().height()


def test_numbers_get_their_room_and_texts_give_way(table: DataTable, qtbot: QtBot) -> None:
    """The column grows with the longest number that was seen, at the cost of the text."""
    number, text = _ROWS[1]
    needed = table.fontMetrics().horizontalAdvance
    qtbot.waitUntil(lambda: room(table, _NUMBER) >= needed(number))
    assert room(table, _TEXT) < needed(text)
    assert table.columnWidth(_NUMBER) + table.columnWidth(_TEXT) <= table.viewport().width()


def test_home_and_end_reach_the_first_and_the_last_row(table: DataTable) -> None:
    """As in any list."""
    QTest.keyClick(table, Qt.Key.Key_End)
    assert table.chosen_rows() == [len(_ROWS) - 1]
    QTest.keyClick(table, Qt.Key.Key_Home)
    assert table.chosen_rows() == [0]
