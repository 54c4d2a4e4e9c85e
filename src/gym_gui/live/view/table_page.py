"""TablePage: base of the table views: a bar, and a table or a text if it has no rows."""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStackedWidget, QStyleOptionViewItem, QVBoxLayout, QWidget

from gym_gui.live.view.table_bar import Table, TableBar
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.tables.cell_delegate import CellDelegate, Index
from gym_gui.widgets.tables.data_table import DataTable

_MAX_COPIED_ROWS = 10_000


class _RowDelegate(CellDelegate):
    def __init__(self, table: Table, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option)
        column = index.column()
        text, tone = self._table.cell(index.row(), column)
        if text:
            self.record_text(column, text)
            self.paint_text(
                painter, option, text, tone, align_right=self._table.COLUMNS[column].is_number
            )


class TablePage(QWidget):
    """Shows a table of episodes or steps and follows new rows while its run is running."""

    def __init__(
        self,
        table: Table,
        noun: str,
        widths: tuple[float, ...],
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        dispensable: Sequence[int] = (),
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._noun = noun
        self._is_scrolling = False
        self._run_id = ""
        self._followed_run = ""
        """The run whose newest rows are followed; its last rows arrive after it has finished."""
        self.bar = TableBar(table, noun, theme)
        self.grid = DataTable(
            table,
            _RowDelegate(table, theme, self),
            widths,
            theme,
            number_columns=[i for i, column in enumerate(table.COLUMNS) if column.is_number],
            optional_columns=dispensable,
        )
        self.grid.setAccessibleName(f"{noun.capitalize()}s")
        self._empty = EmptyState("table", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._stack, 1)
        self.bar.copy_requested.connect(self.copy)
        self.bar.follow_changed.connect(self._on_follow_changed)
        self.grid.copy_requested.connect(self.copy)
        self.grid.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        # A table that shrinks, for example below a new banner, would hide its last rows.
        self.grid.verticalScrollBar().rangeChanged.connect(self._keep_end_visible)
        # A slot, not a lambda: Qt disconnects it if the table outlives this page.
        table.rowsInserted.connect(self._keep_end_visible)
        table.modelReset.connect(self._on_reset)
        table.changed.connect(self._update)
        self._update()

    def copy(self) -> None:
        """Copy the selected rows as tab-separated text."""
        rows = self.grid.selected_rows()[:_MAX_COPIED_ROWS]
        if rows:
            self.grid.copy_to_clipboard(self._table.as_tsv(rows))

    def empty_text(self) -> tuple[str, str]:
        """Return title and text for a table without rows."""
        raise NotImplementedError

    def _update(self) -> None:
        table = self._table
        is_other_run = table.run_id != self._run_id
        if is_other_run:
            self._run_id = table.run_id
            self.grid.reset_widths()
        if table.is_loading and not is_other_run and self._stack.currentWidget() is self._empty:
            return  # avoids flicker from one episode without rows to the next
        if table.rowCount() or table.is_loading:
            self._stack.setCurrentWidget(self.grid)
            return
        if table.problem is not None:
            title = f"The {self._noun}s cannot be shown"
            self._empty.show_message(title, f"{table.problem.message} {table.problem.remedy}")
        else:
            self._empty.show_message(*self.empty_text())
        self._stack.setCurrentWidget(self._empty)

    @property
    def _follows(self) -> bool:
        table = self._table
        is_followed = table.is_live or table.run_id == self._followed_run != ""
        return self.bar.follow.isChecked() and is_followed and table.appends_rows

    @Slot()
    def _keep_end_visible(self) -> None:
        if self._follows:
            self._followed_run = self._table.run_id
            self._scroll_to_end()

    def _on_reset(self) -> None:
        """A table of a finished run starts at its first row."""
        if not self._table.is_live:
            self._followed_run = ""

    def _on_follow_changed(self, follows: bool) -> None:
        if follows:
            self._scroll_to_end()

    def _scroll_to_end(self) -> None:
        self._is_scrolling = True
        self.grid.scrollToBottom()
        self._is_scrolling = False

    def _on_scrolled(self, value: int) -> None:
        """Scrolling up stops following; scrolling to the end resumes it."""
        if self._is_scrolling:
            return
        self._followed_run = ""
        if self._table.is_live:
            self.bar.follow.setChecked(value >= self.grid.verticalScrollBar().maximum())
