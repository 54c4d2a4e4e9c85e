"""DataTable: a table view set up for many rows: one height, no widgets, nothing measured."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_painter import ROW_HEIGHTS, CellDelegate

_MAX_TEXT = 48
"""More characters than this a text is not given room for."""
_MIN_TEXT = 6
"""So many it keeps where there is too little room."""
_ENDS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_KEYPAD = Qt.KeyboardModifier.KeypadModifier


class DataTable(QTableView):
    """Rows are chosen whole. Enter or a double click chooses one for good."""

    row_activated = Signal(int)
    copy_requested = Signal()

    def __init__(
        self,
        model: QAbstractItemModel,
        delegate: CellDelegate,
        widths: Sequence[float],
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        numbers: Sequence[int] = (),
        dispensable: Sequence[int] = (),
    ) -> None:
        """`widths` are in characters; what is left over goes to the negative ones.

        Columns of `numbers` get the room of their longest one; those of texts that may grow, too,
        as long as there is any. Where there is too little, the `dispensable` columns go, the first
        one first, and then the texts give way.
        """
        super().__init__(parent)
        self._widths = tuple(widths)
        self._numbers = frozenset(numbers)
        self._longest: dict[int, str] = {}
        self._delegate = delegate
        self._dispensable = tuple(dispensable)
        self._unused: set[int] = set()
        delegate.setParent(self)
        self.setModel(model)
        self.setItemDelegate(delegate)
        # Later: columns do not change while they are painted.
        delegate.widened.connect(self._make_room, Qt.ConnectionType.QueuedConnection)
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
        # With the table's own, it would look at all rows for each heading that it paints.
        header.setSelectionModel(QItemSelectionModel(model, header))
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
            self.copy_requested.emit()
        elif event.key() in _ENDS and not event.modifiers() & ~_KEYPAD:
            last = self.model().rowCount() - 1
            self.setCurrentIndex(
                self.model().index(0 if event.key() == Qt.Key.Key_Home else last, 0)
            )
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

    def use_columns(self, columns: Collection[int]) -> None:
        """These, and no others, as far as there is room."""
        self._unused = set(range(len(self._widths))) - set(columns)
        self.share_width()

    def forget_widths(self) -> None:
        """What is shown from now on is something else."""
        self._delegate.forget_widths()
        self._longest.clear()
        self.share_width()

    def _make_room(self, column: int, text: str) -> None:
        self._longest[column] = text
        self.share_width()

    def share_width(self) -> None:
        """Each column what it needs; what is left over to those that may grow."""
        edge = self.fontMetrics().height()
        needed = {
            column: self._preferred_width(column) + edge
            for column in range(len(self._widths))
            if column not in self._unused
        }
        room = self.viewport().width()
        for column in self._dispensable:
            if sum(needed.values()) > room:
                needed.pop(column, None)
        self._give_way(needed, room)
        spare = max(0, room - sum(needed.values()))
        growing = {column: -self._widths[column] for column in needed if self._widths[column] < 0}
        for column in range(len(self._widths)):
            self.setColumnHidden(column, column not in needed)
            if column in needed:
                share = growing.get(column, 0.0) / (sum(growing.values()) or 1.0)
                self.setColumnWidth(column, needed[column] + int(spare * share))

    def _preferred_width(self, column: int) -> int:
        metrics, width = self.fontMetrics(), self._widths[column]
        usual = round(abs(width) * metrics.averageCharWidth())
        text = self._longest.get(column, "")
        if column in self._numbers:
            heading = str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
            return max(usual, _widest(metrics, text), metrics.horizontalAdvance(heading) + 2)
        if width > 0 or not text:
            return usual
        return max(usual, metrics.horizontalAdvance(text[:_MAX_TEXT]) + 2)

    def _give_way(self, needed: dict[int, int], room: int) -> None:
        """Texts make room for numbers, the longest of them first."""
        metrics = self.fontMetrics()
        least = metrics.averageCharWidth() * _MIN_TEXT + metrics.height()
        texts = [column for column in needed if column not in self._numbers]
        while (missing := sum(needed.values()) - room) > 0:
            widest = max(texts, key=lambda column: needed[column], default=None)
            if widest is None or needed[widest] <= least:
                return
            others = [needed[column] for column in texts if needed[column] < needed[widest]]
            needed[widest] = max(least, needed[widest] - missing, max(others, default=least) - 1)


def _widest(metrics: QFontMetrics, number: str) -> int:
    """The room of any number of that length."""
    zeros = "".join(
        "0" if sign.isdigit() or sign in "-\N{MINUS SIGN}+" else sign for sign in number
    )
    signs = metrics.horizontalAdvance("\N{MINUS SIGN}") - metrics.horizontalAdvance("0")
    return metrics.horizontalAdvance(zeros) + max(0, signs) + 2 if number else 0
