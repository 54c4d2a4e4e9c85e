"""RunDelegate: paints the cells of the list of runs: state, progress bar, trend, tags."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView, QWidget

from gym_gui.runs.model.run_arrangement import GroupHeading
from gym_gui.runs.model.runs_columns import RIGHT_ALIGNED_COLUMNS, RunColumn
from gym_gui.runs.model.runs_table import HEADING_ROLE, PROGRESS_ROLE, RUN_ROLE, TREND_ROLE
from gym_gui.runtime.models.formatting import one_line
from gym_gui.runtime.models.run_text import STATE_STYLES, short_id, title_of
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.styling import blend
from gym_gui.widgets.tables.cell_delegate import CellDelegate
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunRecord

Index = QModelIndex | QPersistentModelIndex
_MUTED_COLUMNS = frozenset(
    {
        *(RunColumn.WORKER, RunColumn.ENVIRONMENT, RunColumn.ALGORITHM, RunColumn.ELAPSED),
        *(RunColumn.ETA, RunColumn.NOTE, RunColumn.DISK, RunColumn.CREATED),
    }
)
_PILL_HEIGHT = 1.3
_PILL_PADDING = 0.5
_MIN_REASON_WIDTH = 8
"""In line heights: in less space, the reason of a failure is not painted."""
_CENTRE = Qt.AlignmentFlag.AlignCenter


class RunDelegate(CellDelegate):
    """The delegate of `RunsGrid`."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(theme, parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run = index.data(RUN_ROLE)
        if not isinstance(run, RunRecord):
            heading = index.data(HEADING_ROLE)
            if isinstance(heading, GroupHeading):
                self._paint_heading(painter, option, heading)
            return
        self.paint_background(painter, option)
        column = RunColumn(index.column())
        if column is RunColumn.RUN:
            self._paint_name(painter, option, run)
        elif column is RunColumn.STATE:
            self._paint_state(painter, option, run)
        elif column is RunColumn.PROGRESS:
            self._paint_bar(painter, option, run, index.data(PROGRESS_ROLE))
        elif column is RunColumn.TREND:
            self._paint_trend(painter, option, index.data(TREND_ROLE))
        elif column is RunColumn.TAGS:
            self._paint_tags(painter, option, run)
        elif text := index.data():
            self.record_text(column, text)
            tone = "muted" if column in _MUTED_COLUMNS else "text"
            self.paint_text(
                painter, option, text, tone, align_right=column in RIGHT_ALIGNED_COLUMNS
            )

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, heading: GroupHeading
    ) -> None:
        """Paint the heading across all columns: each cell paints its section of the line."""
        self.paint_background(painter, option)
        table, metrics = option.widget, option.fontMetrics
        if not isinstance(table, QTableView):
            return
        line = metrics.height()
        left = table.columnViewportPosition(0) + line // 2
        row = QRect(left, option.rect.top(), table.viewport().width() - left, option.rect.height())
        painter.save()
        painter.setClipRect(option.rect)
        mark = line * 0.8
        icon_rect = QRectF(row.left(), row.center().y() - mark / 2 + 0.5, mark, mark)
        name: IconName = "chevron-down" if heading.is_expanded else "chevron-right"
        draw_icon(painter, name, self.theme.colours.muted, icon_rect)
        bold = painter.font()
        bold.setBold(True)
        painter.setFont(bold)
        text_left = row.left() + round(line * 1.3)
        painter.setPen(self.colour("text"))
        text_rect = QRect(text_left, row.top(), row.right() - text_left, row.height())
        title_width = painter.fontMetrics().horizontalAdvance(heading.title)
        painter.drawText(text_rect, Qt.AlignmentFlag.AlignVCenter, heading.title)
        bold.setBold(False)
        painter.setFont(bold)
        count = text_rect.adjusted(title_width + line // 2, 0, 0, 0)
        painter.setPen(self.colour("muted"))
        painter.drawText(count, Qt.AlignmentFlag.AlignVCenter, f"{heading.count:,}")
        painter.restore()

    def _paint_name(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        cell, metrics = self.text_rect(option), option.fontMetrics
        run_id = short_id(run.run_id)
        id_width = metrics.horizontalAdvance(run_id) + metrics.height() // 2
        title = title_of(run)
        self.record_text(RunColumn.RUN, title)  # the id is painted only if there is space
        fits = metrics.horizontalAdvance(title) + id_width <= cell.width()
        title_width = cell.width() - (id_width if fits else 0)
        tone = "muted" if run.archived else "text"
        title_rect = QRect(cell.left(), cell.top(), title_width, cell.height())
        self.paint_text(painter, option, title, tone, rect=title_rect)
        if fits:
            id_left = cell.left() + metrics.horizontalAdvance(title) + metrics.height() // 2
            id_rect = QRect(id_left, cell.top(), cell.right() - id_left + 1, cell.height())
            self.paint_text(painter, option, run_id, "disabled", rect=id_rect)

    def _paint_state(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        """Paint a badge and, if there is space, the reason of a failure."""
        style = STATE_STYLES[run.state]
        tone = "muted" if style.tone == "plain" else style.tone
        badge_width = self._paint_pill(
            painter, option, self.text_rect(option), f"{style.symbol} {style.word}", tone
        )
        reason = one_line(run.reason) if run.state in (RunState.FAILED, RunState.LOST) else ""
        line = option.fontMetrics.height()
        rest = self.text_rect(option).adjusted(badge_width + line // 2, 0, 0, 0)
        if reason and rest.width() > line * _MIN_REASON_WIDTH:
            self.paint_text(painter, option, reason, "muted", rect=rest)
        elif run.archived and rest.width() > line * 4:
            self.paint_text(painter, option, "archived", "disabled", rect=rest)

    def _paint_tags(self, painter: QPainter, option: QStyleOptionViewItem, run: RunRecord) -> None:
        free, metrics = self.text_rect(option), option.fontMetrics
        gap, left = metrics.height() // 4, len(run.tags)
        for tag in run.tags:
            more = f"+{left}"
            more_width = metrics.horizontalAdvance(more) + gap if left > 1 else 0
            needed = metrics.horizontalAdvance(tag) + metrics.height()
            is_first = left == len(run.tags)
            if needed > free.width() - more_width and not is_first:
                self.paint_text(painter, option, more, "muted", rect=free)
                return
            rect = QRect(free.left(), free.top(), free.width() - more_width, free.height())
            free.setLeft(free.left() + self._paint_pill(painter, option, rect, tag, "muted") + gap)
            left -= 1

    def _paint_pill(
        self, painter: QPainter, option: QStyleOptionViewItem, cell: QRect, text: str, tone: str
    ) -> int:
        """Paint a rounded badge; return its width."""
        metrics, colours = option.fontMetrics, self.theme.colours
        edge = round(metrics.height() * _PILL_PADDING)
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, cell.width() - 2 * edge)
        width = min(cell.width(), metrics.horizontalAdvance(elided) + 2 * edge)
        height = round(metrics.height() * _PILL_HEIGHT)
        top = cell.top() + (cell.height() - height) // 2
        pill = QRect(cell.left(), top, width, height)
        ink = str(getattr(colours, tone))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(ink, colours.surface, 0.4), 1.0))
        painter.setBrush(blend(ink, colours.surface, 0.08))
        shape = QRectF(pill).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(shape, shape.height() / 2, shape.height() / 2)
        painter.setPen(self.colour(tone))
        painter.drawText(pill, _CENTRE, elided)
        painter.restore()
        return width

    def _paint_bar(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        run: RunRecord,
        progress: float | None,
    ) -> None:
        if progress is None and run.state in FINAL_STATES:
            return
        colours, cell = self.theme.colours, QRectF(self.text_rect(option))
        height = max(4.0, round(option.fontMetrics.height() * 0.28))
        bar = QRectF(cell.left(), cell.center().y() - height / 2, cell.width(), height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        groove = QColor(colours.text)
        groove.setAlphaF(0.14)
        painter.setBrush(groove)
        painter.drawRoundedRect(bar, height / 2, height / 2)
        if progress:
            is_bad = run.state in (RunState.FAILED, RunState.LOST)
            is_finished = run.state in FINAL_STATES
            ink = colours.bad if is_bad else colours.muted if is_finished else colours.accent
            bar.setWidth(max(height, bar.width() * progress))
            painter.setBrush(QColor(ink))
            painter.drawRoundedRect(bar, height / 2, height / 2)
        painter.restore()

    def _paint_trend(
        self, painter: QPainter, option: QStyleOptionViewItem, values: Sequence[float]
    ) -> None:
        finite = [value for value in values if abs(value) < float("inf")]
        if len(finite) < 2:
            return
        inset = option.fontMetrics.height() * 0.45
        cell = QRectF(self.text_rect(option)).adjusted(0, inset, 0, -inset)
        low, high = min(finite), max(finite)
        spread = (high - low) or 1.0
        step = cell.width() / (len(finite) - 1)
        line = QPolygonF(
            [
                QPointF(
                    cell.left() + index * step,
                    cell.bottom() - (value - low) / spread * cell.height()
                    if high > low
                    else cell.center().y(),
                )
                for index, value in enumerate(finite)
            ]
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.colour("accent"), 1.5))
        painter.drawPolyline(line)
        painter.restore()
