"""LiveTab: the frame or scene of a run with its newest steps and episodes.

For a run that reports metrics only it shows the available actions instead.
"""

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.live.model.live_model import LiveModel
from gym_gui.live.view.live_header import LiveHeader
from gym_gui.live.view.table_views import EpisodesView, StepsView
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.frame_canvas import frame_to_image
from gym_gui.widgets.scene.grid_renderer import (
    GridOverlay,
)
from gym_gui.widgets.scene.scene_renderer import SceneRenderer

Actions = list[tuple[str, Callable[[], None]]]
_MAX_SMOOTH_SCALE = 2.0
"""Frames that are enlarged more than this keep sharp pixels."""


class LiveTab(QWidget):
    """Shows a `LiveModel`."""

    episode_activated = Signal(str, int)
    """Run id and number of an episode to replay."""

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._banner_key: object = None
        self.banner = Banner(theme)
        self._canvas = LiveCanvas(model, theme)
        self._placeholder = EmptyState("frame", "Waiting for the first step", "", theme)
        self._view = QStackedWidget()
        self._view.addWidget(self._canvas)
        self._view.addWidget(self._placeholder)
        self.steps = StepsView(model.steps, theme)
        self.episodes = EpisodesView(model.episodes, theme)
        self._empty = EmptyState("live", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._make_body(model, theme))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._subscribe()
        self._update()

    def _make_body(self, model: LiveModel, theme: ThemeModel) -> QWidget:
        line = self.fontMetrics().height()
        self._tables = QSplitter(Qt.Orientation.Horizontal)
        self._tables.addWidget(self.steps)
        self._tables.addWidget(self.episodes)
        self._tables.setChildrenCollapsible(False)
        self._sections = QSplitter(Qt.Orientation.Vertical)
        self._sections.addWidget(self._view)
        self._sections.addWidget(self._tables)
        self._sections.setStretchFactor(0, 3)
        self._sections.setStretchFactor(1, 2)
        self._sections.setChildrenCollapsible(False)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._header = LiveHeader(model, theme)
        layout.addWidget(self._header)
        self._message = QWidget()
        message = QVBoxLayout(self._message)
        message.setContentsMargins(line, 0, line, line // 2)
        message.setSpacing(line // 2)
        message.addWidget(self.banner)
        buttons = QWidget()
        self._buttons = FlowLayout(buttons, gap=line // 2)
        message.addWidget(buttons)
        layout.addWidget(self._message)
        layout.addWidget(self._sections, 1)
        return body

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        model.frame_changed.connect(self._update_canvas)
        self.episodes.episode_activated.connect(self.episode_activated)
        self.episodes.episode_selected.connect(lambda _, episode: model.pin_episode(episode))
        self.steps.bar.follow.toggled.connect(self._on_follow_toggled)

    def _on_follow_toggled(self, follows: bool) -> None:
        """Following new steps also follows the newest episode."""
        if follows and self._model.pinned_episode is not None:
            self.episodes.grid.clearSelection()
            self._model.pin_episode(None)

    def _update(self) -> None:
        model = self._model
        if not model.run_id:
            self._empty.show_message(
                "No run is selected", "Select a run in the list below to watch it."
            )
        elif model.run is None:
            self._empty.show_message(
                "Loading the run", "It appears here as soon as the daemon answers."
            )
        self._stack.setCurrentIndex(0 if model.run is None else 1)
        if model.run is not None:
            self._update_banner()
            self._update_canvas()

    def _update_banner(self) -> None:
        model, run = self._model, self._model.run
        if run is None:
            return
        key = (
            *(model.run_id, model.is_metrics_only, run.state.is_final, model.has_episodes),
            *(model.has_tensorboard, model.has_wandb, model.can_restart, model.can_replay),
        )
        if key == self._banner_key:  # new buttons would lose the focus
            return
        self._banner_key = key
        if model.is_metrics_only:
            restart: Actions = [("Restart with live telemetry", model.restart)]
            actions = restart if model.can_restart else []
            self.banner.show_message(model.metrics_only_text, "plain", actions)
        elif run.state.is_final:
            replay: Actions = [("Replay", model.replay)] if model.can_replay else []
            style = run_text.STATE_STYLES[run.state]
            tone: Tone = "bad" if style.tone == "bad" else "plain"
            message = f"This run is finished: {run_text.end_text(run)}"
            self.banner.show_message(message, tone, [*replay, ("Show log", model.show_log)])
        else:
            self.banner.clear()
        self._update_buttons()
        self._message.setVisible(self.banner.message != "")
        self._tables.setVisible(not model.is_metrics_only or model.has_episodes)
        self.steps.setVisible(not model.is_metrics_only)

    def _update_buttons(self) -> None:
        """Show the actions of a run that reports metrics only."""
        model = self._model
        self._buttons.clear()
        if not model.is_metrics_only:
            return
        actions: Actions = []
        if model.has_tensorboard:
            actions.append(("TensorBoard", model.open_tensorboard))
        if model.has_wandb:
            actions.append(("Open W&&B", model.open_wandb))
        actions.append(("Show log", model.show_log))
        for text, action in actions:
            button = QPushButton(text)
            button.clicked.connect(lambda _=False, action=action: action())
            self._buttons.addWidget(button)
        if model.can_restart:
            self._buttons.addWidget(self._make_telemetry_box())

    def _make_telemetry_box(self) -> QCheckBox:
        box = QCheckBox("Minimal telemetry for the next run of this worker")
        box.setToolTip(
            "Records every tenth episode step by step, a summary of the others, and frames."
            " Has little effect on training speed."
        )
        box.setChecked(self._model.uses_minimal_telemetry)
        box.toggled.connect(self._model.set_minimal_telemetry)
        return box

    def _update_canvas(self) -> None:
        model = self._model
        if self._canvas.has_content:
            self._view.setCurrentWidget(self._canvas)
        else:
            self._placeholder.show_message(*model.placeholder_text)
            self._view.setCurrentWidget(self._placeholder)
        # Without frames the tables use the full height.
        has_no_frames = model.step is not None and not self._canvas.has_content
        is_hidden = has_no_frames or (model.is_metrics_only and model.has_episodes)
        self._view.setVisible(not is_hidden)
        self._header.set_note("This run sends no frames" if has_no_frames else "")


class LiveCanvas(QWidget):
    """Paints the frame or the scene of a `LiveModel`, with the policy of the agent over a grid."""

    def __init__(self, model: LiveModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._renderer = SceneRenderer(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Newest frame of the environment")
        model.frame_changed.connect(self.update)
        theme.changed.connect(self.update)

    @property
    def has_content(self) -> bool:
        return self._model.frame is not None or self._model.scene is not None

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 24, self.fontMetrics().height() * 16)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.fontMetrics().height() * 6)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        scene, policy = self._model.scene, self._model.policy
        painter = QPainter(self)
        if scene is not None:
            overlay = GridOverlay(
                heat=policy.heat, arrows=policy.arrows, labels=policy.labels, is_human=False
            )
            self._renderer.paint(painter, scene, self._theme.colours, overlay)
        elif self._model.frame is not None:
            self._paint_frame(painter)
        painter.end()

    def _paint_frame(self, painter: QPainter) -> None:
        frame = self._model.frame
        if frame is None:
            return
        image = frame_to_image(frame)
        scale = min(self.width() / frame.width, self.height() / frame.height)
        rect = QRectF(0, 0, frame.width * scale, frame.height * scale)
        rect.moveCenter(QRectF(self.rect()).center())
        is_smooth = scale < _MAX_SMOOTH_SCALE
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
        painter.drawImage(rect, image)
