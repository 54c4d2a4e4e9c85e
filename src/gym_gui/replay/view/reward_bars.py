"""Bars of a reward timeline: one per step, or one per range of steps with its extrema."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.theme_model import Colours

_MIN_WIDTH = 2.0
_MIN_WIDTH_WITH_GAP = 3.0
"""Bars at least this wide have a gap between them."""
_CLIP_FACTOR = 4.0
"""Bars longer than this multiple of the usual size are clipped."""
_MAX_REWARD = 1e300


def paint_bars(
    painter: QPainter, chart: QRectF, track: RewardTrack, steps: int, colours: Colours
) -> None:
    """`steps` is the final number of steps; `track` has the steps read so far.

    Clipped bars have a notch near the end.
    """
    usual = track.usual_size
    peak = min(max(track.highest, -track.lowest), _MAX_REWARD)
    limit = usual * 2 if usual and peak > usual * _CLIP_FACTOR else peak
    up, down = min(track.highest, limit), min(-track.lowest, limit)
    scale = chart.height() / (up + down) if up + down > 0 else 0.0
    zero = chart.top() + (up * scale if scale else chart.height() / 2)
    gains, losses, behind = QColor(colours.good), QColor(colours.bad), QColor(colours.surface)
    columns = max(1, min(steps, int(chart.width() / _MIN_WIDTH)))
    width = chart.width() / columns
    bar = width - 1.0 if width >= _MIN_WIDTH_WITH_GAP else width
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
