"""RunDelegate: how a row of the list of runs is painted: state, progress bar, trend."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from gym_gui.models.run_words import STATE_LOOKS, short_id, title_of
from gym_gui.models.runs_model import BAR_ROLE, LINE_ROLE, RIGHT_COLUMNS, RUN_ROLE, RunColumn
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.tables.cell_painter import CellDelegate
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
_QUIET = (RunColumn.WORKER, RunColumn.ENVIRONMENT, RunColumn.ELAPSED)


class RunDelegate(CellDelegate):
    """For the table of `RunsView`."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run = index.data(RUN_ROLE)
        if not isinstance(run, RunRecord):
            return
        self.paint_ground(painter, option)
        column = RunColumn(index.column())
        if column is RunColumn.RUN:
            self._paint_name(painter, option, run)
        elif column is RunColumn.STATE:
            self._paint_state(painter, option, run, index.data())
        elif column is RunColumn.PROGRESS:
            self._paint_bar(painter, option, run, index.data(BAR_ROLE))
        elif column is RunColumn.TREND:
            self._paint_trend(painter, option, index.data(LINE_ROLE))
        else:
            tone = "muted" if column in _QUIET else "text"
            text = index.data()
            self.note_text(column, text)
            self.paint_text(painter, option, text, tone, is_right=column in RIGHT_COLUMNS)

    def _paint_name(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        room, metrics = self.text_room(option), option.fontMetrics
        mark = short_id(run.run_id)
        mark_width = metrics.horizontalAdvance(mark) + metrics.height() // 2
        title = title_of(run)
        self.note_text(RunColumn.RUN, f"{title}  {mark}")
        fits = metrics.horizontalAdvance(title) + mark_width <= room.width()
        rest = room.width() - (mark_width if fits else 0)
        tone = "muted" if run.archived else "text"
        left = QRect(room.left(), room.top(), rest, room.height())
        self.paint_text(painter, option, title, tone, room=left)
        if fits:
            at = room.left() + metrics.horizontalAdvance(title) + metrics.height() // 2
            place = QRect(at, room.top(), room.right() - at + 1, room.height())
            self.paint_text(painter, option, mark, "disabled", room=place)

    def _paint_state(
        self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord, text: str
    ) -> None:
        tone = STATE_LOOKS[run.state].tone
        self.paint_text(painter, option, text, "muted" if tone == "plain" else tone)

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
