"""SessionButtons: Play, Stop and Reset, how far a start is, and what went wrong.

Always in sight at the foot of the panel.
"""

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
        self._words = QLabel()
        self._bar = QProgressBar()
        self.play = QPushButton("Play")
        self.stop = QPushButton("Stop")
        self.reset = QPushButton("Reset")
        self._said = ""
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
        """The dock is about something else: only what a session that goes on needs is left."""
        if is_aside != self._is_aside:
            self._is_aside = is_aside
            self._show()

    def _build(self, theme: ThemeModel) -> None:
        em = self.fontMetrics().height()
        self._words.setProperty("role", "muted")
        self._words.setWordWrap(True)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(max(4, em // 3))
        self._bar.setAccessibleName("Progress of the start")
        self.play.setProperty("role", "primary")
        keep_icon(self.play, "play", theme, "on_accent")
        keep_icon(self.stop, "stop", theme)
        keep_icon(self.reset, "reset", theme)
        self.stop.setToolTip("End the session. What was played stays under Runs.")
        self.reset.setToolTip("Begin a new episode")
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
        layout.addWidget(self._words)
        layout.addWidget(self._bar)
        layout.addLayout(buttons)

    def _show(self) -> None:
        model = self._model
        activity = model.activity
        is_played = model.plays_chosen_environment
        had_focus = self.play.hasFocus() or self.stop.hasFocus()
        is_aside = self._is_aside
        self.setVisible(not is_aside or activity.is_going or model.problem is not None)
        self.play.setVisible(not is_played and not is_aside)
        self.stop.setText("Stop the session" if is_aside else "Stop")
        self.stop.setVisible(activity.is_going)
        set_disabled_reason(self.stop, "" if activity.can_stop else "The session is ending.")
        self.reset.setVisible((is_played or not activity.is_going) and not is_aside)
        not_now = "" if activity.can_reset else "There is no episode to begin anew."
        set_disabled_reason(
            self.reset, not_now if is_played else "Nothing is played in this environment now."
        )
        self.play.setEnabled(not model.choice.problems)
        self.play.setToolTip(self._what_play_does())
        if had_focus:  # It must not wander off to a field when the button under it goes.
            (self.stop if is_played else self.play).setFocus()
        self._words.setText(f"{activity.words}…" if activity.is_waiting else "")
        self._words.setVisible(activity.is_waiting)
        self._bar.setVisible(activity.is_waiting)
        self._bar.setRange(0, activity.total)
        self._bar.setValue(activity.done)
        self._show_problem()

    def _what_play_does(self) -> str:
        model = self._model
        if model.choice.problems:
            return "First correct what is marked in the game configuration"
        title = model.choice.entry.title
        if model.activity.is_going:
            return f"Play {title}; the session that is going on ends"
        return f"Play {title}" if model.mode == "human" else f"Let the chosen actor play {title}"

    def _show_problem(self) -> None:
        problem = self._model.problem
        said = str(problem) if problem else ""
        if said == self._said:
            return
        self._said = said
        if problem is None:
            self.problem.clear()
            return
        self.problem.say(said, can_retry=self._model.can_retry)
