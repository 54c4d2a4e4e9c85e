"""FramePage: the picture of the environment with its switches, and how many come a second."""

from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.frame_canvas import FrameCanvas, Scaling
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.segmented import SegmentedControl
from gym_gui.widgets.steady_label import SteadyLabel


class FramePage(QWidget):
    """The content of the Frame tab."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.canvas = FrameCanvas(model)
        self._scaling = SegmentedControl((("smooth", "Smooth"), ("pixels", "Whole pixels")), theme)
        self._scaling.setAccessibleName("Scaling")
        self._scaling.set_tip("pixels", "Whole multiples of its size: each pixel is a square")
        self._scaling.chosen.connect(lambda way: self.canvas.set_scaling(cast("Scaling", way)))
        self._fit = QPushButton("Fit")
        self._fit.setProperty("role", "quiet")
        self._fit.setToolTip("The whole picture. The wheel zooms, dragging moves.")
        keep_icon(self._fit, "fullscreen", theme, "muted")
        self._fit.clicked.connect(self.canvas.reset_zoom)
        self._facts = SteadyLabel("0000 \N{MULTIPLICATION SIGN} 0000   00 frames/s", "muted")
        self._facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._waiting = EmptyState("frame", "No picture yet", "", theme)
        line = self.fontMetrics().height()
        row = QHBoxLayout()
        row.setSpacing(line // 2)
        row.addWidget(self._scaling)
        row.addWidget(self._fit)
        row.addStretch(1)
        row.addWidget(self._facts, 0, Qt.AlignmentFlag.AlignVCenter)
        place = QWidget()
        self._stack = QStackedLayout(place)
        self._stack.addWidget(self._waiting)
        self._stack.addWidget(self.canvas)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(row)
        layout.addWidget(place, 1)
        model.changed.connect(self._show_facts)
        model.frame_changed.connect(self._show_facts)
        self._show_facts()

    def choose_scaling(self, way: Scaling) -> None:
        """As the settings have it; a choice made here counts until then."""
        self._scaling.choose(way)
        self.canvas.set_scaling(way)

    def _show_facts(self) -> None:
        frame, model = self._model.frame, self._model
        if frame is None:
            why = model.no_frames_reason or "It comes with the first step that is drawn."
            self._waiting.say("No picture yet" if model.has_frames else "No pictures", why)
            self._stack.setCurrentWidget(self._waiting)
            self._facts.setText("")
            return
        self._stack.setCurrentWidget(self.canvas)
        rate = f"{model.fps:.0f} frames/s" if model.fps else "standing still"
        self._facts.setText(f"{frame.width} \N{MULTIPLICATION SIGN} {frame.height}   {rate}")
