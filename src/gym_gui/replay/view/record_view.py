"""RecordView: what was recorded at the playhead, where no picture of it can be drawn."""

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.actor_text import HUMAN
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.raw_text import readable
from gym_gui.widgets.scene.grid_geometry import GridGeometry
from gym_gui.widgets.scene.grid_ground import GridGround
from gym_gui.widgets.scene.grid_painter import GridOverlay, paint_things
from gym_gui.widgets.scene.text_scene_painter import paint_text_scene
from mosaic.contract.events import EpisodeStart, StepRecord
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


class RecordView(QWidget):
    """The scene where the record has one; the observation as text otherwise. Says why."""

    def __init__(
        self,
        model: ReplayModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        is_narrow: bool = False,
    ) -> None:
        """`is_narrow`: why there is no picture is said in one line instead of a banner."""
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._why = Banner(theme)
        self._why_short = ElidedLabel("muted")
        self._is_narrow = is_narrow
        self._told = ""
        self._scene = SceneView(theme)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setAccessibleName("Recorded observation")
        self._text.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self._caption = QLabel()
        self._caption.setProperty("role", "muted")
        layout = QVBoxLayout(self)
        margin = 0 if is_narrow else line
        layout.setContentsMargins(margin, margin, margin, margin)
        layout.setSpacing(line // 2)
        layout.addWidget(self._why_short if is_narrow else self._why)
        layout.addWidget(self._scene, 1)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._caption)

    def show_record(self, why: str) -> None:
        """What is known at the playhead of the model."""
        if why != self._told:
            self._told = why
            if self._is_narrow:
                self._why_short.say(f"No pictures: {why}")
            else:
                words = f"No pictures: {why} What was recorded is shown instead."
                self._why.say(words, "warning", ())
        scene = self._model.scene
        self._scene.setVisible(scene is not None)
        self._text.setVisible(scene is None)
        seen = self._model.step if self._model.playhead else self._model.start
        if scene is not None:
            person_acts = isinstance(seen, StepRecord) and seen.actor == HUMAN
            self._scene.show_scene(scene, person_acts=person_acts)
        else:
            self._text.setPlainText(_words(seen))
        is_lost = self._model.playhead == 0 and self._model.opening is not None
        words = "How it began was not recorded" if is_lost else "Reading the record"
        self._caption.setText("" if seen else words)
        self._caption.setVisible(seen is None)


def _words(seen: StepRecord | EpisodeStart | None) -> str:
    if seen is None:
        return ""
    if seen.obs is None and seen.info is None:
        return "Neither an observation nor an info was recorded with this step."
    return readable({"observation": seen.obs, "info": seen.info})
