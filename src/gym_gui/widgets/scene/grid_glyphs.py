"""What is drawn on cells: goals, holes, doors, keys, balls, boxes, lava, the agent and its arrow.

Each function paints into a square and knows nothing of grids; the grid and its legend use them.
"""

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from gym_gui.runtime.models.theme_model import SERIES, Colours
from mosaic.envs.scenes.scene import Agent, ColourRole, Direction, GridCell

_HUES: dict[ColourRole, str] = {
    "red": SERIES[1],
    "green": SERIES[2],
    "blue": SERIES[0],
    "purple": SERIES[3],
    "yellow": SERIES[4],
    "grey": SERIES[7],
}
_TURNS: dict[Direction, float] = {"right": 0.0, "down": 90.0, "left": 180.0, "up": 270.0}
_NO_PEN = Qt.PenStyle.NoPen
_NO_BRUSH = Qt.BrushStyle.NoBrush


def hue(role: ColourRole, colours: Colours) -> QColor:
    """What a scene calls red, in this theme; plain ones are the cell's own ink."""
    if role in _HUES:
        return QColor(_HUES[role])
    return QColor({"danger": colours.bad, "goal": colours.cell_goal}.get(role, colours.on_cell))


def inner(square: QRectF, share: float) -> QRectF:
    """The square of that share of its side, in its middle."""
    side = square.width() * share
    place = QRectF(0, 0, side, side)
    place.moveCenter(square.center())
    return place


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
    """Filled, not stroked: a hundred of them are painted at once."""
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
    painter.rotate(_TURNS[direction])
    painter.setPen(_NO_PEN)
    painter.setBrush(colour)
    painter.drawPolygon(QPolygonF(points))
    painter.restore()


def draw_agent(painter: QPainter, square: QRectF, agent: Agent, body: QColor, ink: QColor) -> None:
    """A disc with a nose where it looks; what it carries and who rides along are on it."""
    disc = inner(square, 0.62)
    painter.setPen(QPen(ink, max(1.5, disc.width() * 0.08)))
    painter.setBrush(body)
    painter.drawEllipse(disc)
    if agent.direction is not None:
        painter.save()
        painter.translate(disc.center())
        painter.rotate(_TURNS[agent.direction])
        reach = disc.width() / 2
        painter.setPen(_NO_PEN)
        painter.setBrush(ink)
        nose = [
            QPointF(reach * 0.62, 0),
            QPointF(-reach * 0.3, -reach * 0.48),
            QPointF(-reach * 0.06, 0),
            QPointF(-reach * 0.3, reach * 0.48),
        ]
        painter.drawPolygon(QPolygonF(nose))
        painter.restore()
    if agent.passenger:
        badge = inner(square, 0.34)
        badge.moveTopRight(square.topRight())
        painter.setPen(QPen(ink, max(1.0, badge.width() * 0.08)))
        painter.setBrush(body)
        painter.drawEllipse(badge)
        draw_person(painter, inner(badge, 0.66), ink)


def draw_person(painter: QPainter, square: QRectF, colour: QColor) -> None:
    painter.setPen(_NO_PEN)
    painter.setBrush(colour)
    head = inner(square, 0.42)
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
    """Where a passenger wants to go."""
    pen = QPen(colour, max(1.2, square.width() * 0.1))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    pole = square.left() + square.width() * 0.2
    painter.drawLine(QPointF(pole, square.top()), QPointF(pole, square.bottom()))
    painter.setBrush(colour)
    middle = square.top() + square.height() * 0.32
    cloth = [
        QPointF(pole, square.top()),
        QPointF(square.right(), middle),
        QPointF(pole, square.top() + square.height() * 0.64),
    ]
    painter.drawPolygon(QPolygonF(cloth))


def draw_thing(painter: QPainter, square: QRectF, cell: GridCell, colours: Colours) -> None:
    """What lies on a cell: a key, a ball, a box or a door."""
    colour = hue(cell.colour, colours)
    if cell.kind == "key":
        _draw_key(painter, inner(square, 0.6), colour)
    elif cell.kind == "ball":
        painter.setPen(QPen(colour.darker(130), max(1.0, square.width() * 0.03)))
        painter.setBrush(colour)
        painter.drawEllipse(inner(square, 0.56))
    elif cell.kind == "box":
        _draw_box(painter, inner(square, 0.6), colour)
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
    painter: QPainter, square: QRectF, cell: GridCell, colour: QColor, ground: QColor
) -> None:
    """Open: a frame with the leaf aside. Closed: a leaf with a knob. Locked: with a keyhole."""
    frame = inner(square, 0.86)
    painter.setPen(QPen(colour, max(1.5, square.width() * 0.08)))
    painter.setBrush(ground if cell.state == "open" else colour.lighter(125))
    painter.drawRoundedRect(frame, 3, 3)
    painter.setPen(_NO_PEN)
    painter.setBrush(colour.darker(180) if cell.state != "open" else colour)
    if cell.state == "open":
        painter.drawRect(QRectF(frame.left(), frame.top(), frame.width() * 0.22, frame.height()))
        return
    knob = inner(frame, 0.18)
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
