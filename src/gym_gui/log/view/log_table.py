"""LogTable: the lines, newest last. It follows the end until the person looks at something else."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from gym_gui.log.model.log_model import CODE, COMPONENT, SEVERITY, TIME, LogModel
from gym_gui.log.view.line_delegate import LineDelegate
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.fonts import fixed_font

_WIDEST_COMPONENT = 0.22
"""Of the table; the rest belongs to the messages."""


class LogTable(QTableView):
    """Rows are lines of the model; it scrolls by itself only while `is_following`."""

    following_changed = Signal(bool)
    line_chosen = Signal(int)
    """The row that the person looks at; -1: none."""

    def __init__(self, model: LogModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._chosen: int | None = None
        """The serial number of the line that is looked at, over a change of filter."""
        self.is_following = True
        self.lines = LineDelegate(theme, self)
        self.setModel(model)
        self.setItemDelegate(self.lines)
        self.setAccessibleName("Log lines")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(round(self.fontMetrics().height() * 1.55))
        self._lay_out_header()
        theme.changed.connect(self.viewport().update)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.rowsRemoved.connect(self._on_rows_removed)
        model.modelAboutToBeReset.connect(self._on_about_to_reset)
        model.modelReset.connect(self._on_reset)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._note_place())
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)

    def follow(self, is_following: bool) -> None:
        if is_following:
            self.scrollToBottom()
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    def chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def go_to(self, row: int) -> None:
        """Choose a line and bring it into view."""
        if row >= 0:
            self.follow(is_following=False)
            self.selectRow(row)
            self.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
            return
        super().keyPressEvent(event)
        if event.key() == Qt.Key.Key_End:
            self.follow(is_following=True)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self.follow(is_following=False)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        super().wheelEvent(event)
        self._note_place()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        if self.indexAt(event.position().toPoint()).isValid():
            self.follow(is_following=False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._fit_component()
        if self.is_following:
            self.scrollToBottom()

    def _lay_out_header(self) -> None:
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        edge = self.fontMetrics().height()
        mono = QFontMetrics(fixed_font(self.font()))
        self.setColumnWidth(TIME, mono.horizontalAdvance("00:00:00.000") + edge)
        self.setColumnWidth(
            SEVERITY, self.fontMetrics().horizontalAdvance("Warning") + round(edge * 2.3)
        )
        self.setColumnWidth(CODE, mono.horizontalAdvance("0" * 6) + edge)
        self._fit_component()

    def _fit_component(self) -> None:
        """As wide as the names are, and never so wide that no message is left."""
        metrics = self.fontMetrics()
        names = (metrics.horizontalAdvance(name) for name in ("Component", *self._model.components))
        widest = max(
            round(self.width() * _WIDEST_COMPONENT), metrics.horizontalAdvance("Component")
        )
        self.setColumnWidth(COMPONENT, min(max(names) + metrics.height(), widest))

    def _note_place(self) -> None:
        """The person has scrolled: away from the end, or back to it."""
        bar = self.verticalScrollBar()
        is_at_end = bar.sliderPosition() >= bar.maximum()
        if is_at_end != self.is_following:
            self.is_following = is_at_end
            self.following_changed.emit(is_at_end)

    def _on_rows_inserted(self) -> None:
        if self.is_following:
            self.scrollToBottom()
        self._fit_component()

    def _on_rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Lines go at the top: what is looked at stays where it is."""
        if not self.is_following:
            bar = self.verticalScrollBar()
            bar.setValue(max(0, bar.value() - (last - first + 1)))

    def _on_about_to_reset(self) -> None:
        rows = self.chosen_rows()
        self._chosen = self._model.serial(rows[-1]) if rows else None

    def _on_reset(self) -> None:
        self._fit_component()
        if self._chosen is not None and self._model.rowCount():
            row = self._model.row_of(self._chosen)
            self.selectRow(row)
            self.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        else:
            self.line_chosen.emit(-1)
            if self.is_following:
                self.scrollToBottom()

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        self.line_chosen.emit(current.row() if current.isValid() else -1)
