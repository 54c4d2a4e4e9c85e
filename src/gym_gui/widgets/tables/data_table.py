"""DataTable: a table view for many rows: fixed row height, no cell widgets, computed widths."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_delegate import ROW_HEIGHT_EMS, CellDelegate

_MAX_TEXT_CHARS = 48
"""A text column grows to at most this width."""
_MIN_TEXT_CHARS = 6
"""A text column shrinks to at minimum this width."""
_END_KEYS = (Qt.Key.Key_Home, Qt.Key.Key_End)
_KEYPAD = Qt.KeyboardModifier.KeypadModifier


class DataTable(QTableView):
    """Selects whole rows; Enter or a double click activates one."""

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
        number_columns: Sequence[int] = (),
        optional_columns: Sequence[int] = (),
    ) -> None:
        """`widths` are in characters; columns with a negative width share the remaining width.

        `number_columns` are as wide as their longest number. If the table is too narrow,
        `optional_columns` are hidden, the first one first; then text columns shrink.
        """
        super().__init__(parent)
        self._widths = tuple(widths)
        self._number_columns = frozenset(number_columns)
        self._longest: dict[int, str] = {}
        self._delegate = delegate
        self._optional_columns = tuple(optional_columns)
        self._unused: set[int] = set()
        delegate.setParent(self)
        self.setModel(model)
        self.setItemDelegate(delegate)
        # Queued, because columns must not change while they are painted.
        delegate.column_widened.connect(self._widen, Qt.ConnectionType.QueuedConnection)
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
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * ROW_HEIGHT_EMS))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        # With the selection model of the table, it would visit all rows for each painted section.
        header.setSelectionModel(QItemSelectionModel(model, header))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setMinimumSectionSize(self.fontMetrics().horizontalAdvance("0" * 4))
        theme.changed.connect(self.viewport().update)
        self.doubleClicked.connect(lambda index: self.row_activated.emit(index.row()))
        self.distribute_width()

    def selected_rows(self) -> list[int]:
        """Sorted."""
        selection = self.selectionModel().selection()
        ranges = (selection.at(index) for index in range(selection.size()))
        return sorted({row for item in ranges for row in range(item.top(), item.bottom() + 1)})

    def copy_to_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_requested.emit()
        elif event.key() in _END_KEYS and not event.modifiers() & ~_KEYPAD:
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
        self.distribute_width()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_widths"):
            self.verticalHeader().setDefaultSectionSize(
                round(self.fontMetrics().height() * ROW_HEIGHT_EMS)
            )
            self.distribute_width()

    def set_column_used(self, column: int, is_used: bool) -> None:
        """Hide a column that has no content."""
        if is_used == (column in self._unused):
            self._unused ^= {column}
            self.distribute_width()

    def set_used_columns(self, columns: Collection[int]) -> None:
        """Show only these columns, as far as the width permits."""
        self._unused = set(range(len(self._widths))) - set(columns)
        self.distribute_width()

    def reset_widths(self) -> None:
        """Forget the longest texts, for other content."""
        self._delegate.reset_widths()
        self._longest.clear()
        self.distribute_width()

    def _widen(self, column: int, text: str) -> None:
        self._longest[column] = text
        self.distribute_width()

    def distribute_width(self) -> None:
        """Give each column its preferred width, and the remaining width to those that may grow."""
        edge = self.fontMetrics().height()
        needed = {
            column: self._preferred_width(column) + edge
            for column in range(len(self._widths))
            if column not in self._unused
        }
        available = self.viewport().width()
        for column in self._optional_columns:
            if sum(needed.values()) > available:
                needed.pop(column, None)
        self._shrink_texts(needed, available)
        spare = max(0, available - sum(needed.values()))
        growing = {column: -self._widths[column] for column in needed if self._widths[column] < 0}
        for column in range(len(self._widths)):
            self.setColumnHidden(column, column not in needed)
            if column in needed:
                fraction = growing.get(column, 0.0) / (sum(growing.values()) or 1.0)
                self.setColumnWidth(column, needed[column] + int(spare * fraction))

    def _preferred_width(self, column: int) -> int:
        metrics, width = self.fontMetrics(), self._widths[column]
        default = round(abs(width) * metrics.averageCharWidth())
        text = self._longest.get(column, "")
        if column in self._number_columns:
            heading = str(self.model().headerData(column, Qt.Orientation.Horizontal) or "")
            return max(
                default, _widest_number(metrics, text), metrics.horizontalAdvance(heading) + 2
            )
        if width > 0 or not text:
            return default
        return max(default, metrics.horizontalAdvance(text[:_MAX_TEXT_CHARS]) + 2)

    def _shrink_texts(self, needed: dict[int, int], available: int) -> None:
        """Shrink text columns until all columns fit, the widest first."""
        metrics = self.fontMetrics()
        minimum = metrics.averageCharWidth() * _MIN_TEXT_CHARS + metrics.height()
        texts = [column for column in needed if column not in self._number_columns]
        while (excess := sum(needed.values()) - available) > 0:
            widest = max(texts, key=lambda column: needed[column], default=None)
            if widest is None or needed[widest] <= minimum:
                return
            others = [needed[column] for column in texts if needed[column] < needed[widest]]
            needed[widest] = max(minimum, needed[widest] - excess, max(others, default=minimum) - 1)


def _widest_number(metrics: QFontMetrics, number: str) -> int:
    """The width of any number with this many characters."""
    zeros = "".join(
        "0" if char.isdigit() or char in "-\N{MINUS SIGN}+" else char for char in number
    )
    extra = metrics.horizontalAdvance("\N{MINUS SIGN}") - metrics.horizontalAdvance("0")
    return metrics.horizontalAdvance(zeros) + max(0, extra) + 2 if number else 0
