"""SessionButtons: Play, Stop and Reset, start progress and errors, at the bottom of the panel."""

from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.session.view.problem_card import ProblemCard
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class SessionButtons(QWidget):
    def __init__(
        self, model: SessionPanelModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.problem = ProblemCard(theme)
        self._status = QLabel()
        self._bar = QProgressBar()
        self.play = QPushButton("Play")
        self.stop = QPushButton("Stop")
        self.reset = QPushButton("Reset")
        self._displayed_problem = ""
        self._is_aside = False
        self._build(theme)
        self.play.clicked.connect(model.play)
        self.stop.clicked.connect(model.stop)
        self.reset.clicked.connect(model.reset)
        self.problem.retry.clicked.connect(model.play)
        self.problem.dismiss.clicked.connect(model.dismiss_problem)
        model.changed.connect(self._show)
        self._show()

    def set_aside(self, is_aside: bool) -> None:
        """While the dock shows training, keep only what a running session needs."""
        if is_aside != self._is_aside:
            self._is_aside = is_aside
            self._show()

    def _build(self, theme: ThemeModel) -> None:
        em = self.fontMetrics().height()
        self._status.setProperty("role", "muted")
        self._status.setWordWrap(True)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(max(4, em // 3))
        self._bar.setAccessibleName("Start progress")
        self.play.setProperty("role", "primary")
        keep_icon(self.play, "play", theme, "on_accent")
        keep_icon(self.stop, "stop", theme)
        keep_icon(self.reset, "reset", theme)
        self.stop.setToolTip("Stop the session. Its run stays listed under Runs.")
        self.reset.setToolTip("Start a new episode")
        buttons = QHBoxLayout()
        buttons.setSpacing(em // 2)
        for button in (self.play, self.stop, self.reset):
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setMinimumHeight(round(em * 2.2))
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(self.problem)
        layout.addWidget(self._status)
        layout.addWidget(self._bar)
        layout.addLayout(buttons)

    def _show(self) -> None:
        model = self._model
        activity = model.activity
        is_played = model.plays_selected_environment
        had_focus = self.play.hasFocus() or self.stop.hasFocus()
        is_aside = self._is_aside
        self.setVisible(not is_aside or activity.is_running or model.problem is not None)
        self.play.setVisible(not is_played and not is_aside)
        self.stop.setText("Stop session" if is_aside else "Stop")
        self.stop.setVisible(activity.is_running)
        set_disabled_reason(self.stop, "" if activity.can_stop else "The session is stopping.")
        self.reset.setVisible((is_played or not activity.is_running) and not is_aside)
        not_now = "" if activity.can_reset else "No episode has started yet."
        set_disabled_reason(
            self.reset, not_now if is_played else "No session runs in this environment."
        )
        self.play.setEnabled(not model.choice.problems)
        self.play.setToolTip(self._what_play_does())
        if had_focus:  # Keep the focus on the buttons when one of them is hidden.
            (self.stop if is_played else self.play).setFocus()
        self._status.setText(f"{activity.text}…" if activity.is_waiting else "")
        self._status.setVisible(activity.is_waiting)
        self._bar.setVisible(activity.is_waiting)
        self._bar.setRange(0, activity.total)
        self._bar.setValue(activity.done)
        self._show_problem()

    def _what_play_does(self) -> str:
        model = self._model
        if model.choice.problems:
            return "Correct the invalid fields of the game configuration first"
        title = model.choice.entry.title
        if model.activity.is_running:
            return f"Play {title}; stops the running session"
        return f"Play {title}" if model.mode == "human" else f"Let the selected actor play {title}"

    def _show_problem(self) -> None:
        problem = self._model.problem
        text = str(problem) if problem else ""
        if text == self._displayed_problem:
            return
        self._displayed_problem = text
        if problem is None:
            self.problem.clear()
            return
        self.problem.show_problem(text, can_retry=self._model.can_retry)
