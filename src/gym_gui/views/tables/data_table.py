"""DataTable: a table view set up for many rows: one height, no widgets, nothing measured."""

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.tables.cell_painter import ROW_HEIGHTS, CellDelegate


class DataTable(QTableView):
    """Rows are chosen whole. Enter or a double click chooses one for good."""

    row_activated = Signal(int)
    copy_asked = Signal()

    def __init__(
        self,
        model: QAbstractItemModel,
        delegate: CellDelegate,
        widths: Sequence[float],
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        dispensable: Sequence[int] = (),
    ) -> None:
        """`widths` are in characters; what is left over goes to the negative ones.

        Where there is too little room the `dispensable` columns go, the first one first.
        """
        super().__init__(parent)
        self._widths = tuple(widths)
        self._dispensable = tuple(dispensable)
        self._unused: set[int] = set()
        delegate.setParent(self)
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * ROW_HEIGHTS))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("0" * 4))
        theme.changed.connect(self.viewport().update)
        self.doubleClicked.connect(lambda index: self.row_activated.emit(index.row()))
        self.share_width()

    def chosen_rows(self) -> list[int]:
        """In order. Of a whole table that is chosen, all of them."""
        chosen = self.selectionModel().selection()
        parts = (chosen.at(place) for place in range(chosen.size()))
        return sorted({row for part in parts for row in range(part.top(), part.bottom() + 1)})

    def put_on_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and (
            self.state() is not QAbstractItemView.State.EditingState
        ):
            if self.currentIndex().isValid():
                self.row_activated.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.share_width()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_widths"):
            self.verticalHeader().setDefaultSectionSize(
                round(self.fontMetrics().height() * ROW_HEIGHTS)
            )
            self.share_width()

    def use_column(self, column: int, is_used: bool) -> None:
        """A column that has nothing to say takes no room."""
        if is_used == (column in self._unused):
            self._unused ^= {column}
            self.share_width()

    def share_width(self) -> None:
        """Each column what it needs; what is left over to those that may grow."""
        letter, edge = self.fontMetrics().averageCharWidth(), self.fontMetrics().height()
        needed = {
            column: round(abs(width) * letter) + edge
            for column, width in enumerate(self._widths)
            if column not in self._unused
        }
        room = self.viewport().width()
        for column in self._dispensable:
            if sum(needed.values()) > room:
                needed.pop(column, None)
        spare = max(0, room - sum(needed.values()))
        growing = {column: -self._widths[column] for column in needed if self._widths[column] < 0}
        for column in range(len(self._widths)):
            self.setColumnHidden(column, column not in needed)
            if column in needed:
                share = growing.get(column, 0.0) / (sum(growing.values()) or 1.0)
                self.setColumnWidth(column, needed[column] + int(spare * share))
