"""RecordView: the recorded data at the playhead, for episodes without frames."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.run_text import HUMAN
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.raw_text import format_readable
from gym_gui.widgets.scene.grid_renderer import (
    GridOverlay,
)
from gym_gui.widgets.scene.scene_renderer import SceneRenderer
from mosaic.contract.events import EpisodeStart, StepRecord
from mosaic.envs.scenes.scene import Scene


class SceneView(QWidget):
    """Shows nothing until it is given a scene."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._scene: Scene | None = None
        self._person_acts = True
        self._renderer = SceneRenderer(self)
        self.setAccessibleName("Recorded scene")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_scene(self, scene: Scene, *, person_acts: bool = False) -> None:
        self._scene, self._person_acts = scene, person_acts
        self.setAccessibleDescription(scene.caption)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.canvas))
        if self._scene is not None:
            overlay = GridOverlay(is_human=self._person_acts)
            self._renderer.paint(painter, self._scene, colours, overlay)
        painter.end()


class RecordView(QWidget):
    """Shows the scene of `ReplayModel`, or the observation as text, and the reason."""

    def __init__(
        self,
        model: ReplayModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        is_narrow: bool = False,
    ) -> None:
        """`is_narrow`: show the reason in one line instead of a banner."""
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._banner = Banner(theme)
        self._short_reason = ElidedLabel("muted")
        self._is_narrow = is_narrow
        self._reason = ""
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
        layout.addWidget(self._short_reason if is_narrow else self._banner)
        layout.addWidget(self._scene, 1)
        layout.addWidget(self._text, 1)
        layout.addWidget(self._caption)

    def show_record(self, reason: str) -> None:
        """Show the record at the playhead. `reason`: why there are no frames."""
        if reason != self._reason:
            self._reason = reason
            if self._is_narrow:
                self._short_reason.show_text(f"No frames: {reason}")
            else:
                text = f"No frames: {reason} Recorded data is shown instead."
                self._banner.show_message(text, "warning", ())
        scene = self._model.scene
        self._scene.setVisible(scene is not None)
        self._text.setVisible(scene is None)
        seen = self._model.step if self._model.playhead else self._model.start
        if scene is not None:
            person_acts = isinstance(seen, StepRecord) and seen.actor == HUMAN
            self._scene.show_scene(scene, person_acts=person_acts)
        else:
            self._text.setPlainText(_record_text(seen))
        is_lost = self._model.playhead == 0 and self._model.opening is not None
        text = "The start of the episode was not recorded" if is_lost else "Reading the record"
        self._caption.setText("" if seen else text)
        self._caption.setVisible(seen is None)


def _record_text(seen: StepRecord | EpisodeStart | None) -> str:
    if seen is None:
        return ""
    if seen.obs is None and seen.info is None:
        return "No observation or info was recorded for this step."
    return format_readable({"observation": seen.obs, "info": seen.info})
