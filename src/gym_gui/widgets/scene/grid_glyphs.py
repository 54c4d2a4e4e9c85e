"""Glyphs of a grid: goal, door, key, ball, box, flag, person, agent and arrow.

Each function paints into a square. Used by the grid and by its legend.
"""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gym_gui.runtime.models.theme_model import SERIES, Colours
from mosaic.envs.scenes.scene import Agent, ColourRole, Direction, GridCell

_ROLE_COLOURS: dict[ColourRole, str] = {
    "red": SERIES[1],
    "green": SERIES[2],
    "blue": SERIES[0],
    "purple": SERIES[3],
    "yellow": SERIES[4],
    "grey": SERIES[7],
}
_ROTATIONS: dict[Direction, float] = {"right": 0.0, "down": 90.0, "left": 180.0, "up": 270.0}
_NO_PEN = Qt.PenStyle.NoPen
_NO_BRUSH = Qt.BrushStyle.NoBrush


def role_colour(role: ColourRole, colours: Colours) -> QColor:
    """The colour of a role in this theme; `plain` is the text colour of a cell."""
    if role in _ROLE_COLOURS:
        return QColor(_ROLE_COLOURS[role])
    return QColor({"danger": colours.bad, "goal": colours.cell_goal}.get(role, colours.on_cell))


def inner_square(square: QRectF, scale: float) -> QRectF:
    """A concentric square with `scale` times the side."""
    side = square.width() * scale
    inner = QRectF(0, 0, side, side)
    inner.moveCenter(square.center())
    return inner


def draw_star(painter: QPainter, square: QRectF, colour: QColor) -> None:
    centre, radius = square.center(), square.width() / 2
    points = []
    for corner in range(10):
        reach = radius if corner % 2 == 0 else radius * 0.42
        angle = -math.pi / 2 + corner * math.pi / 5
        points.append(centre + QPointF(math.cos(angle) * reach, math.sin(angle) * reach))
    painter.setPen(_NO_PEN)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(points))


def draw_arrow(painter: QPainter, square: QRectF, direction: Direction, colour: QColor) -> None:
    """A filled polygon, which is faster than a stroked path."""
    half = square.width() / 2
    shaft, head = half * 0.11, half * 0.62
    points = [
        QPointF(-half, -shaft),
        QPointF(half - head * 0.75, -shaft),
        QPointF(half - head, -head),
        QPointF(half, 0),
        QPointF(half - head, head),
        QPointF(half - head * 0.75, shaft),
        QPointF(-half, shaft),
    ]
    painter.save()
    painter.translate(square.center())
    painter.rotate(_ROTATIONS[direction])
    painter.setPen(_NO_PEN)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(points))
    painter.restore()


def draw_agent(painter: QPainter, square: QRectF, agent: Agent, body: QColor, ink: QColor) -> None:
    """A disc with a pointer in its direction, and a badge for a passenger."""
    disc = inner_square(square, 0.62)
    painter.setPen(QPen(ink, max(1.5, disc.width() * 0.08)))
    painter.setBrush(body)
    painter.drawEllipse(disc)
    if agent.direction is not None:
        painter.save()
        painter.translate(disc.center())
        painter.rotate(_ROTATIONS[agent.direction])
        reach = disc.width() / 2
        painter.setPen(_NO_PEN)
        painter.setBrush(ink)
        pointer = [
            QPointF(reach * 0.62, 0),
            QPointF(-reach * 0.3, -reach * 0.48),
            QPointF(-reach * 0.06, 0),
            QPointF(-reach * 0.3, reach * 0.48),
        ]
        painter.drawPolygon(QPolygonF(pointer))
        painter.restore()
    if agent.passenger:
        badge = inner_square(square, 0.34)
        badge.moveTopRight(square.topRight())
        painter.setPen(QPen(ink, max(1.0, badge.width() * 0.08)))
        painter.setBrush(body)
        painter.drawEllipse(badge)
        draw_person(painter, inner_square(badge, 0.66), ink)


def draw_person(painter: QPainter, square: QRectF, colour: QColor) -> None:
    painter.setPen(_NO_PEN)
    painter.setBrush(colour)
    head = inner_square(square, 0.42)
    head.moveTop(square.top())
    painter.drawEllipse(head)
    body = QPainterPath()
    shoulders = QRectF(square.left(), square.top() + square.height() * 0.5, square.width(), 0)
    shoulders.setHeight(square.height())
    body.addEllipse(shoulders)
    lower = QPainterPath()
    lower.addRect(square)
    painter.drawPath(body.intersected(lower))


def draw_flag(painter: QPainter, square: QRectF, colour: QColor) -> None:
    """The destination of a passenger."""
    pen = QPen(colour, max(1.2, square.width() * 0.1))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    pole = square.left() + square.width() * 0.2
    painter.drawLine(QPointF(pole, square.top()), QPointF(pole, square.bottom()))
    painter.setBrush(colour)
    middle = square.top() + square.height() * 0.32
    triangle = [
        QPointF(pole, square.top()),
        QPointF(square.right(), middle),
        QPointF(pole, square.top() + square.height() * 0.64),
    ]
    painter.drawPolygon(QPolygonF(triangle))


def draw_object(painter: QPainter, square: QRectF, cell: GridCell, colours: Colours) -> None:
    """The object on a cell: key, ball, box or door."""
    colour = role_colour(cell.colour, colours)
    if cell.kind == "key":
        _draw_key(painter, inner_square(square, 0.6), colour)
    elif cell.kind == "ball":
        painter.setPen(QPen(colour.darker(130), max(1.0, square.width() * 0.03)))
        painter.setBrush(colour)
        painter.drawEllipse(inner_square(square, 0.56))
    elif cell.kind == "box":
        _draw_box(painter, inner_square(square, 0.6), colour)
    elif cell.kind == "door":
        _draw_door(painter, square, cell, colour, QColor(colours.cell))


def _draw_key(painter: QPainter, square: QRectF, colour: QColor) -> None:
    width = square.width()
    pen = QPen(colour, max(1.5, width * 0.14))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.setBrush(_NO_BRUSH)
    bow = QRectF(0, 0, width * 0.46, width * 0.46)
    bow.moveCenter(QPointF(square.center().x(), square.top() + width * 0.25))
    painter.drawEllipse(bow)
    x, low = square.center().x(), square.bottom()
    painter.drawLine(QPointF(x, bow.bottom()), QPointF(x, low))
    for up in (0.0, 0.2):
        y = low - width * up
        painter.drawLine(QPointF(x, y), QPointF(x + width * 0.22, y))


def _draw_box(painter: QPainter, square: QRectF, colour: QColor) -> None:
    painter.setPen(QPen(colour, max(1.5, square.width() * 0.1)))
    painter.setBrush(_NO_BRUSH)
    painter.drawRoundedRect(square, square.width() * 0.1, square.width() * 0.1)
    painter.drawLine(
        QPointF(square.left(), square.center().y()), QPointF(square.right(), square.center().y())
    )


def _draw_door(
    painter: QPainter, square: QRectF, cell: GridCell, colour: QColor, background: QColor
) -> None:
    """Open: a frame with the leaf at the side. Closed: a leaf with a knob. Locked: a keyhole."""
    frame = inner_square(square, 0.86)
    painter.setPen(QPen(colour, max(1.5, square.width() * 0.08)))
    painter.setBrush(background if cell.state == "open" else colour.lighter(125))
    painter.drawRoundedRect(frame, 3, 3)
    painter.setPen(_NO_PEN)
    painter.setBrush(colour.darker(180) if cell.state != "open" else colour)
    if cell.state == "open":
        painter.drawRect(QRectF(frame.left(), frame.top(), frame.width() * 0.22, frame.height()))
        return
    knob = inner_square(frame, 0.18)
    if cell.state == "closed":
        knob.moveCenter(QPointF(frame.right() - frame.width() * 0.22, frame.center().y()))
        painter.drawEllipse(knob)
        return
    knob.moveCenter(frame.center() - QPointF(0, frame.height() * 0.08))
    painter.drawEllipse(knob)
    painter.drawRect(
        QRectF(
            knob.center().x() - knob.width() * 0.22,
            knob.center().y(),
            knob.width() * 0.44,
            frame.height() * 0.26,
        )
    )
