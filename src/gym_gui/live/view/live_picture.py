"""LivePicture: what the environment of a running run looks like: its picture, or its scene.

Over a grid lies what the agent has learnt so far, if it tells: a heat map of values, and arrows.
"""

from PySide6.QtCore import QRectF, QSize, QSizeF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.live.model.live_model import LiveModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.frame_image import as_image
from gym_gui.widgets.scene.grid_geometry import GridGeometry
from gym_gui.widgets.scene.grid_ground import GridGround
from gym_gui.widgets.scene.grid_painter import GridOverlay, paint_things
from gym_gui.widgets.scene.text_scene_painter import paint_text_scene
from mosaic.envs.scenes.scene import GridScene, TextScene

_SMALL = 2.0
"""Pictures that are enlarged more than this keep their pixels."""


class LivePicture(QWidget):
    """Repaints when there is something new, and only then."""

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._ground = GridGround()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("What the environment looks like now")
        model.frame_changed.connect(self.update)
        theme.changed.connect(self.update)

    @property
    def has_something(self) -> bool:
        return self._model.frame is not None or self._model.scene is not None

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 24, self.fontMetrics().height() * 16)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.fontMetrics().height() * 6)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        scene, room = self._model.scene, QSizeF(self.size())
        painter = QPainter(self)
        line = float(self.fontMetrics().height())
        if isinstance(scene, GridScene):
            geometry = GridGeometry.fitting(scene.rows, scene.columns, room, line * 0.75)
            colours = self._theme.colours
            policy = self._model.policy
            overlay = GridOverlay(
                heat=policy.heat, arrows=policy.arrows, others=policy.others, person_acts=False
            )
            ground = self._ground.picture(self, scene, geometry, colours, overlay)
            painter.drawPixmap(0, 0, ground)
            paint_things(painter, scene, geometry, colours, overlay)
        elif isinstance(scene, TextScene):
            paint_text_scene(painter, scene, room, self._theme.colours, line)
        elif self._model.frame is not None:
            self._paint_frame(painter)
        painter.end()

    def _paint_frame(self, painter: QPainter) -> None:
        frame = self._model.frame
        if frame is None:
            return
        image = as_image(frame)
        scale = min(self.width() / frame.width, self.height() / frame.height)
        place = QRectF(0, 0, frame.width * scale, frame.height * scale)
        place.moveCenter(QRectF(self.rect()).center())
        is_smooth = scale < _SMALL
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
        painter.drawImage(place, image)
