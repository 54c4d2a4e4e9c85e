"""RewardTimeline: a slider with the rewards of the episode.

Bars show rewards. The rail below shows the playhead and the cached frames; the band above shows
the actors.
"""

import math

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.formatting import format_signed, format_significant
from gym_gui.runtime.models.run_text import HUMAN, actor_label
from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.timeline_slider import TimelineSlider, paint_track

_REDRAWS_WHILE_READING = 30
_FUTURE = 0.55
"""Opacity of the overlay after the playhead."""
_MIN_BAR_WIDTH = 2.0
_MIN_GAP_WIDTH = 3.0
"""Bars at least this wide have a gap between them."""
_CLIP_FACTOR = 4.0
"""Bars longer than this multiple of the usual size are clipped."""
_MAX_REWARD = 1e300


class RewardTimeline(TimelineSlider):
    """Value k is the playhead after k steps. Shows `ReplayModel`."""

    def __init__(
        self, model: ReplayModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._bars: QPixmap | None = None
        self._bars_of: tuple[object, ...] = ()
        self.setAccessibleName("Episode timeline")
        self.setAccessibleDescription(
            "Rewards by step. Arrow keys: one step. Page keys: a tenth of the episode."
        )
        self.valueChanged.connect(model.seek)
        model.changed.connect(self._update_range)
        model.episode_changed.connect(self._update_range)
        model.playhead_changed.connect(self._update_playhead)
        theme.changed.connect(self._repaint_all)
        self._update_range()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 24, round(line * 5.2))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 10, round(line * 5.2))

    def track_ends(self) -> tuple[float, float]:
        chart = self._chart()
        return chart.left(), chart.right()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        # The page handles Space; the slider handles its other keys.
        if event.key() == Qt.Key.Key_Space:
            event.ignore()
        else:
            self._model.pause()
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        self._bars = None
        super().resizeEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        chart = self._chart()
        painter.drawPixmap(0, 0, self._bars_pixmap(chart))
        self._paint_absence(painter, chart)
        self._paint_future(painter, chart)
        self._paint_difference(painter, chart)
        self._paint_end(painter, chart)
        self._paint_hover(painter, chart)
        self._paint_rail(painter)
        painter.end()

    # Geometry

    @property
    def _knob(self) -> float:
        return self.fontMetrics().height() * 0.46

    def _chart(self) -> QRectF:
        line = self.fontMetrics().height()
        left = self._knob + 2
        return QRectF(left, line * 0.5, max(1.0, self.width() - 2 * left), line * 3.4)

    def _rail_y(self) -> float:
        return self.height() - self._knob - 3

    def _x(self, index: float) -> float:
        chart = self._chart()
        return chart.left() + chart.width() * index / max(1, self.maximum())

    # Painting

    def _bars_pixmap(self, chart: QRectF) -> QPixmap:
        """Cached; repainted when rewards, size or theme change."""
        track = self._model.track
        ratio = self.devicePixelRatioF()
        # While a long episode is being read, limit the number of redraws.
        read = len(track) * _REDRAWS_WHILE_READING // max(1, self.maximum())
        is_of = (id(track), read, self.maximum(), self.size(), ratio)
        if self._bars is None or self._bars_of != is_of:
            self._bars = QPixmap(self.size() * ratio)
            self._bars.setDevicePixelRatio(ratio)
            self._bars.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._bars)
            paint_bars(painter, chart, track, self.maximum(), self._theme.colours)
            self._paint_actors(painter)
            painter.end()
            self._bars_of = is_of
        return self._bars

    def _paint_actors(self, painter: QPainter) -> None:
        spans = self._model.track.actor_spans
        if not any(actor for _, actor in spans):
            return
        colours = self._theme.colours
        for steps, actor in spans:
            band = QRectF(self._x(steps.start), 1, self._x(steps.stop) - self._x(steps.start), 3)
            is_person = actor == HUMAN
            painter.fillRect(band, QColor(colours.person if is_person else colours.agent))
            if is_person:  # a thicker band, so that colour is not the only cue
                painter.fillRect(band.adjusted(0, 3, 0, 1), QColor(colours.person))

    def _paint_absence(self, painter: QPainter, chart: QRectF) -> None:
        track = self._model.track
        if len(track) and track.highest == track.lowest == 0.0:
            painter.setPen(QColor(self._theme.colours.muted))
            above = QRectF(chart.left(), chart.top(), chart.width(), chart.height() / 2 - 2)
            text = "all rewards are 0" if len(track) >= self.maximum() else "no reward so far"
            painter.drawText(above, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_future(self, painter: QPainter, chart: QRectF) -> None:
        veil = QColor(self._theme.colours.surface)
        veil.setAlphaF(_FUTURE)
        x = self._x(self.value())
        painter.fillRect(QRectF(x, 0, self.width() - x, chart.bottom() + 1), veil)
        painter.setPen(QPen(QColor(self._theme.colours.text), 1))
        painter.drawLine(QPointF(x, chart.top()), QPointF(x, self._rail_y()))

    def _paint_difference(self, painter: QPainter, chart: QRectF) -> None:
        first = self._model.state.first_difference
        if first is None:
            return
        bad = QColor(self._theme.colours.bad)
        painter.setPen(QPen(bad, 1, Qt.PenStyle.DashLine))
        x = self._x(first)
        painter.drawLine(QPointF(x, 0), QPointF(x, chart.bottom()))
        painter.fillRect(
            QRectF(x, chart.top(), chart.right() - x, chart.height()),
            QBrush(bad, Qt.BrushStyle.BDiagPattern),
        )

    def _paint_end(self, painter: QPainter, chart: QRectF) -> None:
        opening = self._model.opening
        if opening is None or not opening.rollup.is_over:
            return
        is_cut = opening.rollup.truncated and not opening.rollup.terminated
        style = Qt.PenStyle.DashLine if is_cut else Qt.PenStyle.SolidLine
        painter.setPen(QPen(QColor(self._theme.colours.muted), 2, style))
        x = chart.right() + 1
        painter.drawLine(QPointF(x, chart.top()), QPointF(x, chart.bottom()))

    def _paint_hover(self, painter: QPainter, chart: QRectF) -> None:
        if self.hovered is not None and not self.isSliderDown():
            painter.setPen(QPen(QColor(self._theme.colours.muted), 1, Qt.PenStyle.DotLine))
            x = self._x(self.hovered)
            painter.drawLine(QPointF(x, chart.top()), QPointF(x, self._rail_y()))

    def _paint_rail(self, painter: QPainter) -> None:
        colours = self._theme.colours
        y = self._rail_y()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.muted))
        for cached in self._model.state.cached:
            start, end = self._x(cached.start), self._x(cached.stop - 1)
            painter.drawRect(QRectF(start, y + 3.5, max(1.0, end - start), 1.5))
        ends, at = (self._x(0), self._x(self.maximum())), QPointF(self._x(self.value()), y)
        paint_track(painter, self, ends, at, self._knob, colours)

    def tool_tip_at(self, index: int) -> str:
        if index == 0:
            return "Start of the episode"
        track, step = self._model.track, index - 1
        reward, total = track.reward(step), track.return_after(index)
        lines = [f"Step {step:,}, after {index:,} of {self.maximum():,}"]
        if reward is not None:
            lines.append(f"reward {format_signed(reward)}")
        if total is not None and not math.isnan(total):
            lines.append(f"return so far {format_significant(total)}")
        actor = track.actor(step)
        if actor:
            lines.append(f"{actor_label(actor)} acted")
        return "\n".join(lines)

    # Updates from the model

    def _update_range(self) -> None:
        self.show_range(self._model.steps, is_enabled=self._model.steps > 0)
        self._update_playhead()

    def _update_playhead(self) -> None:
        self.show_value(self._model.playhead)

    def _repaint_all(self) -> None:
        self._bars = None
        self.update()


def paint_bars(
    painter: QPainter, chart: QRectF, track: RewardTrack, steps: int, colours: Colours
) -> None:
    """Paint one bar per step, or per range of steps with its extrema.

    `steps` is the final number of steps; `track` has the steps read so far. Clipped bars have a
    notch near the end.
    """
    usual = track.usual_size
    peak = min(max(track.highest, -track.lowest), _MAX_REWARD)
    limit = usual * 2 if usual and peak > usual * _CLIP_FACTOR else peak
    up, down = min(track.highest, limit), min(-track.lowest, limit)
    scale = chart.height() / (up + down) if up + down > 0 else 0.0
    zero = chart.top() + (up * scale if scale else chart.height() / 2)
    gains, losses, behind = QColor(colours.good), QColor(colours.bad), QColor(colours.surface)
    columns = max(1, min(steps, int(chart.width() / _MIN_BAR_WIDTH)))
    width = chart.width() / columns
    bar = width - 1.0 if width >= _MIN_GAP_WIDTH else width
    for column in range(columns):
        first, end = column * steps // columns, (column + 1) * steps // columns
        if first >= len(track):
            break
        low, high = track.extent(first, end)
        x = chart.left() + column * width
        if high > 0:
            height = max(1.0, min(high, limit) * scale)
            painter.fillRect(QRectF(x, zero - height, bar, height), gains)
            if high > limit:
                painter.fillRect(QRectF(x, zero - height + 3, bar, 2), behind)
        if low < 0:
            height = max(1.0, min(-low, limit) * scale)
            painter.fillRect(QRectF(x, zero, bar, height), losses)
            if -low > limit:
                painter.fillRect(QRectF(x, zero + height - 5, bar, 2), behind)
    painter.setPen(QPen(QColor(colours.muted), 1))
    painter.drawLine(QPointF(chart.left(), zero), QPointF(chart.right(), zero))
