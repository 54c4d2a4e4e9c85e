"""TimelineView: one row per BDI change; a click opens its step in Replay."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gym_gui.beliefs.model.bdi_timeline import ROW_ROLE, BdiTimeline, TimelineRow
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import themed_icon
from gym_gui.widgets.styling import blend, fixed_font

Index = QModelIndex | QPersistentModelIndex
_LINE_HEIGHTS = 1.5
_MAX_BELIEF_CHARS = 400
"""Characters painted of one belief."""
_WIDEST_POSITION = "episode 00,000 · after the last step"
_TIME_FROM, _PLAN_FROM = 34, 46
"""Minimum widths in ems for the time column and the plan column."""
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class TimelineView(QWidget):
    """Shows `BdiTimeline`. Scrolls with the newest row, or with the replay."""

    row_activated = Signal(int)
    searched = Signal(str)

    def __init__(
        self, timeline: BdiTimeline, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._timeline = timeline
        self._is_following = True
        line = self.fontMetrics().height()
        heading = QLabel("Timeline")
        heading.setProperty("role", "heading")
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self.search = QLineEdit()
        self.search.setPlaceholderText("Filter changes")
        self.search.setAccessibleName("Filter changes")
        self.search.setToolTip("Show changes with this text in a belief, goal or plan")
        self.search.setClearButtonEnabled(True)
        self.search.addAction(
            themed_icon("filter", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.setMaximumWidth(line * 16)
        self.list = _ChangeList(timeline, theme)
        self.placeholder = QLabel("No change matches the filter.")
        self.placeholder.setProperty("role", "muted")
        self.placeholder.setAlignment(Qt.AlignmentFlag.AlignTop)
        header = QHBoxLayout()
        header.setSpacing(line // 2)
        header.addWidget(heading)
        header.addWidget(self.count)
        header.addStretch(1)
        header.addWidget(self.search, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 3)
        column.setSpacing(line // 3)
        column.addLayout(header)
        column.addWidget(self.list, 1)
        column.addWidget(self.placeholder, 1)
        self.search.textChanged.connect(self.searched)
        self.list.clicked.connect(lambda index: self.row_activated.emit(index.row()))
        self.list.row_entered.connect(self.row_activated)
        self.list.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.list.verticalScrollBar().rangeChanged.connect(lambda *_: self._stay_at_end())

    def update_timeline(self, dropped: int) -> None:
        timeline, count = self._timeline, self._timeline.rowCount()
        if timeline.needle:
            text = f"{count:,} of {timeline.total:,} changes"
        else:
            text = f"{count:,} change{'' if count == 1 else 's'}"
        if dropped:
            text = f"the last {text}"
        if dropped and timeline.replay_position is not None and timeline.current_row < 0:
            text = f"{text}, all after this step"
        if self.count.text() != text:
            self.count.setText(text)
        self.count.setToolTip(
            f"{dropped:,} older changes are stored but not listed" if dropped else ""
        )
        self.list.setVisible(count > 0)
        self.placeholder.setVisible(not count)
        if timeline.replay_position is not None:
            self._go_to(timeline.current_row)
        else:
            self._stay_at_end()

    def _go_to(self, row: int) -> None:
        """Select the row; clear the selection for -1."""
        if row != self.list.currentIndex().row():
            self.list.setCurrentIndex(self._timeline.index(row))
            self.list.scrollTo(
                self._timeline.index(max(0, row)), QTableView.ScrollHint.PositionAtCenter
            )

    def _stay_at_end(self) -> None:
        if self._is_following and self._timeline.replay_position is None:
            self.list.scrollToBottom()

    def _on_scrolled(self, value: int) -> None:
        self._is_following = value >= self.list.verticalScrollBar().maximum()


class _ChangeList(QTableView):
    """One-column table: a QListView would lay out all rows again on every insert."""

    row_entered = Signal(int)
    """Return or Enter was pressed on a row."""

    def __init__(self, timeline: BdiTimeline, theme: ThemeModel) -> None:
        super().__init__()
        self.setModel(timeline)
        self.setItemDelegate(_ChangeDelegate(theme, self))
        self.setAccessibleName("Changes")
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        rows = self.verticalHeader()
        rows.hide()
        rows.setMinimumSectionSize(1)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * _LINE_HEIGHTS))
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        theme.changed.connect(self.viewport().update)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 10, line * 3)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.row_entered.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)


class _ChangeDelegate(QStyledItemDelegate):
    """Paints position, time, plan, added and removed beliefs."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: TimelineRow = index.data(ROW_ROLE)
        colours, metrics = self._theme.colours, option.fontMetrics
        line = metrics.height()
        self._paint_background(painter, option, row)
        rect = option.rect.adjusted(line // 2, 0, -line // 3, 0)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.text if row.is_current else colours.muted))
        widths = [(row.position, metrics.horizontalAdvance(_WIDEST_POSITION))]
        if option.rect.width() >= line * _TIME_FROM:
            widths.append((row.time, metrics.horizontalAdvance("00:00:00")))
        if option.rect.width() >= line * _PLAN_FROM:
            widths.append((row.plan, line * 8))
        for text, width in widths:
            text_rect = QRect(rect.left(), rect.top(), width, rect.height())
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(text_rect, _IN_LINE, elided)
            rect.setLeft(rect.left() + width + line * 2 // 3)
        if row.goal_text:
            _draw_next(painter, row.goal_text[:_MAX_BELIEF_CHARS], rect, option.font)
            return
        font = fixed_font(option.font)
        painter.setFont(font)
        beliefs = [(f"+{belief[:_MAX_BELIEF_CHARS]}", colours.good) for belief in row.added]
        beliefs += [
            (f"\N{MINUS SIGN}{belief[:_MAX_BELIEF_CHARS]}", colours.bad) for belief in row.removed
        ]
        for number, (text, colour) in enumerate(beliefs, start=1):
            painter.setPen(QColor(colour))
            if not _draw_next(painter, text, rect, font, is_last=number == len(beliefs)):
                return

    def _paint_background(
        self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow
    ) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, blend(colours.text, colours.surface, 0.035))
        if row.is_current:
            mark = QRect(option.rect.left(), option.rect.top() + 2, 3, option.rect.height() - 4)
            painter.fillRect(mark, QColor(colours.accent))
        painter.setPen(blend(colours.line, colours.surface, 0.6))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())


def _draw_next(
    painter: QPainter, text: str, rect: QRect, font: QFont, *, is_last: bool = True
) -> bool:
    """Paint the text and advance `rect`. False if it is full; an ellipsis marks missing text."""
    metrics = QFontMetrics(font)
    step = metrics.horizontalAdvance(text) + metrics.height() * 2 // 3
    has_space_after = rect.width() - step > metrics.height() * 2
    if not is_last and not has_space_after:
        text = f"{text} …"
    elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, _IN_LINE, elided)
    rect.setLeft(rect.left() + step)
    return has_space_after
