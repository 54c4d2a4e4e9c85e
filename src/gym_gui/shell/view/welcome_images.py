"""The images of the welcome page's cards, painted in the colours of the theme."""

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.icons import draw_icon
from gym_gui.widgets.styling import blend

ImagePainter = Callable[[QPainter, QRectF, Colours], None]

_MAP = ("....", ".H.H", "...H", "H..G")
_PATH = ((0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (3, 2))


def paint_lake(painter: QPainter, rect: QRectF, colours: Colours) -> None:
    """Paint a FrozenLake map with a path to the goal."""
    side = rect.height() * 0.9 / len(_MAP)
    left = rect.center().x() - side * len(_MAP) / 2
    top = rect.center().y() - side * len(_MAP) / 2
    gap = max(1.0, side * 0.06)
    painter.setPen(Qt.PenStyle.NoPen)
    for row, cells in enumerate(_MAP):
        for column, kind in enumerate(cells):
            cell = QRectF(left + column * side, top + row * side, side, side)
            cell.adjust(gap / 2, gap / 2, -gap / 2, -gap / 2)
            heat = (row + column) / 6
            ground = blend(colours.cell_heat, colours.cell, heat)
            painter.setBrush(QColor(colours.cell_goal) if kind == "G" else ground)
            painter.drawRoundedRect(cell, side * 0.12, side * 0.12)
            if kind == "H":
                painter.setBrush(QColor(colours.cell_hole))
                painter.drawEllipse(cell.center(), side * 0.27, side * 0.27)
            elif kind == "G":
                draw_icon(painter, "star", colours.surface, cell.adjusted(gap, gap, -gap, -gap))
    centres = [
        QPointF(left + (column + 0.5) * side, top + (row + 0.5) * side) for row, column in _PATH
    ]
    painter.setPen(
        QPen(QColor(colours.on_cell), side * 0.07, Qt.PenStyle.DotLine, Qt.PenCapStyle.RoundCap)
    )
    painter.drawPolyline(QPolygonF(centres))
    painter.setPen(QPen(QColor(colours.surface), side * 0.07))
    painter.setBrush(QColor(colours.person))
    painter.drawEllipse(centres[-1], side * 0.25, side * 0.25)


def paint_learning(painter: QPainter, rect: QRectF, colours: Colours) -> None:
    """Paint a rising return curve with its spread."""
    chart = rect.adjusted(rect.width() * 0.08, rect.height() * 0.08, 0, -rect.height() * 0.06)
    chart.setRight(rect.right() - rect.width() * 0.08)
    painter.setPen(QPen(QColor(colours.line), 1.0))
    for fraction in (0.0, 1 / 3, 2 / 3, 1.0):
        y = chart.bottom() - chart.height() * fraction
        painter.drawLine(QPointF(chart.left(), y), QPointF(chart.right(), y))
    steps = 60
    middle, upper, lower = [], [], []
    for step in range(steps + 1):
        progress = step / steps
        trend = 0.08 + 0.82 * (1 - math.exp(-3.6 * progress)) / (1 - math.exp(-3.6))
        noisy = trend + 0.035 * math.sin(step * 1.9) * math.cos(step * 0.7)
        spread = 0.10 * (1 - 0.5 * progress)
        x = chart.left() + chart.width() * progress
        middle.append(QPointF(x, chart.bottom() - chart.height() * noisy))
        upper.append(QPointF(x, chart.bottom() - chart.height() * min(1.0, trend + spread)))
        lower.append(QPointF(x, chart.bottom() - chart.height() * max(0.0, trend - spread)))
    band = QPainterPath()
    band.addPolygon(QPolygonF([*upper, *reversed(lower)]))
    painter.fillPath(band, blend(colours.agent, colours.raised, 0.22))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(colours.agent), max(1.5, rect.height() * 0.022)))
    painter.drawPolyline(QPolygonF(middle))


def paint_replay(painter: QPainter, rect: QRectF, colours: Colours) -> None:
    """Paint the rewards along a timeline with a playhead."""
    line = rect.adjusted(rect.width() * 0.08, 0, -rect.width() * 0.08, -rect.height() * 0.28)
    count = 27
    pitch = line.width() / count
    playhead = 16
    painter.setPen(Qt.PenStyle.NoPen)
    for number in range(count):
        reward = 0.25 + 0.6 * abs(math.sin(number * 0.83) * math.cos(number * 0.31))
        colour = QColor(colours.accent if number <= playhead else colours.disabled)
        if number in (7, 20):
            reward, colour = 0.22, QColor(colours.bad)
        height = line.height() * 0.8 * reward
        bar = QRectF(line.left() + number * pitch, line.bottom() - height, pitch * 0.62, height)
        painter.setBrush(colour)
        painter.drawRoundedRect(bar, pitch * 0.2, pitch * 0.2)
    track = QRectF(line.left(), line.bottom() + rect.height() * 0.08, line.width(), 4)
    painter.setBrush(QColor(colours.line))
    painter.drawRoundedRect(track, 2, 2)
    playhead_x = line.left() + (playhead + 0.3) * pitch
    painter.setBrush(QColor(colours.accent))
    painter.drawRoundedRect(QRectF(track.left(), track.top(), playhead_x - track.left(), 4), 2, 2)
    painter.setPen(QPen(QColor(colours.accent), 2.0))
    painter.setBrush(QColor(colours.surface))
    painter.drawEllipse(
        QPointF(playhead_x, track.center().y()), rect.height() * 0.055, rect.height() * 0.055
    )
