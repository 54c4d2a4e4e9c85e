"""GridGround: the part of a grid that seldom changes, kept as a picture.

Each step moves little else but the agent; painting hundreds of cells for that would be felt.
"""

from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.scene.grid_geometry import GridGeometry
from gym_gui.widgets.scene.grid_painter import GridOverlay, paint_ground
from mosaic.envs.scenes.scene import GridScene


class GridGround:
    """Of one widget; as large as that."""

    def __init__(self) -> None:
        self._picture = QPixmap()
        self._look: tuple[object, ...] = ()

    def picture(
        self,
        widget: QWidget,
        scene: GridScene,
        geometry: GridGeometry,
        colours: Colours,
        overlay: GridOverlay,
    ) -> QPixmap:
        """Painted anew only when it looks different."""
        size, ratio = widget.size(), widget.devicePixelRatioF()
        look = (scene.cells, scene.walls, geometry, size, ratio, colours, overlay)
        if look != self._look:
            self._look = look
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(QColor(colours.canvas))
            painter = QPainter(self._picture)
            painter.setFont(widget.font())
            paint_ground(painter, scene, geometry, colours, overlay)
            painter.end()
        return self._picture
