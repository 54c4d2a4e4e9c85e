"""LogTable: table view of log lines, newest last. Follows new lines until the user scrolls up."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gym_gui.log.model.log_table_model import (
    CODE,
    COMPONENT,
    MESSAGE,
    RECORD_ROLE,
    SEVERITY,
    TIME,
    LogRecord,
    LogTableModel,
    Severity,
    column_text,
)
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.styling import blend, fixed_font

_MAX_COMPONENT_SHARE = 0.22
"""Maximum share of the table width for the component column."""
_ICONS: dict[Severity, IconName] = {
    Severity.DEBUG: "more",
    Severity.INFO: "info",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
}
_ROW_HEIGHT = 1.55
_ALIGNMENT = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class LogTable(QTableView):
    """Shows a `LogTableModel`. Scrolls to new lines while `is_following`."""

    following_changed = Signal(bool)
    line_selected = Signal(int)
    """The current row; -1 if there is none."""

    def __init__(
        self, model: LogTableModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._selected_serial: int | None = None
        """The selected line, restored after a change of the filter."""
        self.is_following = True
        self.delegate = LineDelegate(theme, self)
        self.setModel(model)
        self.setItemDelegate(self.delegate)
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
        self.verticalHeader().setDefaultSectionSize(
            round(self.fontMetrics().height() * _ROW_HEIGHT)
        )
        self._lay_out_header()
        self._hide_columns()
        theme.changed.connect(self.viewport().update)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.rowsRemoved.connect(self._on_rows_removed)
        model.modelAboutToBeReset.connect(self._on_about_to_reset)
        model.modelReset.connect(self._on_reset)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._on_scrolled())
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)

    def follow(self, is_following: bool) -> None:
        if is_following:
            self.scrollToBottom()
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    def selected_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())

    def go_to(self, row: int) -> None:
        """Select a line and scroll to it."""
        if row >= 0:
            self.follow(is_following=False)
            self.selectRow(row)
            self.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
            return
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            is_end = event.key() == Qt.Key.Key_End
            self.selectRow(self._model.rowCount() - 1 if is_end else 0)
            self.follow(is_following=is_end)
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp):
            self.follow(is_following=False)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        super().wheelEvent(event)
        self._on_scrolled()

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

    def _hide_columns(self) -> None:
        for column in range(self._model.columnCount()):
            self.setColumnHidden(column, column in self._model.hidden_columns)

    def _fit_component(self) -> None:
        """As wide as the longest name, up to a share of the table."""
        metrics = self.fontMetrics()
        names = (metrics.horizontalAdvance(name) for name in ("Component", *self._model.components))
        limit = max(
            round(self.width() * _MAX_COMPONENT_SHARE), metrics.horizontalAdvance("Component")
        )
        self.setColumnWidth(COMPONENT, min(max(names) + metrics.height(), limit))

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
        self._fit_component()

    def _on_rows_removed(self, _parent: QModelIndex, first: int, last: int) -> None:
        """Keep the visible lines in place when lines are dropped at the top."""
        if not self.is_following:
            bar = self.verticalScrollBar()
            bar.setValue(max(0, bar.value() - (last - first + 1)))

    def _on_about_to_reset(self) -> None:
        rows = self.selected_rows()
        self._selected_serial = self._model.serial(rows[-1]) if rows else None

    def _on_reset(self) -> None:
        self._hide_columns()
        self._fit_component()
        if self._selected_serial is not None and self._model.rowCount():
            row = self._model.row_of(self._selected_serial)
            self.selectRow(row)
            self.scrollTo(self._model.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)
        else:
            self.line_selected.emit(-1)
            if self.is_following:
                self.scrollToBottom()

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        self.line_selected.emit(current.row() if current.isValid() else -1)


class LineDelegate(QStyledItemDelegate):
    """Paints a cell: severity as icon and text, and matches of `needle` highlighted."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.needle = ""
        self._plain = parent.font()
        self._mono = fixed_font(self._plain)
        self._plain_metrics = QFontMetrics(self._plain)
        self._mono_metrics = QFontMetrics(self._mono)
        self._line = self._plain_metrics.height()
        self._max_char_width = max(self._mono_metrics.horizontalAdvance("W"), self._line // 2)

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(option.rect.width(), round(option.fontMetrics.height() * _ROW_HEIGHT))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        # Painted without QStyle, which takes ten times as long per cell.
        record: LogRecord = index.data(RECORD_ROLE)
        colours, column = self._theme.colours, index.column()
        self._paint_background(painter, option)
        edge = self._line // 3
        rect = option.rect.adjusted(edge, 0, -edge, 0)
        painter.setPen(QColor(_text_colour(record, column, colours)))
        if column == SEVERITY:
            painter.setFont(self._plain)
            self._paint_severity(painter, record, rect)
        elif column == COMPONENT:
            painter.setFont(self._plain)
            self._paint_text(painter, record.component, rect, self._plain_metrics)
        else:
            painter.setFont(self._mono)
            self._paint_text(painter, column_text(record, column), rect, self._mono_metrics)

    def _paint_background(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, blend(colours.text, colours.surface, 0.035))
        painter.setPen(blend(colours.line, colours.surface, 0.6))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())

    def _paint_severity(self, painter: QPainter, record: LogRecord, rect: QRect) -> None:
        side = self._line * 0.95
        icon_rect = QRectF(rect.left(), rect.center().y() - side / 2 + 0.5, side, side)
        colour = _text_colour(record, SEVERITY, self._theme.colours)
        draw_icon(painter, _ICONS[record.severity], colour, icon_rect)
        text_rect = rect.adjusted(round(side * 1.35), 0, 0, 0)
        painter.drawText(text_rect, _ALIGNMENT, record.severity.label)

    def _paint_text(self, painter: QPainter, text: str, rect: QRect, metrics: QFontMetrics) -> None:
        if len(text) * self._max_char_width > rect.width():
            is_name = metrics is self._plain_metrics
            mode = Qt.TextElideMode.ElideMiddle if is_name else Qt.TextElideMode.ElideRight
            text = metrics.elidedText(text, mode, rect.width())
        if self.needle:
            self._highlight_matches(painter, text, rect, metrics)
        painter.drawText(rect, _ALIGNMENT, text)

    def _highlight_matches(
        self, painter: QPainter, text: str, rect: QRect, metrics: QFontMetrics
    ) -> None:
        colours = self._theme.colours
        highlight = blend(colours.warning, colours.surface, 0.38)
        lowered, needle = text.lower(), self.needle.lower()
        start = lowered.find(needle)
        while start >= 0:
            left = rect.left() + metrics.horizontalAdvance(text[:start])
            width = metrics.horizontalAdvance(text[start : start + len(needle)])
            top = rect.center().y() - metrics.height() // 2
            painter.fillRect(QRect(left, top, width, metrics.height()), highlight)
            start = lowered.find(needle, start + len(needle))


def _text_colour(record: LogRecord, column: int, colours: Colours) -> str:
    if record.severity is Severity.ERROR and column in (SEVERITY, MESSAGE):
        return colours.bad
    if record.severity is Severity.WARNING and column == SEVERITY:
        return colours.warning
    if record.severity is Severity.DEBUG:
        return colours.muted
    return colours.text if column == MESSAGE else colours.muted
