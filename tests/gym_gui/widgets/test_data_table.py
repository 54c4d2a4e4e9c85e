"""DataTable in a narrow dock: numbers are never clipped."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_delegate import CellDelegate
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
        text = _ROWS[index.row()][index.column()]
        return text if role == Qt.ItemDataRole.DisplayRole else None


class _Delegate(CellDelegate):
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.record_text(index.column(), index.data())
        is_number = index.column() == _NUMBER
        self.paint_text(painter, option, index.data(), "text", align_right=is_number)


@pytest.fixture
def table(theme: ThemeModel, qtbot: QtBot) -> Iterator[DataTable]:
    holder = QWidget()
    qtbot.addWidget(holder)
    table = DataTable(
        _Rows(holder), _Delegate(theme, holder), (-2, -9), theme, holder, number_columns=(0,)
    )
    table.resize(table.fontMetrics().averageCharWidth() * 22, 200)
    holder.show()
    yield table
    holder.hide()


def content_width(table: DataTable, column: int) -> int:
    return table.columnWidth(column) - table.fontMetrics().height()


def test_number_columns_grow_and_text_columns_shrink(table: DataTable, qtbot: QtBot) -> None:
    """A column grows with its longest number, at the cost of text columns."""
    number, text = _ROWS[1]
    needed = table.fontMetrics().horizontalAdvance
    qtbot.waitUntil(lambda: content_width(table, _NUMBER) >= needed(number))
    assert content_width(table, _TEXT) < needed(text)
    assert table.columnWidth(_NUMBER) + table.columnWidth(_TEXT) <= table.viewport().width()


def test_home_and_end_reach_the_first_and_the_last_row(table: DataTable) -> None:
    """The keys change the selection, too."""
    QTest.keyClick(table, Qt.Key.Key_End)
    assert table.selected_rows() == [len(_ROWS) - 1]
    QTest.keyClick(table, Qt.Key.Key_Home)
    assert table.selected_rows() == [0]
