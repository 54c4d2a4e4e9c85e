"""ReplaySide: one of two replays: run, episode, frame and stats. Shows a `ReplayModel`."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.replay.view.record_view import RecordView
from gym_gui.runtime.models.formatting import format_signed, format_significant
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.frame_canvas import FrameCanvas
from gym_gui.widgets.labels import ElidedLabel, SteadyLabel
from gym_gui.widgets.styling import set_disabled_reason


class ReplaySide(QWidget):
    """`ReplayPair` moves the playhead."""

    run_chosen = Signal(str)
    episode_chosen = Signal(int)

    def __init__(
        self, model: ReplayModel, name: str, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        """`name`: left or right."""
        super().__init__(parent)
        self._model = model
        self._run_choices: list[tuple[str, str]] = []
        line = self.fontMetrics().height()
        self.run = QComboBox()
        self.run.setAccessibleName(f"Run on the {name}")
        self.run.setToolTip(f"Run on the {name}")
        self.run.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.run.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.run.setMinimumContentsLength(6)
        self.episode = QSpinBox()
        self.episode.setAccessibleName(f"Episode on the {name}")
        self.episode.setToolTip("Episode number; Enter opens it")
        self.episode.setPrefix("# ")
        self.episode.setKeyboardTracking(False)
        self.canvas = FrameCanvas(theme, f"Frame on the {name}")
        self._record = RecordView(model, theme, is_narrow=True)
        self._problem = EmptyState("error", "", "", theme, action="Try again")
        self._stack = QStackedWidget()
        for page in (self.canvas, self._record, self._problem):
            self._stack.addWidget(page)
        self._return = SteadyLabel("000")
        self._reward = SteadyLabel("reward +1", "muted")
        self._end_label = ElidedLabel("muted")
        self._end_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header = QHBoxLayout()
        header.setSpacing(line // 3)
        header.addWidget(self.run, 1)
        header.addWidget(self.episode)
        stats = QHBoxLayout()
        stats.setSpacing(line // 2)
        caption = QLabel("return")
        caption.setProperty("role", "muted")
        for label in (caption, self._return, self._reward):
            stats.addWidget(label)
        stats.addWidget(self._end_label, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addLayout(header)
        layout.addWidget(self._stack, 1)
        layout.addLayout(stats)
        self._subscribe()
        self._show_all()

    def show_runs(self, runs: list[tuple[str, str]], chosen: str) -> None:
        """Set the choice of runs: ids and titles."""
        with QSignalBlocker(self.run):
            if runs != self._run_choices:
                self._run_choices = runs
                self.run.clear()
                for run_id, title in runs:
                    self.run.addItem(title, run_id)
            self.run.setCurrentIndex(self.run.findData(chosen))

    def _subscribe(self) -> None:
        model = self._model
        self.run.activated.connect(lambda _: self.run_chosen.emit(self.run.currentData()))
        self.episode.valueChanged.connect(self.episode_chosen)
        self._problem.action_triggered.connect(model.retry)
        for signal in (model.changed, model.episode_changed):
            signal.connect(self._show_all)
        model.playhead_changed.connect(self._show_step)
        model.step_changed.connect(self._show_step)
        model.episodes.rowsInserted.connect(self._show_episode)
        model.episodes.modelReset.connect(self._show_episode)

    def _show_all(self) -> None:
        self._show_episode()
        self._show_step()

    def _show_episode(self) -> None:
        model = self._model
        with QSignalBlocker(self.episode):
            set_disabled_reason(
                self.episode, "" if model.phase == "ready" else "No episode is open."
            )
            last = max(model.episodes.rowCount() - 1, model.episode or 0)
            self.episode.setRange(0, last)
            if model.episode is not None:
                self.episode.setValue(model.episode)

    def _show_step(self) -> None:
        model = self._model
        if model.phase == "failed" and model.problem is not None:
            self._problem.show_message(model.problem.message, model.problem.remedy, "Try again")
            self._stack.setCurrentWidget(self._problem)
        elif model.frame_problem:
            self._record.show_record(model.frame_problem)
            self._stack.setCurrentWidget(self._record)
        else:
            self._show_frame()
            self._stack.setCurrentWidget(self.canvas)
        self._show_stats()

    def _show_frame(self) -> None:
        frame = self._model.frame
        if frame is None:
            self.canvas.clear()
        elif frame.has_pixels:
            self.canvas.show_frame(frame.pixels, frame.width, frame.height, channels=frame.channels)
        self.canvas.set_message(self._note())

    def _note(self) -> str:
        model = self._model
        if model.phase == "loading":
            return "opening…"
        if model.phase == "ready" and not model.is_frame_current:
            return "rendering…" if model.state.is_open else "creating the environment…"
        return ""

    def _show_stats(self) -> None:
        model = self._model
        total = model.return_so_far
        reward = model.track.reward(model.playhead - 1)
        self._return.setText("" if total is None else format_significant(total))
        self._reward.setText("" if reward is None else f"reward {format_signed(reward)}")
        self._end_label.show_text(self._end_text())

    def _end_text(self) -> str:
        model = self._model
        if model.opening is None:
            return ""
        if model.playhead < model.steps or not model.steps:
            return f"{model.steps:,} steps"
        rollup = model.opening.rollup
        if not rollup.is_over:
            return "not finished"
        return "truncated" if rollup.truncated else "terminated"
