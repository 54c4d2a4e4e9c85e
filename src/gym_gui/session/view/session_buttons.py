"""SessionButtons: Play, Stop and Reset, start progress and errors, at the bottom of the panel."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QGridLayout,
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
from gym_gui.widgets.banner import ToneMark
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.styling import blend, set_disabled_reason

_MAX_PROBLEM_LENGTH = 420
"""The tooltip has the complete text."""


class SessionButtons(QWidget):
    """Shows the activity and the problem of `SessionPanelModel`."""

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
        self._is_compact = False
        self._build(theme)
        self.play.clicked.connect(model.play)
        self.stop.clicked.connect(model.stop)
        self.reset.clicked.connect(model.reset)
        self.problem.retry.clicked.connect(model.play)
        self.problem.dismiss.clicked.connect(model.dismiss_problem)
        model.changed.connect(self._show)
        self._show()

    def set_compact(self, is_compact: bool) -> None:
        """While the dock shows training, keep only what a running session needs."""
        if is_compact != self._is_compact:
            self._is_compact = is_compact
            self._show()

    def _build(self, theme: ThemeModel) -> None:
        em = self.fontMetrics().height()
        self._status.setProperty("role", "muted")
        self._status.setWordWrap(True)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(max(4, em // 3))
        self._bar.setAccessibleName("Start progress")
        self.play.setProperty("role", "primary")
        set_icon(self.play, "play", theme, "on_accent")
        set_icon(self.stop, "stop", theme)
        set_icon(self.reset, "reset", theme)
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
        is_compact = self._is_compact
        self.setVisible(not is_compact or activity.is_running or model.problem is not None)
        self.play.setVisible(not is_played and not is_compact)
        self.stop.setText("Stop session" if is_compact else "Stop")
        self.stop.setVisible(activity.is_running)
        set_disabled_reason(self.stop, "" if activity.can_stop else "The session is stopping.")
        self.reset.setVisible((is_played or not activity.is_running) and not is_compact)
        no_episode = "" if activity.can_reset else "No episode has started yet."
        set_disabled_reason(
            self.reset, no_episode if is_played else "No session runs in this environment."
        )
        self.play.setEnabled(not model.choice.problems)
        self.play.setToolTip(self._play_tooltip())
        if had_focus:  # Keep the focus on the buttons when one of them is hidden.
            (self.stop if is_played else self.play).setFocus()
        self._status.setText(f"{activity.text}…" if activity.is_waiting else "")
        self._status.setVisible(activity.is_waiting)
        self._bar.setVisible(activity.is_waiting)
        self._bar.setRange(0, activity.total)
        self._bar.setValue(activity.done)
        self._show_problem()

    def _play_tooltip(self) -> str:
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


class ProblemCard(QWidget):
    """A session error and its remedy. Hidden while there is none."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mark = ToneMark(theme)
        self._mark.show_tone("bad")
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.retry = QPushButton("Retry")
        self.dismiss = QPushButton("Dismiss")
        em = self.fontMetrics().height()
        buttons = QHBoxLayout()
        buttons.setSpacing(em // 2)
        buttons.addWidget(self.retry)
        buttons.addWidget(self.dismiss)
        buttons.addStretch(1)
        layout = QGridLayout(self)
        layout.setContentsMargins(em * 2 // 3, em // 2, em * 2 // 3, em // 2)
        layout.setHorizontalSpacing(em // 2)
        layout.setVerticalSpacing(em // 2)
        layout.setColumnStretch(1, 1)
        layout.addWidget(self._mark, 0, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._label, 0, 1)
        layout.addLayout(buttons, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setVisible(False)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        return self._label.text()

    def show_problem(self, text: str, *, can_retry: bool) -> None:
        is_long = len(text) > _MAX_PROBLEM_LENGTH
        self._label.setText(f"{text[:_MAX_PROBLEM_LENGTH].rstrip()}…" if is_long else text)
        self._label.setToolTip(text if is_long else "")
        self.setAccessibleName(text)
        self.retry.setVisible(can_retry)
        self.setVisible(True)

    def clear(self) -> None:
        self._label.setText("")
        self.setVisible(False)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(colours.bad, colours.surface, 0.35), 1.0))
        painter.setBrush(blend(colours.bad, colours.surface, 0.1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()
