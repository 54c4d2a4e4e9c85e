"""ReplayPage: the Replay tab: episodes at the left, frame and timeline at the right."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.replay.view.episodes_panel import EpisodesPanel
from gym_gui.replay.view.record_view import RecordView
from gym_gui.replay.view.reward_timeline import RewardTimeline
from gym_gui.runtime.models.run_text import HUMAN, actors_label
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.frame_canvas import FrameCanvas
from gym_gui.widgets.transport_bar import TransportBar, handle_key

_NO_RUN = (
    "Nothing to replay yet",
    "Select a run, or play an episode; every step is recorded.",
)


class ReplayPage(QWidget):
    """Shows `ReplayModel`. Its keys work while a child has the focus."""

    run_requested = Signal()
    """Request to select a run."""
    video_requested = Signal(str, str)
    """Run id and path of a video to play."""

    def __init__(
        self, model: ReplayModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._empty = EmptyState("replay", *_NO_RUN, theme, action="Select a run")
        self._view = _ReplayView(model, theme)
        self._panel = EpisodesPanel(model, theme)
        self._body = QSplitter(Qt.Orientation.Horizontal)
        self._body.setChildrenCollapsible(False)
        # The replay view is first in the Tab order, because it gets the focus.
        self._body.addWidget(self._view)
        self._body.insertWidget(0, self._scrolling(self._panel))
        self._body.setStretchFactor(1, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._body)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self.setFocusProxy(self._view.canvas)
        self._empty.action_triggered.connect(self._on_empty_acted)
        self._panel.video_requested.connect(self.video_requested)
        model.changed.connect(self._show_state)
        model.episode_changed.connect(self._show_state)
        self._show_state()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.pause()
        super().hideEvent(event)

    def _scrolling(self, panel: QWidget) -> QWidget:
        """Scroll the panel in a low window."""
        line = self.fontMetrics().height()
        area = QScrollArea()
        area.setWidget(panel)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setMinimumWidth(line * 14)
        area.setMaximumWidth(line * 24)
        return area

    def _on_empty_acted(self) -> None:
        if self._model.phase == "failed":
            self._model.retry()
        else:
            self.run_requested.emit()

    def _show_state(self) -> None:
        problem = self._model.problem
        if self._model.phase == "failed" and problem is not None:
            self._empty.show_message(problem.message, problem.remedy, "Try again")
        elif self._model.phase == "empty":
            self._empty.show_message(*_NO_RUN, "Select a run")
        is_open = self._model.phase in ("loading", "ready")
        self._pages.setCurrentWidget(self._body if is_open else self._empty)


class _ReplayView(QWidget):
    """Frame, timeline and transport buttons; handles the keys of the tab."""

    def __init__(self, model: ReplayModel, theme: ThemeModel) -> None:
        super().__init__()
        self._model = model
        line = self.fontMetrics().height()
        self.canvas = FrameCanvas(theme, "Frame of the episode")
        self._record = RecordView(model, theme)
        self._frames = QStackedWidget()
        self._frames.addWidget(self.canvas)
        self._frames.addWidget(self._record)
        self._timeline = RewardTimeline(model, theme)
        self._transport = TransportBar(model, "step", theme)
        below = QVBoxLayout()
        below.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        below.setSpacing(line // 2)
        below.addWidget(self._timeline)
        below.addWidget(self._transport)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._frames, 1)
        layout.addLayout(below)
        model.changed.connect(self._show_state)
        model.episode_changed.connect(self._show_state)
        model.playhead_changed.connect(self._show_state)
        model.playhead_changed.connect(self._show_frame)
        model.episode_changed.connect(self._show_frame)
        model.step_changed.connect(self._show_record)
        self._show_frame()
        self._show_state()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if not handle_key(event, self._model):
            super().keyPressEvent(event)

    def _show_frame(self) -> None:
        frame = self._model.frame
        if frame is None:
            self.canvas.clear()
        elif frame.has_pixels:
            self.canvas.show_frame(frame.pixels, frame.width, frame.height, channels=frame.channels)

    def _show_record(self) -> None:
        reason = self._model.frame_problem
        if reason:
            self._record.show_record(reason)
        self._frames.setCurrentWidget(self._record if reason else self.canvas)

    def _show_state(self) -> None:
        model = self._model
        self.canvas.set_message(self._note())
        self._transport.show_state(
            f"{model.playhead:,} / {model.steps:,} steps" if model.opening else "",
            self._hint(),
            is_enabled=model.steps > 0,
        )
        if bool(model.frame_problem) != (self._frames.currentWidget() is self._record):
            self._show_record()

    def _note(self) -> str:
        if self._model.phase == "loading":
            return "opening…"
        if self._model.phase == "ready" and not self._model.is_frame_current:
            return "rendering…" if self._model.state.is_open else "creating the environment…"
        return ""

    def _hint(self) -> str:
        model = self._model
        if model.opening is not None and len(model.track) < model.opening.steps:
            return f"reading rewards, {len(model.track):,} of {model.opening.steps:,}"
        all_actors = model.track.all_actors
        if HUMAN in all_actors and len(all_actors) > 1:
            return f"{actors_label(all_actors)} · thick band: you acted"
        return "drag to scrub"
