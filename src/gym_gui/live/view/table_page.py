"""TablePage: a bar, a table, and what stands in its place while there are no rows."""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStackedWidget, QStyleOptionViewItem, QVBoxLayout, QWidget

from gym_gui.live.view.table_bar import Table, TableBar
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.tables.cell_painter import CellDelegate, Index
from gym_gui.widgets.tables.data_table import DataTable

_MOST_COPIED = 10_000


class _RowDelegate(CellDelegate):
    def __init__(self, table: Table, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_ground(painter, option)
        column = index.column()
        text, tone = self._table.cell(index.row(), column)
        if text:
            self.note_text(column, text)
            self.paint_text(painter, option, text, tone, is_right=column in self._table.RIGHT)


class TablePage(QWidget):
    """What the pages of episodes and of steps have in common."""

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
        """Whose newest rows were followed while it went on: its last ones come when it is over."""
        self.bar = TableBar(table, noun, theme)
        self.grid = DataTable(
            table,
            _RowDelegate(table, theme, self),
            widths,
            theme,
            numbers=table.RIGHT,
            dispensable=dispensable,
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
        # A table that gets smaller, such as below a banner, hides its last rows.
        self.grid.verticalScrollBar().rangeChanged.connect(self._stay_at_end)
        # A method, not a lambda: the table may outlive this page, and Qt then disconnects it.
        table.rowsInserted.connect(self._stay_at_end)
        table.modelReset.connect(self._on_reset)
        table.changed.connect(self._update)
        self._update()

    def copy(self) -> None:
        """What is chosen, as text that spreadsheets take."""
        rows = self.grid.chosen_rows()[:_MOST_COPIED]
        if rows:
            self.grid.put_on_clipboard(self._table.as_tsv(rows))

    def empty_words(self) -> tuple[str, str]:
        """Title and text where there are no rows."""
        raise NotImplementedError

    def _update(self) -> None:
        table = self._table
        is_other_run = table.run_id != self._run_id
        if is_other_run:
            self._run_id = table.run_id
            self.grid.forget_widths()
        if table.is_loading and not is_other_run and self._stack.currentWidget() is self._empty:
            return  # one episode without rows may follow another, and nothing is to flicker
        if table.rowCount() or table.is_loading:
            self._stack.setCurrentWidget(self.grid)
            return
        if table.problem is not None:
            noun = f"The {self._noun}s cannot be shown"
            self._empty.say(noun, f"{table.problem.message} {table.problem.remedy}")
        else:
            self._empty.say(*self.empty_words())
        self._stack.setCurrentWidget(self._empty)

    @property
    def _follows(self) -> bool:
        table = self._table
        is_followed = table.is_live or table.run_id == self._followed_run != ""
        return self.bar.follow.isChecked() and is_followed and table.grows_at_the_end

    @Slot()
    def _stay_at_end(self) -> None:
        if self._follows:
            self._followed_run = self._table.run_id
            self._to_the_end()

    def _on_reset(self) -> None:
        """What is looked at once the run is over begins at its beginning."""
        if not self._table.is_live:
            self._followed_run = ""

    def _on_follow_changed(self, follows: bool) -> None:
        if follows:
            self._to_the_end()

    def _to_the_end(self) -> None:
        self._is_scrolling = True
        self.grid.scrollToBottom()
        self._is_scrolling = False

    def _on_scrolled(self, value: int) -> None:
        """Whoever scrolls up wants to read; whoever goes to the end wants to follow again."""
        if self._is_scrolling:
            return
        self._followed_run = ""
        if self._table.is_live:
            self.bar.follow.setChecked(value >= self.grid.verticalScrollBar().maximum())
