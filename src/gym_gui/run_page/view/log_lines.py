"""LogLines: log lines in a monospace font. Follows the end until the user scrolls up."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.run_page.model.run_log_model import (
    LINE_ROLE,
    MAX_DISPLAYED,
    LogLine,
    RunLogModel,
    Severity,
)
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend, fixed_font

_LINE_HEIGHTS = 1.3
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_RIGHT_IN_LINE = _IN_LINE | int(Qt.AlignmentFlag.AlignRight)
_MARKS = {Severity.ERROR: "✕", Severity.WARNING: "!"}
_MIN_DIGITS = 3


class LogLines(QTableView):
    """Shows `RunLogModel`. All rows have the same height, so that none is measured."""

    following_changed = Signal(bool)
    line_selected = Signal(int)
    """The current row; -1 if there is none."""

    def __init__(
        self, model: RunLogModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.is_following = True
        self._delegate = _LineDelegate(model, theme, self)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        # A table, not a list: QListView lays out all rows whenever one is inserted.
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self._delegate.line_height)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setAccessibleName("Log lines")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self.viewport().update)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.modelReset.connect(self._on_reset)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._on_scrolled())
        self.selectionModel().currentChanged.connect(
            lambda current, _: self.line_selected.emit(current.row() if current.isValid() else -1)
        )

    def follow(self, is_following: bool) -> None:
        if is_following:
            self.scrollToBottom()
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    def selected_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedIndexes())

    def go_to(self, row: int) -> None:
        """Select a line and scroll to it."""
        if row >= 0:
            self.follow(is_following=False)
            index = self._model.index(row, 0)
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def fits(self, line: LogLine) -> bool:
        """Whether the row shows the complete line."""
        return not line.more and self._delegate.fits(line.text, self.viewport().width())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clear_current()
            return
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            is_end = event.key() == Qt.Key.Key_End
            self.setCurrentIndex(self._model.index(self._model.rowCount() - 1 if is_end else 0, 0))
            self.follow(is_end)
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp):
            self.follow(is_following=False)

    def clear_current(self) -> None:
        self.clearSelection()
        self.setCurrentIndex(QModelIndex())

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        super().wheelEvent(event)
        self._on_scrolled()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        if self.indexAt(event.position().toPoint()).isValid():
            self.follow(is_following=False)

    def _on_scrolled(self) -> None:
        """The user scrolled away from the end, or back to it."""
        bar = self.verticalScrollBar()
        is_at_end = bar.sliderPosition() >= bar.maximum()
        if is_at_end != self.is_following:
            self.is_following = is_at_end
            self.following_changed.emit(is_at_end)

    def _on_rows_inserted(self) -> None:
        if self.is_following:
            self.scrollToBottom()

    def _on_reset(self) -> None:
        self.line_selected.emit(-1)
        self.follow(is_following=True)


class _LineDelegate(QStyledItemDelegate):
    """Renders line number, severity mark and text."""

    def __init__(self, model: RunLogModel, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._font = fixed_font(parent.font())
        self._metrics = QFontMetrics(self._font)
        self._letter = self._metrics.horizontalAdvance("0")

    @property
    def line_height(self) -> int:
        return round(self._metrics.height() * _LINE_HEIGHTS)

    def fits(self, text: str, width: int) -> bool:
        return (
            len(text) <= MAX_DISPLAYED
            and self._metrics.horizontalAdvance(text) <= width - self._text_left() - self._letter
        )

    def _gutter(self) -> int:
        digits = max(_MIN_DIGITS, len(str(self._model.total)))
        return self._letter * (digits + 1)

    def _text_left(self) -> int:
        return self._gutter() + self._letter * 3

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        line: LogLine = index.data(LINE_ROLE)
        colours, rect = self._theme.colours, option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(colours.selection))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, blend(colours.text, colours.surface, 0.035))
        painter.setFont(self._font)
        painter.setPen(QColor(colours.disabled))
        gutter = QRect(rect.left(), rect.top(), self._gutter(), rect.height())
        painter.drawText(gutter, _RIGHT_IN_LINE, str(self._model.number(index.row())))
        ink = {Severity.ERROR: colours.bad, Severity.WARNING: colours.warning}.get(line.severity)
        painter.setPen(QColor(ink or colours.muted))
        mark = QRect(gutter.right() + self._letter, rect.top(), self._letter * 2, rect.height())
        painter.drawText(mark, _IN_LINE, _MARKS.get(line.severity, ""))
        is_bad = line.severity is Severity.ERROR
        dim = colours.muted if line.severity is Severity.DEBUG else colours.text
        painter.setPen(QColor(colours.bad if is_bad else dim))
        text_rect = rect.adjusted(self._text_left(), 0, -self._letter, 0)
        self._paint_text(painter, line, text_rect)

    def _paint_text(self, painter: QPainter, line: LogLine, text_rect: QRect) -> None:
        text = line.text[:MAX_DISPLAYED]
        if line.more or len(text) < len(line.text) or len(text) * self._letter > text_rect.width():
            text = self._metrics.elidedText(
                f"{text} …" if line.more else text, Qt.TextElideMode.ElideRight, text_rect.width()
            )
        if self._model.text:
            self._highlight_matches(painter, text, text_rect)
        painter.drawText(text_rect, _IN_LINE, text)

    def _highlight_matches(self, painter: QPainter, text: str, text_rect: QRect) -> None:
        colours = self._theme.colours
        mark = blend(colours.warning, colours.surface, 0.38)
        lowered, needle = text.lower(), self._model.text.lower()
        at = lowered.find(needle)
        while at >= 0:
            left = text_rect.left() + self._metrics.horizontalAdvance(text[:at])
            width = self._metrics.horizontalAdvance(text[at : at + len(needle)])
            top = text_rect.center().y() - self._metrics.height() // 2
            painter.fillRect(QRect(left, top, width, self._metrics.height()), mark)
            at = lowered.find(needle, at + len(needle))
