"""Rendering of a `GridScene`: geometry, cached background, foreground and overlay."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.scene.grid_glyphs import (
    draw_agent,
    draw_arrow,
    draw_flag,
    draw_object,
    draw_person,
    draw_star,
    inner_square,
    role_colour,
)
from gym_gui.widgets.styling import blend
from mosaic.envs.scenes.scene import Direction, GridCell, GridScene, Marker

Cell = tuple[int, int]

_MIN_WORD_SIDE = 44.0
"""Smaller cells have no words, because they would be illegible."""
_MIN_LETTER_SIDE = 14.0
_MIN_ROUNDED_SIDE = 26.0
"""Smaller cells have square corners, which are faster to paint."""
_CORNER = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
"""The centre is for arrows and the agent."""
_SOLID = ("wall", "unseen")
_GAP_FRACTION = 0.035
_MAX_CELL_FRACTION = 0.24
"""Of the longer side of the widget, so that the cells of a tiny grid do not get huge."""


@dataclass(frozen=True, slots=True)
class GridGeometry:
    """The position of each cell, in integer pixels. `side` is without the gap between cells."""

    rows: int
    columns: int
    left: float
    top: float
    side: float
    gap: float

    @classmethod
    def fit(cls, rows: int, columns: int, size: QSizeF, margin: float) -> "GridGeometry":
        """As large as possible, centred in `size`."""
        width, height = size.width() - 2 * margin, size.height() - 2 * margin
        max_pitch = _MAX_CELL_FRACTION * max(size.width(), size.height())
        pitch = max(2.0, min(width / columns, height / rows, max_pitch))
        pitch = float(int(pitch))
        gap = max(1.0, round(pitch * _GAP_FRACTION))
        left = int((size.width() - pitch * columns + gap) / 2)
        top = int((size.height() - pitch * rows + gap) / 2)
        return cls(rows, columns, float(left), float(top), pitch - gap, gap)

    @property
    def pitch(self) -> float:
        return self.side + self.gap

    @property
    def board(self) -> QRectF:
        width = self.pitch * self.columns - self.gap
        return QRectF(self.left, self.top, width, self.pitch * self.rows - self.gap)

    def cell(self, row: int, column: int) -> QRectF:
        left = self.left + column * self.pitch
        return QRectF(left, self.top + row * self.pitch, self.side, self.side)

    def cell_at(self, point: QPointF) -> tuple[int, int] | None:
        """Row and column; None outside of the board."""
        if not self.board.contains(point):
            return None
        row = int((point.y() - self.top) / self.pitch)
        column = int((point.x() - self.left) / self.pitch)
        return min(row, self.rows - 1), min(column, self.columns - 1)


@dataclass(frozen=True, slots=True)
class GridOverlay:
    """What a policy adds to a scene: heat from 0 to 1, arrows, and labels of other actions."""

    heat: Mapping[Cell, float] = field(default_factory=dict)
    arrows: Mapping[Cell, Direction] = field(default_factory=dict)
    labels: Mapping[Cell, str] = field(default_factory=dict)
    is_human: bool = True
    """A human acts; decides the colour of the agent."""


class GridBackground:
    """Caches the background of one widget as a pixmap: most steps move only the agent."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._key: tuple[object, ...] = ()

    def pixmap(
        self,
        widget: QWidget,
        scene: GridScene,
        geometry: GridGeometry,
        colours: Colours,
        overlay: GridOverlay,
    ) -> QPixmap:
        """Repainted only if an argument has changed."""
        size, ratio = widget.size(), widget.devicePixelRatioF()
        key = (scene.cells, scene.walls, geometry, size, ratio, colours, overlay)
        if key != self._key:
            self._key = key
            self._pixmap = QPixmap(size * ratio)
            self._pixmap.setDevicePixelRatio(ratio)
            self._pixmap.fill(QColor(colours.canvas))
            painter = QPainter(self._pixmap)
            painter.setFont(widget.font())
            paint_background(painter, scene, geometry, colours, overlay)
            painter.end()
        return self._pixmap


def paint_background(
    painter: QPainter,
    scene: GridScene,
    geometry: GridGeometry,
    colours: Colours,
    overlay: GridOverlay,
) -> None:
    """Paint cells, overlay and walls, which change rarely; `GridBackground` caches them."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for row, line in enumerate(scene.cells):
        for column, cell in enumerate(line):
            rect = geometry.cell(row, column)
            heat = overlay.heat.get((row, column), 0.0)
            paint_cell(painter, rect, cell, colours, heat, geometry.gap)
            _paint_action(painter, rect, (row, column), colours, overlay)
    _paint_walls(painter, scene, geometry, colours)


def paint_foreground(
    painter: QPainter,
    scene: GridScene,
    geometry: GridGeometry,
    colours: Colours,
    overlay: GridOverlay,
) -> None:
    """Paint start, markers and agent on top of the background."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    agent_cell = None if scene.agent is None else (scene.agent.row, scene.agent.column)
    for row, line in enumerate(scene.cells):
        for column, cell in enumerate(line):
            position = (row, column)
            if (
                cell.kind == "start"
                and position != agent_cell
                and not _has_action(position, overlay)
            ):
                paint_start(painter, geometry.cell(row, column), colours)
    for marker in scene.markers:
        _paint_marker(painter, geometry.cell(marker.row, marker.column), marker, colours)
    if scene.agent is not None:
        body = QColor(colours.person if overlay.is_human else colours.agent)
        square = geometry.cell(scene.agent.row, scene.agent.column)
        draw_agent(painter, square, scene.agent, body, _contrast_colour(colours))


def paint_cell(
    painter: QPainter,
    rect: QRectF,
    cell: GridCell,
    colours: Colours,
    heat: float = 0.0,
    gap: float = 0.0,
) -> None:
    """Paint a cell and the object on it."""
    colour = _cell_colour(cell, colours, heat)
    if cell.kind in _SOLID:  # walls have no gap between them
        before, after = gap // 2, gap - gap // 2
        painter.fillRect(rect.adjusted(-before, -before, after, after), colour)
        return
    if rect.width() < _MIN_ROUNDED_SIDE:
        painter.fillRect(rect, colour)
    else:
        painter.setPen(QPen(blend(colours.on_cell, colour.name(), 0.16), 1.0))
        painter.setBrush(colour)
        radius = min(6.0, rect.width() * 0.09)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.setPen(Qt.PenStyle.NoPen)
    if cell.kind == "hole":
        painter.setBrush(QColor(colours.cell_hole).darker(170))
        painter.drawEllipse(inner_square(rect, 0.6))
    elif cell.kind == "goal":
        draw_star(painter, inner_square(rect, 0.5), _contrast_colour(colours))
    elif cell.kind in ("lava", "cliff"):
        _paint_hazard(painter, rect, cell, colours)
    elif cell.kind == "stand":
        _draw_text(
            painter, rect, cell.label, role_colour(cell.colour, colours).darker(120), 0.3, _CORNER
        )
    elif cell.kind != "start":
        draw_object(painter, rect, cell, colours)


def paint_start(painter: QPainter, rect: QRectF, colours: Colours) -> None:
    """Paint the label of the start cell, which the agent hides."""
    is_small = rect.width() < _MIN_WORD_SIDE
    text, scale = ("S", 0.5) if is_small else ("START", 0.16)
    _draw_text(painter, rect, text, QColor(colours.on_cell), scale)


def _cell_colour(cell: GridCell, colours: Colours, heat: float) -> QColor:
    if cell.kind == "hole":
        return blend(colours.cell_wall, colours.cell_hole, 0.35)
    if cell.kind == "goal":
        return QColor(colours.cell_goal)
    if cell.kind == "wall":
        return QColor(colours.cell_wall)
    if cell.kind == "unseen":
        return blend(colours.canvas, colours.cell_wall, 0.5)
    if cell.kind in ("lava", "cliff"):
        return blend(colours.bad, colours.cell_hole, 0.55 if cell.kind == "lava" else 0.28)
    colour = blend(colours.cell_heat, colours.cell, max(0.0, min(1.0, heat)))
    if cell.kind == "stand":
        return blend(role_colour(cell.colour, colours).name(), colour.name(), 0.28)
    if cell.colour in ("plain", "faint") or cell.kind != "floor":
        return colour
    return blend(role_colour(cell.colour, colours).name(), colour.name(), 0.35)


def _paint_hazard(painter: QPainter, rect: QRectF, cell: GridCell, colours: Colours) -> None:
    """Lava has waves and a cliff has slopes, so that colour is not the only difference."""
    painter.setPen(QPen(blend(colours.bad, colours.cell, 0.6), max(1.2, rect.width() * 0.05)))
    for fraction in (0.32, 0.52, 0.72):
        left, y = rect.left() + rect.width() * 0.2, rect.top() + rect.height() * fraction
        width, lift = rect.width() * 0.6, rect.height() * 0.07
        if cell.kind == "cliff":
            lift = rect.height() * 0.12
            painter.drawLine(QPointF(left, y + lift), QPointF(left + width, y - lift))
            continue
        points = [QPointF(left + width * i / 6, y + lift * (-1) ** i) for i in range(7)]
        painter.drawPolyline(points)


def _has_action(cell: Cell, overlay: GridOverlay) -> bool:
    return cell in overlay.arrows or cell in overlay.labels


def _paint_action(
    painter: QPainter, rect: QRectF, cell: Cell, colours: Colours, overlay: GridOverlay
) -> None:
    ink = QColor(colours.on_cell)
    ink.setAlphaF(0.62)
    if cell in overlay.arrows:
        draw_arrow(painter, inner_square(rect, 0.32), overlay.arrows[cell], ink)
    elif cell in overlay.labels and rect.width() < _MIN_WORD_SIDE:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(inner_square(rect, 0.16))
    elif cell in overlay.labels:
        _draw_text(painter, rect, overlay.labels[cell], ink, 0.15)


def _paint_walls(
    painter: QPainter, scene: GridScene, geometry: GridGeometry, colours: Colours
) -> None:
    thick = max(3.0, geometry.pitch * 0.06)
    # With an outline, so that walls stand out from cells and gaps.
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
    corner = inner_square(cell, 0.3)
    edge = cell.width() * 0.08
    ink = QColor(colours.on_cell)
    if marker.kind == "passenger":
        corner.moveTopLeft(cell.topLeft() + QPointF(edge, edge))
        draw_person(painter, corner, ink)
    else:
        corner.moveTopRight(cell.topRight() + QPointF(-edge, edge))
        draw_flag(painter, corner, ink)


def _draw_text(
    painter: QPainter,
    rect: QRectF,
    text: str,
    colour: QColor,
    scale: float,
    alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignCenter,
) -> None:
    if rect.width() < _MIN_LETTER_SIDE:
        return
    font = painter.font()
    font.setPixelSize(max(6, round(rect.width() * scale)))
    font.setBold(True)
    painter.save()
    painter.setFont(font)
    painter.setPen(colour)
    edge = rect.width() * 0.035
    inner = rect.adjusted(edge, edge, -edge, -edge)
    painter.drawText(inner, int(alignment) | int(Qt.TextFlag.TextWordWrap), text)
    painter.restore()


def _contrast_colour(colours: Colours) -> QColor:
    """A colour that contrasts with saturated colours: white in both themes."""
    return QColor(colours.text if colours.is_dark else colours.surface)
