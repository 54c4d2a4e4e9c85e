"""Painting a `GridScene`: cells with their heat, what lies on them, arrows, walls, the agent.

The grid page paints with it while somebody plays; whoever shows a scene elsewhere can as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.mixing import mixed
from gym_gui.widgets.scene.grid_geometry import GridGeometry
from gym_gui.widgets.scene.grid_glyphs import (
    draw_agent,
    draw_arrow,
    draw_flag,
    draw_person,
    draw_star,
    draw_thing,
    hue,
    inner,
)
from mosaic.envs.scenes.scene import Direction, GridCell, GridScene, Marker

Cell = tuple[int, int]

_SMALLEST_WORD = 44.0
"""The side of a cell below which a word on it cannot be read."""
_SMALLEST_LETTER = 14.0
_SMALLEST_ROUND = 26.0
"""Corners of smaller cells cannot be seen, and there are many of them."""
_CORNER = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
"""The middle is for arrows and the agent."""
_SOLID = ("wall", "unseen")


@dataclass(frozen=True, slots=True)
class GridOverlay:
    """What is laid over a scene: heat from 0 to 1, arrows, and whose colour the agent has."""

    heat: Mapping[Cell, float] = field(default_factory=dict)
    arrows: Mapping[Cell, Direction] = field(default_factory=dict)
    others: Mapping[Cell, str] = field(default_factory=dict)
    person_acts: bool = True


def paint_ground(
    painter: QPainter,
    scene: GridScene,
    geometry: GridGeometry,
    colours: Colours,
    overlay: GridOverlay,
) -> None:
    """All that seldom changes; `GridGround` keeps it as a picture."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for row, line in enumerate(scene.cells):
        for column, cell in enumerate(line):
            place = geometry.cell(row, column)
            heat = overlay.heat.get((row, column), 0.0)
            paint_cell(painter, place, cell, colours, heat, geometry.gap)
            _paint_intention(painter, place, (row, column), colours, overlay)
    _paint_walls(painter, scene, geometry, colours)


def paint_things(
    painter: QPainter,
    scene: GridScene,
    geometry: GridGeometry,
    colours: Colours,
    overlay: GridOverlay,
) -> None:
    """What moves, on top of the ground."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    stands = None if scene.agent is None else (scene.agent.row, scene.agent.column)
    for row, line in enumerate(scene.cells):
        for column, cell in enumerate(line):
            at = (row, column)
            if cell.kind == "start" and at != stands and not _has_arrow(at, overlay):
                paint_start(painter, geometry.cell(row, column), colours)
    for marker in scene.markers:
        _paint_marker(painter, geometry.cell(marker.row, marker.column), marker, colours)
    if scene.agent is not None:
        body = QColor(colours.person if overlay.person_acts else colours.agent)
        square = geometry.cell(scene.agent.row, scene.agent.column)
        draw_agent(painter, square, scene.agent, body, _paper(colours))


def paint_cell(
    painter: QPainter,
    place: QRectF,
    cell: GridCell,
    colours: Colours,
    heat: float = 0.0,
    gap: float = 0.0,
) -> None:
    """The ground and what lies on it."""
    ground = _ground(cell, colours, heat)
    if cell.kind in _SOLID:  # walls close up to one another
        before, after = gap // 2, gap - gap // 2
        painter.fillRect(place.adjusted(-before, -before, after, after), ground)
        return
    if place.width() < _SMALLEST_ROUND:
        painter.fillRect(place, ground)
    else:
        painter.setPen(QPen(mixed(colours.on_cell, ground.name(), 0.16), 1.0))
        painter.setBrush(ground)
        radius = min(6.0, place.width() * 0.09)
        painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.setPen(Qt.PenStyle.NoPen)
    if cell.kind == "hole":
        painter.setBrush(QColor(colours.cell_hole).darker(170))
        painter.drawEllipse(inner(place, 0.6))
    elif cell.kind == "goal":
        draw_star(painter, inner(place, 0.5), _paper(colours))
    elif cell.kind in ("lava", "cliff"):
        _paint_danger(painter, place, cell, colours)
    elif cell.kind == "stand":
        _write(painter, place, cell.label, hue(cell.colour, colours).darker(120), 0.3, _CORNER)
    elif cell.kind != "start":
        draw_thing(painter, place, cell, colours)


def paint_start(painter: QPainter, place: QRectF, colours: Colours) -> None:
    """The word on the start; apart from its cell, because the agent hides it."""
    is_small = place.width() < _SMALLEST_WORD
    word, share = ("S", 0.5) if is_small else ("START", 0.16)
    _write(painter, place, word, QColor(colours.on_cell), share)


def _ground(cell: GridCell, colours: Colours, heat: float) -> QColor:
    if cell.kind == "hole":
        return mixed(colours.cell_wall, colours.cell_hole, 0.35)
    if cell.kind == "goal":
        return QColor(colours.cell_goal)
    if cell.kind == "wall":
        return QColor(colours.cell_wall)
    if cell.kind == "unseen":
        return mixed(colours.canvas, colours.cell_wall, 0.5)
    if cell.kind in ("lava", "cliff"):
        return mixed(colours.bad, colours.cell_hole, 0.55 if cell.kind == "lava" else 0.28)
    ground = mixed(colours.cell_heat, colours.cell, max(0.0, min(1.0, heat)))
    if cell.kind == "stand":
        return mixed(hue(cell.colour, colours).name(), ground.name(), 0.28)
    if cell.colour in ("plain", "faint") or cell.kind != "floor":
        return ground
    return mixed(hue(cell.colour, colours).name(), ground.name(), 0.35)


def _paint_danger(painter: QPainter, place: QRectF, cell: GridCell, colours: Colours) -> None:
    """Lava has waves, a cliff a slope: not told by colour alone."""
    painter.setPen(QPen(mixed(colours.bad, colours.cell, 0.6), max(1.2, place.width() * 0.05)))
    for share in (0.32, 0.52, 0.72):
        left, y = place.left() + place.width() * 0.2, place.top() + place.height() * share
        width, lift = place.width() * 0.6, place.height() * 0.07
        if cell.kind == "cliff":
            lift = place.height() * 0.12
            painter.drawLine(QPointF(left, y + lift), QPointF(left + width, y - lift))
            continue
        points = [QPointF(left + width * at / 6, y + lift * (-1) ** at) for at in range(7)]
        painter.drawPolyline(points)


def _has_arrow(place: Cell, overlay: GridOverlay) -> bool:
    return place in overlay.arrows or place in overlay.others


def _paint_intention(
    painter: QPainter, place: QRectF, cell: Cell, colours: Colours, overlay: GridOverlay
) -> None:
    ink = QColor(colours.on_cell)
    ink.setAlphaF(0.62)
    if cell in overlay.arrows:
        draw_arrow(painter, inner(place, 0.32), overlay.arrows[cell], ink)
    elif cell in overlay.others and place.width() < _SMALLEST_WORD:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(inner(place, 0.16))
    elif cell in overlay.others:
        _write(painter, place, overlay.others[cell], ink, 0.15)


def _paint_walls(
    painter: QPainter, scene: GridScene, geometry: GridGeometry, colours: Colours
) -> None:
    thick = max(3.0, geometry.pitch * 0.06)
    # Cased, so that it stands out from the cells and from the gap between them.
    for colour, width in ((colours.canvas, thick * 2), (colours.muted, thick)):
        pen = QPen(QColor(colour), width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        for wall in scene.walls:
            cell = geometry.cell(wall.row, wall.column)
            if wall.side == "right":
                x = cell.right() + geometry.gap / 2
                painter.drawLine(QPointF(x, cell.top()), QPointF(x, cell.bottom()))
            else:
                y = cell.bottom() + geometry.gap / 2
                painter.drawLine(QPointF(cell.left(), y), QPointF(cell.right(), y))


def _paint_marker(painter: QPainter, cell: QRectF, marker: Marker, colours: Colours) -> None:
    corner = inner(cell, 0.3)
    edge = cell.width() * 0.08
    ink = QColor(colours.on_cell)
    if marker.kind == "passenger":
        corner.moveTopLeft(cell.topLeft() + QPointF(edge, edge))
        draw_person(painter, corner, ink)
    else:
        corner.moveTopRight(cell.topRight() + QPointF(-edge, edge))
        draw_flag(painter, corner, ink)


def _write(
    painter: QPainter,
    place: QRectF,
    text: str,
    colour: QColor,
    share: float,
    where: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignCenter,
) -> None:
    if place.width() < _SMALLEST_LETTER:
        return
    font = painter.font()
    font.setPixelSize(max(6, round(place.width() * share)))
    font.setBold(True)
    painter.save()
    painter.setFont(font)
    painter.setPen(colour)
    edge = place.width() * 0.035
    room = place.adjusted(edge, edge, -edge, -edge)
    painter.drawText(room, int(where) | int(Qt.TextFlag.TextWordWrap), text)
    painter.restore()


def _paper(colours: Colours) -> QColor:
    """What stands out from every strong colour: white in both themes."""
    return QColor(colours.text if colours.is_dark else colours.surface)
