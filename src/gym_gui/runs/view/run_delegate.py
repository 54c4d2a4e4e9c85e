"""RunDelegate: how a row of the list of runs is painted: state, progress bar, trend, tags."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView, QWidget

from gym_gui.runs.model.run_arrangement import GroupHeading
from gym_gui.runs.model.runs_columns import RIGHT_COLUMNS, RunColumn
from gym_gui.runs.model.runs_table import BAR_ROLE, HEADING_ROLE, LINE_ROLE, RUN_ROLE
from gym_gui.runtime.models.run_text import STATE_STYLES, one_line, short_id, title_of
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.mixing import mixed
from gym_gui.widgets.tables.cell_painter import CellDelegate
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
_QUIET = frozenset(
    {
        *(RunColumn.WORKER, RunColumn.ENVIRONMENT, RunColumn.ALGORITHM, RunColumn.ELAPSED),
        *(RunColumn.ETA, RunColumn.NOTE, RunColumn.DISK, RunColumn.CREATED),
    }
)
_PILL_HEIGHTS = 1.3
_PILL_EDGES = 0.5
_LEAST_REASON = 8
"""Heights of the text: in less room, the first words of a reason say nothing."""
_CENTRE = Qt.AlignmentFlag.AlignCenter


class RunDelegate(CellDelegate):
    """For the table of `RunsView`."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run = index.data(RUN_ROLE)
        if not isinstance(run, RunRecord):
            heading = index.data(HEADING_ROLE)
            if isinstance(heading, GroupHeading):
                self._paint_heading(painter, option, heading)
            return
        self.paint_ground(painter, option)
        column = RunColumn(index.column())
        if column is RunColumn.RUN:
            self._paint_name(painter, option, run)
        elif column is RunColumn.STATE:
            self._paint_state(painter, option, run)
        elif column is RunColumn.PROGRESS:
            self._paint_bar(painter, option, run, index.data(BAR_ROLE))
        elif column is RunColumn.TREND:
            self._paint_trend(painter, option, index.data(LINE_ROLE))
        elif column is RunColumn.TAGS:
            self._paint_tags(painter, option, run)
        elif text := index.data():
            self.note_text(column, text)
            tone = "muted" if column in _QUIET else "text"
            self.paint_text(painter, option, text, tone, is_right=column in RIGHT_COLUMNS)

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, heading: GroupHeading
    ) -> None:
        """Across all columns: each cell paints the part of the line that lies in it."""
        self.paint_ground(painter, option)
        table, metrics = option.widget, option.fontMetrics
        if not isinstance(table, QTableView):
            return
        line = metrics.height()
        left = table.columnViewportPosition(0) + line // 2
        row = QRect(left, option.rect.top(), table.viewport().width() - left, option.rect.height())
        painter.save()
        painter.setClipRect(option.rect)
        mark = line * 0.8
        place = QRectF(row.left(), row.center().y() - mark / 2 + 0.5, mark, mark)
        name: IconName = "chevron-down" if heading.is_open else "chevron-right"
        draw_icon(painter, name, self.theme.colours.muted, place)
        bold = painter.font()
        bold.setBold(True)
        painter.setFont(bold)
        at = row.left() + round(line * 1.3)
        painter.setPen(self.ink("text"))
        words = QRect(at, row.top(), row.right() - at, row.height())
        taken = painter.fontMetrics().horizontalAdvance(heading.title)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, heading.title)
        bold.setBold(False)
        painter.setFont(bold)
        count = words.adjusted(taken + line // 2, 0, 0, 0)
        painter.setPen(self.ink("muted"))
        painter.drawText(count, Qt.AlignmentFlag.AlignVCenter, f"{heading.count:,}")
        painter.restore()

    def _paint_name(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        room, metrics = self.text_room(option), option.fontMetrics
        mark = short_id(run.run_id)
        mark_width = metrics.horizontalAdvance(mark) + metrics.height() // 2
        title = title_of(run)
        self.note_text(RunColumn.RUN, title)  # the id is shown where there is room left
        fits = metrics.horizontalAdvance(title) + mark_width <= room.width()
        rest = room.width() - (mark_width if fits else 0)
        tone = "muted" if run.archived else "text"
        left = QRect(room.left(), room.top(), rest, room.height())
        self.paint_text(painter, option, title, tone, room=left)
        if fits:
            at = room.left() + metrics.horizontalAdvance(title) + metrics.height() // 2
            place = QRect(at, room.top(), room.right() - at + 1, room.height())
            self.paint_text(painter, option, mark, "disabled", room=place)

    def _paint_state(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        """A badge, and beside it, where there is room, why a run failed."""
        look = STATE_STYLES[run.state]
        tone = "muted" if look.tone == "plain" else look.tone
        taken = self._paint_pill(
            painter, option, self.text_room(option), f"{look.symbol} {look.word}", tone
        )
        why = one_line(run.reason) if run.state in (RunState.FAILED, RunState.LOST) else ""
        line = option.fontMetrics.height()
        rest = self.text_room(option).adjusted(taken + line // 2, 0, 0, 0)
        if why and rest.width() > line * _LEAST_REASON:
            self.paint_text(painter, option, why, "muted", room=rest)
        elif run.archived and rest.width() > line * 4:
            self.paint_text(painter, option, "archived", "disabled", room=rest)

    def _paint_tags(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        room, metrics = self.text_room(option), option.fontMetrics
        gap, left = metrics.height() // 4, len(run.tags)
        for tag in run.tags:
            more = f"+{left}"
            rest = metrics.horizontalAdvance(more) + gap if left > 1 else 0
            needed = metrics.horizontalAdvance(tag) + metrics.height()
            is_first = left == len(run.tags)
            if needed > room.width() - rest and not is_first:
                self.paint_text(painter, option, more, "muted", room=room)
                return
            place = QRect(room.left(), room.top(), room.width() - rest, room.height())
            room.setLeft(room.left() + self._paint_pill(painter, option, place, tag, "muted") + gap)
            left -= 1

    def _paint_pill(
        self, painter: QPainter, option: QStyleOptionViewItem, room: QRect, text: str, tone: str
    ) -> int:
        """How wide it became."""
        metrics, colours = option.fontMetrics, self.theme.colours
        edge = round(metrics.height() * _PILL_EDGES)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width() - 2 * edge)
        width = min(room.width(), metrics.horizontalAdvance(shown) + 2 * edge)
        height = round(metrics.height() * _PILL_HEIGHTS)
        top = room.top() + (room.height() - height) // 2
        pill = QRect(room.left(), top, width, height)
        ink = str(getattr(colours, tone))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mixed(ink, colours.surface, 0.4), 1.0))
        painter.setBrush(mixed(ink, colours.surface, 0.08))
        shape = QRectF(pill).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(shape, shape.height() / 2, shape.height() / 2)
        painter.setPen(self.ink(tone))
        painter.drawText(pill, _CENTRE, shown)
        painter.restore()
        return width

    def _paint_bar(
        self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord, share: float | None
    ) -> None:
        if share is None and run.state in FINAL_STATES:
            return
        colours, room = self.theme.colours, QRectF(self.text_room(option))
        height = max(4.0, round(option.fontMetrics.height() * 0.28))
        bar = QRectF(room.left(), room.center().y() - height / 2, room.width(), height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        groove = QColor(colours.text)
        groove.setAlphaF(0.14)
        painter.setBrush(groove)
        painter.drawRoundedRect(bar, height / 2, height / 2)
        if share:
            is_bad = run.state in (RunState.FAILED, RunState.LOST)
            is_over = run.state in FINAL_STATES
            ink = colours.bad if is_bad else colours.muted if is_over else colours.accent
            bar.setWidth(max(height, bar.width() * share))
            painter.setBrush(QColor(ink))
            painter.drawRoundedRect(bar, height / 2, height / 2)
        painter.restore()

    def _paint_trend(
        self, painter: QPainter, option: QStyleOptionViewItem, values: Sequence[float]
    ) -> None:
        known = [value for value in values if abs(value) < float("inf")]
        if len(known) < 2:
            return
        inset = option.fontMetrics.height() * 0.45
        room = QRectF(self.text_room(option)).adjusted(0, inset, 0, -inset)
        least, most = min(known), max(known)
        spread = (most - least) or 1.0
        step = room.width() / (len(known) - 1)
        line = QPolygonF(
            [
                QPointF(
                    room.left() + place * step,
                    room.bottom() - (value - least) / spread * room.height()
                    if most > least
                    else room.center().y(),
                )
                for place, value in enumerate(known)
            ]
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.ink("accent"), 1.5))
        painter.drawPolyline(line)
        painter.restore()
