"""The bars of a timeline: one per step while there is room, then one for several, spikes kept."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from gym_gui.replay.model.reward_track import RewardTrack
from gym_gui.runtime.models.theme_model import Colours

_NARROWEST = 2.0
_GAP_FROM = 3.0
"""Bars that are at least so wide have a gap between them."""
_CUT_ABOVE = 4.0
"""Rewards so many times as large as usual would leave nothing to be seen of the others."""
_LARGEST = 1e300


def paint_bars(
    painter: QPainter, chart: QRectF, track: RewardTrack, steps: int, colours: Colours
) -> None:
    """`steps` is how many there will be; `track` has those that are known so far.

    A bar that would be far longer than all others is cut, and has a notch near its end.
    """
    usual = track.usual_size
    most = min(max(track.highest, -track.lowest), _LARGEST)
    limit = usual * 2 if usual and most > usual * _CUT_ABOVE else most
    up, down = min(track.highest, limit), min(-track.lowest, limit)
    scale = chart.height() / (up + down) if up + down > 0 else 0.0
    zero = chart.top() + (up * scale if scale else chart.height() / 2)
    gains, losses, behind = QColor(colours.good), QColor(colours.bad), QColor(colours.surface)
    columns = max(1, min(steps, int(chart.width() / _NARROWEST)))
    width = chart.width() / columns
    bar = width - 1.0 if width >= _GAP_FROM else width
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
