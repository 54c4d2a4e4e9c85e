"""TimelineView: every change of a mind, one line each; a click leads to its step in Replay."""

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
from gym_gui.widgets.fonts import fixed_font
from gym_gui.widgets.icons import icon
from gym_gui.widgets.mixing import mixed

Index = QModelIndex | QPersistentModelIndex
_LINE_HEIGHTS = 1.5
_LONGEST = 400
"""Characters of one belief that can ever be in sight."""
_LONGEST_PLACE = "episode 00,000 · after its last step"
_TIME_FROM, _PLAN_FROM = 34, 46
"""Ems of width, from which there is room for the time and for the plan."""
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class TimelineView(QWidget):
    """Stays at the newest until somebody looks further up; follows the replay."""

    row_chosen = Signal(int)
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
        self.search.setToolTip("Only changes with these words in a belief, a goal or a plan")
        self.search.setClearButtonEnabled(True)
        self.search.addAction(
            icon("filter", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self.search.setMaximumWidth(line * 16)
        self.list = _ChangeList(timeline, theme)
        self.nothing = QLabel("No change has these words.")
        self.nothing.setProperty("role", "muted")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        head = QHBoxLayout()
        head.setSpacing(line // 2)
        head.addWidget(heading)
        head.addWidget(self.count)
        head.addStretch(1)
        head.addWidget(self.search, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 3)
        column.setSpacing(line // 3)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addWidget(self.nothing, 1)
        self.search.textChanged.connect(self.searched)
        self.list.clicked.connect(lambda index: self.row_chosen.emit(index.row()))
        self.list.row_entered.connect(self.row_chosen)
        self.list.verticalScrollBar().valueChanged.connect(self._note_place)
        self.list.verticalScrollBar().rangeChanged.connect(lambda *_: self._stay_at_end())

    def update_timeline(self, dropped: int) -> None:
        timeline, shown = self._timeline, self._timeline.rowCount()
        if timeline.needle:
            words = f"{shown:,} of {timeline.total:,} changes"
        else:
            words = f"{shown:,} change{'' if shown == 1 else 's'}"
        if dropped:
            words = f"the last {words}"
        if dropped and timeline.shown_place is not None and timeline.shown_row < 0:
            words = f"{words}, all after this step"
        if self.count.text() != words:
            self.count.setText(words)
        self.count.setToolTip(
            f"{dropped:,} older changes are kept in the run and not listed" if dropped else ""
        )
        self.list.setVisible(shown > 0)
        self.nothing.setVisible(not shown)
        if timeline.shown_place is not None:
            self._go_to(timeline.shown_row)
        else:
            self._stay_at_end()

    def _go_to(self, row: int) -> None:
        """Before the first of them none is chosen."""
        if row != self.list.currentIndex().row():
            self.list.setCurrentIndex(self._timeline.index(row))
            self.list.scrollTo(
                self._timeline.index(max(0, row)), QTableView.ScrollHint.PositionAtCenter
            )

    def _stay_at_end(self) -> None:
        if self._is_following and self._timeline.shown_place is None:
            self.list.scrollToBottom()

    def _note_place(self, value: int) -> None:
        self._is_following = value >= self.list.verticalScrollBar().maximum()


class _ChangeList(QTableView):
    """A table of one column: a list would lay all rows out again whenever one is added."""

    row_entered = Signal(int)
    """By the keyboard."""

    def __init__(self, timeline: BdiTimeline, theme: ThemeModel) -> None:
        super().__init__()
        self.setModel(timeline)
        self.setItemDelegate(_ChangeDelegate(theme, self))
        self.setAccessibleName("Changes of the mind")
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
    """Where, when, which plan, and what came and what went."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: TimelineRow = index.data(ROW_ROLE)
        colours, metrics = self._theme.colours, option.fontMetrics
        line = metrics.height()
        self._paint_ground(painter, option, row)
        room = option.rect.adjusted(line // 2, 0, -line // 3, 0)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.text if row.is_shown else colours.muted))
        widths = [(row.place, metrics.horizontalAdvance(_LONGEST_PLACE))]
        if option.rect.width() >= line * _TIME_FROM:
            widths.append((row.time, metrics.horizontalAdvance("00:00:00")))
        if option.rect.width() >= line * _PLAN_FROM:
            widths.append((row.plan, line * 8))
        for text, width in widths:
            place = QRect(room.left(), room.top(), width, room.height())
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(place, _IN_LINE, shown)
            room.setLeft(room.left() + width + line * 2 // 3)
        if row.otherwise:
            _draw_next(painter, row.otherwise[:_LONGEST], room, option.font)
            return
        font = fixed_font(option.font)
        painter.setFont(font)
        beliefs = [(f"+{belief[:_LONGEST]}", colours.good) for belief in row.added]
        beliefs += [(f"\N{MINUS SIGN}{belief[:_LONGEST]}", colours.bad) for belief in row.removed]
        for number, (text, ink) in enumerate(beliefs, start=1):
            painter.setPen(QColor(ink))
            if not _draw_next(painter, text, room, font, is_last=number == len(beliefs)):
                return

    def _paint_ground(
        self, painter: QPainter, option: QStyleOptionViewItem, row: TimelineRow
    ) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, mixed(colours.text, colours.surface, 0.035))
        if row.is_shown:
            mark = QRect(option.rect.left(), option.rect.top() + 2, 3, option.rect.height() - 4)
            painter.fillRect(mark, QColor(colours.accent))
        painter.setPen(mixed(colours.line, colours.surface, 0.6))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())


def _draw_next(
    painter: QPainter, text: str, room: QRect, font: QFont, *, is_last: bool = True
) -> bool:
    """Moves the room on; False when it is full, which an ellipsis says if more would follow."""
    metrics = QFontMetrics(font)
    step = metrics.horizontalAdvance(text) + metrics.height() * 2 // 3
    has_room_after = room.width() - step > metrics.height() * 2
    if not is_last and not has_room_after:
        text = f"{text} …"
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, _IN_LINE, shown)
    room.setLeft(room.left() + step)
    return has_room_after
