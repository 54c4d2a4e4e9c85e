"""SceneRenderer: paints a grid scene, or a text scene as titled rows of cards."""

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.scene.grid_renderer import (
    GridBackground,
    GridGeometry,
    GridOverlay,
    paint_foreground,
)
from mosaic.envs.scenes.scene import GridScene, Scene, TextLine, TextScene

_HIDDEN = "?"
_MAX_LINE_FRACTION = 0.3
_CARD_RATIO = 0.7
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_MARGIN_EMS = 0.75


class SceneRenderer:
    """Paints the scenes of one widget; caches the background of a grid."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._background = GridBackground()

    def geometry(self, scene: GridScene) -> GridGeometry:
        margin = self._widget.fontMetrics().height() * _MARGIN_EMS
        return GridGeometry.fit(scene.rows, scene.columns, QSizeF(self._widget.size()), margin)

    def paint(
        self, painter: QPainter, scene: Scene, colours: Colours, overlay: GridOverlay
    ) -> None:
        """`overlay` is used for a grid only."""
        if isinstance(scene, GridScene):
            geometry = self.geometry(scene)
            background = self._background.pixmap(self._widget, scene, geometry, colours, overlay)
            painter.drawPixmap(0, 0, background)
            paint_foreground(painter, scene, geometry, colours, overlay)
        else:
            line = float(self._widget.fontMetrics().height())
            _paint_text_scene(painter, scene, QSizeF(self._widget.size()), colours, line)


def _paint_text_scene(
    painter: QPainter, scene: TextScene, size: QSizeF, colours: Colours, text_height: float
) -> None:
    """Centred in `size`; the longest row determines the size of the cards."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    card_count = max([3, *(len(line.values) for line in scene.lines)])
    title_height = text_height * 1.6
    height = min(
        size.height() * _MAX_LINE_FRACTION,
        (size.height() - text_height * 4) / max(1, len(scene.lines)) - title_height,
        size.width() * 0.8 / card_count / (_CARD_RATIO * 1.14),
        text_height * 9,
    )
    height = max(text_height * 2, height)
    block = height + title_height + text_height
    width = card_count * height * _CARD_RATIO * 1.14
    left = (size.width() - width) / 2
    top = (size.height() - block * len(scene.lines)) / 2
    for line in scene.lines:
        _paint_title(painter, QRectF(left, top, size.width() - left, title_height), line, colours)
        for index, value in enumerate(line.values):
            card = QRectF(0, 0, height * _CARD_RATIO, height)
            card.moveTopLeft(
                QRectF(left + index * card.width() * 1.14, top + title_height, 1, 1).topLeft()
            )
            _paint_card(painter, card, value, colours)
        top += block


def _paint_title(painter: QPainter, rect: QRectF, line: TextLine, colours: Colours) -> None:
    font = painter.font()
    painter.save()
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(colours.text))
    painter.drawText(rect, _LEFT, line.title)
    used = painter.fontMetrics().horizontalAdvance(line.title + "  ")
    font.setBold(False)
    painter.setFont(font)
    painter.setPen(QColor(colours.muted))
    painter.drawText(rect.adjusted(used, 0, 0, 0), _LEFT, line.note)
    painter.restore()


def _paint_card(painter: QPainter, card: QRectF, value: str, colours: Colours) -> None:
    is_hidden = value == _HIDDEN
    painter.save()
    painter.setPen(QPen(QColor(colours.line), 1.0))
    painter.setBrush(QColor(colours.cell_wall if is_hidden else colours.cell))
    radius = card.height() * 0.08
    painter.drawRoundedRect(card, radius, radius)
    font = painter.font()
    font.setPixelSize(max(8, round(card.height() * 0.34)))
    font.setBold(True)
    painter.setFont(font)
    painter.setPen(QColor(colours.cell if is_hidden else colours.on_cell))
    painter.drawText(card, Qt.AlignmentFlag.AlignCenter, value)
    painter.restore()
