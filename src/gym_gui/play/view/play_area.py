"""PlayArea: the Grid, Frame and Raw views of the session, one page per tab."""

from typing import cast

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.frame_canvas import Scaling, ZoomableFrameCanvas
from gym_gui.play.view.grid_canvas import GridCanvas, Heat
from gym_gui.play.view.grid_legend import GridLegend
from gym_gui.play.view.play_surface import PlaySurface
from gym_gui.play.view.raw_page import RawPage
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.labels import SteadyLabel
from gym_gui.widgets.styling import set_disabled_reason
from mosaic.envs.scenes.scene import GridScene


class FramePage(QWidget):
    """The content of the Frame tab."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.canvas = ZoomableFrameCanvas(model)
        self._scaling = SegmentedControl((("smooth", "Smooth"), ("pixels", "Integer scale")), theme)
        self._scaling.setAccessibleName("Scaling")
        self._scaling.set_option_tool_tip(
            "pixels", "Scale by integer factors, so that pixels stay sharp"
        )
        self._scaling.activated.connect(
            lambda scaling: self.canvas.set_scaling(cast("Scaling", scaling))
        )
        self._fit = QPushButton("Fit")
        self._fit.setProperty("role", "quiet")
        self._fit.setToolTip("Fit the frame into the view. Wheel: zoom. Drag: pan.")
        set_icon(self._fit, "fullscreen", theme, "muted")
        self._fit.clicked.connect(self.canvas.reset_zoom)
        self._stats = SteadyLabel("0000 \N{MULTIPLICATION SIGN} 0000   00 frames/s", "muted")
        self._stats.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._waiting = EmptyState("frame", "No frame yet", "", theme)
        line = self.fontMetrics().height()
        row = QHBoxLayout()
        row.setSpacing(line // 2)
        row.addWidget(self._scaling)
        row.addWidget(self._fit)
        row.addStretch(1)
        row.addWidget(self._stats, 0, Qt.AlignmentFlag.AlignVCenter)
        container = QWidget()
        self._stack = QStackedLayout(container)
        self._stack.addWidget(self._waiting)
        self._stack.addWidget(self.canvas)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(row)
        layout.addWidget(container, 1)
        model.changed.connect(self._show_stats)
        model.frame_changed.connect(self._show_stats)
        self._show_stats()

    def choose_scaling(self, scaling: Scaling) -> None:
        """Set the scaling that the settings page selects."""
        self._scaling.set_current(scaling)
        self.canvas.set_scaling(scaling)

    def _show_stats(self) -> None:
        frame, model = self._model.frame, self._model
        if frame is None:
            reason = model.no_frames_reason or "It appears with the first rendered step."
            self._waiting.show_message("No frame yet" if model.has_frames else "No frames", reason)
            self._stack.setCurrentWidget(self._waiting)
            self._stats.setText("")
            return
        self._stack.setCurrentWidget(self.canvas)
        rate = f"{model.fps:.0f} frames/s" if model.fps else "idle"
        self._stats.setText(f"{frame.width} \N{MULTIPLICATION SIGN} {frame.height}   {rate}")


_NO_VALUES = "The actor reports no values. Tabular agents do."
_ARROWS = "Action of the policy in each cell"
_NO_ARROWS = "The actor reports no policy. Tabular agents do."


class GridPage(QWidget):
    """The content of the Grid tab."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.canvas = GridCanvas(model, theme)
        heat = (("off", "No heat map"), ("visits", "Visits"), ("values", "Values"))
        self._heat = SegmentedControl(heat, theme)
        self._heat.setAccessibleName("Heat map")
        self._heat.activated.connect(self._choose_heat)
        self._arrows = QPushButton("Arrows")
        self._arrows.setCheckable(True)
        self._arrows.setChecked(True)
        self._arrows.setAccessibleName("Policy arrows")
        self._arrows.toggled.connect(self.canvas.set_arrows)
        self._clear = QPushButton("Clear visits")
        self._clear.setToolTip("Reset the visit counts")
        set_icon(self._clear, "reset", theme, "muted")
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
        self._heat.set_option_enabled("values", bool(policy.values), _NO_VALUES)
        has_arrows = bool(policy.arrows or policy.labels)
        self._arrows.setEnabled(has_arrows)
        self._arrows.setToolTip(_ARROWS if has_arrows else _NO_ARROWS)
        self._clear.setVisible(self._heat.current == "visits")
        set_disabled_reason(
            self._clear, "" if self._model.visits.max_count else "No cell was visited yet."
        )
        caption = scene.caption if scene else ""
        self._caption.setText(caption[:1].upper() + caption[1:])
        self._caption.setVisible(bool(caption))


class PlayArea(QObject):
    """Owns the pages; the window places them."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid = GridPage(model, theme)
        self.frame = FramePage(model, theme)
        self.raw = RawPage(model, theme)
        self.grid_page = PlaySurface(model, self.grid, "grid", "Grid view", theme)
        self.frame_page = PlaySurface(model, self.frame, "frame", "Frame view", theme)
        self.raw_page = PlaySurface(model, self.raw, "raw", "Raw view", theme)

    @property
    def pages(self) -> tuple[PlaySurface, ...]:
        return (self.grid_page, self.frame_page, self.raw_page)

    @property
    def visible_page(self) -> PlaySurface | None:
        """The visible play view; None while another tab is selected."""
        return next((page for page in self.pages if page.isVisible()), None)
