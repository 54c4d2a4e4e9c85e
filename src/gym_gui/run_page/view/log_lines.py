"""LogLines: a list of any length in letters of one width. It follows the end until looked away."""

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
    LONGEST_SHOWN,
    LogLine,
    RunLogModel,
    Severity,
)
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.fonts import fixed_font
from gym_gui.widgets.mixing import mixed

_LINE_HEIGHTS = 1.3
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_RIGHT_IN_LINE = _IN_LINE | int(Qt.AlignmentFlag.AlignRight)
_MARKS = {Severity.ERROR: "✕", Severity.WARNING: "!"}
_LEAST_DIGITS = 3


class LogLines(QTableView):
    """Rows are lines of the model; all have one height, so that nothing is measured."""

    following_changed = Signal(bool)
    line_chosen = Signal(int)
    """The row that is looked at; -1: none."""

    def __init__(
        self, model: RunLogModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.is_following = True
        self._painter = _LinePainter(model, theme, self)
        self.setModel(model)
        self.setItemDelegate(self._painter)
        # A table, not a list: Qt's lists lay out all their rows whenever one comes.
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setDefaultSectionSize(self._painter.line_height)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setAccessibleName("Lines of the log")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.changed.connect(self.viewport().update)
        model.rowsInserted.connect(self._on_rows_inserted)
        model.modelReset.connect(self._on_reset)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._note_place())
        self.selectionModel().currentChanged.connect(
            lambda current, _: self.line_chosen.emit(current.row() if current.isValid() else -1)
        )

    def follow(self, is_following: bool) -> None:
        if is_following:
            self.scrollToBottom()
        if is_following != self.is_following:
            self.is_following = is_following
            self.following_changed.emit(is_following)

    def chosen_rows(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedIndexes())

    def go_to(self, row: int) -> None:
        """Choose a line and bring it into view."""
        if row >= 0:
            self.follow(is_following=False)
            index = self._model.index(row, 0)
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def fits(self, line: LogLine) -> bool:
        """All of the line can be read as it stands there."""
        return not line.more and self._painter.fits(line.text, self.viewport().width())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and self.selectionModel().hasSelection():
            self.forget_choice()
            return
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            is_end = event.key() == Qt.Key.Key_End
            self.setCurrentIndex(self._model.index(self._model.rowCount() - 1 if is_end else 0, 0))
            self.follow(is_end)
            return
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp):
            self.follow(is_following=False)

    def forget_choice(self) -> None:
        self.clearSelection()
        self.setCurrentIndex(QModelIndex())

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        super().wheelEvent(event)
        self._note_place()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        super().mousePressEvent(event)
        if self.indexAt(event.position().toPoint()).isValid():
            self.follow(is_following=False)

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

    def _on_reset(self) -> None:
        self.line_chosen.emit(-1)
        self.follow(is_following=True)


class _LinePainter(QStyledItemDelegate):
    """Number, mark and text, painted directly."""

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
            len(text) <= LONGEST_SHOWN
            and self._metrics.horizontalAdvance(text) <= width - self._text_left() - self._letter
        )

    def _gutter(self) -> int:
        digits = max(_LEAST_DIGITS, len(str(self._model.total)))
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
            painter.fillRect(rect, mixed(colours.text, colours.surface, 0.035))
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
        room = rect.adjusted(self._text_left(), 0, -self._letter, 0)
        self._paint_text(painter, line, room)

    def _paint_text(self, painter: QPainter, line: LogLine, room: QRect) -> None:
        text = line.text[:LONGEST_SHOWN]
        if line.more or len(text) < len(line.text) or len(text) * self._letter > room.width():
            text = self._metrics.elidedText(
                f"{text} …" if line.more else text, Qt.TextElideMode.ElideRight, room.width()
            )
        if self._model.text:
            self._mark_finds(painter, text, room)
        painter.drawText(room, _IN_LINE, text)

    def _mark_finds(self, painter: QPainter, shown: str, room: QRect) -> None:
        colours = self._theme.colours
        mark = mixed(colours.warning, colours.surface, 0.38)
        lowered, needle = shown.lower(), self._model.text.lower()
        at = lowered.find(needle)
        while at >= 0:
            left = room.left() + self._metrics.horizontalAdvance(shown[:at])
            width = self._metrics.horizontalAdvance(shown[at : at + len(needle)])
            top = room.center().y() - self._metrics.height() // 2
            painter.fillRect(QRect(left, top, width, self._metrics.height()), mark)
            at = lowered.find(needle, at + len(needle))
