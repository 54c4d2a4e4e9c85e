"""SceneView: a grid or text scene of one recorded step, painted as the Grid tab paints them."""

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.scene.grid_geometry import GridGeometry
from gym_gui.widgets.scene.grid_ground import GridGround
from gym_gui.widgets.scene.grid_painter import GridOverlay, paint_things
from gym_gui.widgets.scene.text_scene_painter import paint_text_scene
from mosaic.envs.scenes.scene import GridScene, Scene


class SceneView(QWidget):
    """Shows nothing until it is given a scene."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scene: Scene | None = None
        self._person_acts = True
        self._ground = GridGround()
        self.setAccessibleName("Recorded scene")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_scene(self, scene: Scene, *, person_acts: bool = False) -> None:
        self._scene, self._person_acts = scene, person_acts
        self.setAccessibleDescription(scene.caption)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours, room = self._theme.colours, QSizeF(self.size())
        line = self.fontMetrics().height()
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.canvas))
        if isinstance(self._scene, GridScene):
            geometry = GridGeometry.fitting(self._scene.rows, self._scene.columns, room, line)
            overlay = GridOverlay(person_acts=self._person_acts)
            ground = self._ground.picture(self, self._scene, geometry, colours, overlay)
            painter.drawPixmap(0, 0, ground)
            paint_things(painter, self._scene, geometry, colours, overlay)
        elif self._scene is not None:
            paint_text_scene(painter, self._scene, room, colours, line)
        painter.end()
