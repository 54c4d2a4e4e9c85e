"""GridPage: the grid with its switches: heat map, arrows of the policy, and the legend."""

from typing import cast

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.grid_canvas import GridCanvas, Heat
from gym_gui.play.view.grid_legend import GridLegend
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.segmented import SegmentedControl
from gym_gui.widgets.set_disabled_reason import set_disabled_reason
from mosaic.envs.scenes.scene import GridScene

_NO_VALUES = "The actor offers no values. One that learns a table of them does."
_ARROWS = "Where the policy goes from each cell"
_NO_ARROWS = "The actor offers no policy to draw. One that learns a table does."


class GridPage(QWidget):
    """The content of the Grid tab."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.canvas = GridCanvas(model, theme)
        heat = (("off", "No heat map"), ("visits", "Visits"), ("values", "Values"))
        self._heat = SegmentedControl(heat, theme)
        self._heat.setAccessibleName("Heat map")
        self._heat.chosen.connect(self._choose_heat)
        self._arrows = QPushButton("Arrows")
        self._arrows.setCheckable(True)
        self._arrows.setChecked(True)
        self._arrows.setAccessibleName("Arrows of the policy")
        self._arrows.toggled.connect(self.canvas.set_arrows)
        self._clear = QPushButton("Clear visits")
        self._clear.setToolTip("Count the visits of each cell from here on")
        keep_icon(self._clear, "reset", theme, "muted")
        self._clear.clicked.connect(model.clear_visits)
        self._caption = QLabel()
        self._caption.setWordWrap(True)
        self._legend = GridLegend(model, theme)
        self._switches = QWidget()
        line = self.fontMetrics().height()
        row = QHBoxLayout(self._switches)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(line // 2)
        for button in (self._arrows, self._clear):
            button.setProperty("role", "quiet")
        for widget in (self._heat, self._arrows, self._clear):
            row.addWidget(widget)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 3)
        layout.addWidget(self._switches)
        layout.addWidget(self._caption)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self._legend)
        model.scene_changed.connect(self._show_scene)
        self._show_scene()

    def _choose_heat(self, heat: str) -> None:
        self.canvas.set_heat(cast("Heat", heat))
        self._show_scene()

    def _show_scene(self) -> None:
        scene, policy = self._model.scene, self._model.policy
        is_grid = isinstance(scene, GridScene)
        self._switches.setVisible(is_grid or scene is None)
        self._heat.set_enabled_option("values", bool(policy.values), _NO_VALUES)
        has_arrows = bool(policy.arrows or policy.others)
        self._arrows.setEnabled(has_arrows)
        self._arrows.setToolTip(_ARROWS if has_arrows else _NO_ARROWS)
        self._clear.setVisible(self._heat.current == "visits")
        set_disabled_reason(
            self._clear, "" if self._model.visits.most else "No cell was visited yet."
        )
        caption = scene.caption if scene else ""
        self._caption.setText(caption[:1].upper() + caption[1:])
        self._caption.setVisible(bool(caption))
