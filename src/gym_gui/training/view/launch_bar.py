"""LaunchBar: the launched run, Dry run and Launch, why Launch is disabled, and the consent card."""

import html
import shlex

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.model.training_run import TrainingRun
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.styling import set_disabled_reason
from mosaic.contract.run_states import RunState

_MAX_REASON_LENGTH = 160
_CHECKS_LINK = "checks"
_PROGRESS_RANGE = 1000


class LaunchBar(QWidget):
    """The footer of the dock. Shows `TrainingModel`."""

    checks_requested = Signal()

    def __init__(
        self, model: TrainingModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.run_card = RunCard(model.run, theme)
        self.consent = _ConsentCard(model)
        self.dry_run = QPushButton("Dry run")
        self.launch = QPushButton("Launch")
        self._reason = QLabel()
        self._focus_owner: QPushButton | None = None
        """The button that lost the focus when it was disabled."""
        self._build()
        self.dry_run.clicked.connect(model.dry_run)
        self.launch.clicked.connect(model.launch)
        self._reason.linkActivated.connect(lambda _: self.checks_requested.emit())
        model.state_changed.connect(self._show)
        model.form.problems_changed.connect(self._show)
        theme.changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.launch.setProperty("role", "primary")
        self.dry_run.setToolTip("Validate the settings in the worker, without training")
        self._reason.setWordWrap(True)
        self._reason.setProperty("role", "caption")
        self._reason.setTextFormat(Qt.TextFormat.RichText)
        self._reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        buttons = QHBoxLayout()
        buttons.setSpacing(em // 2)
        buttons.addWidget(self.dry_run, 1)
        buttons.addWidget(self.launch, 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(self.run_card)
        layout.addWidget(self.consent)
        layout.addLayout(buttons)
        layout.addWidget(self._reason)

    def _show(self) -> None:
        model = self._model
        consent = "Allow or decline the worker above." if model.is_consent_requested else ""
        reason = model.launch_problem or consent
        is_dry_running = model.notes.is_dry_running
        buttons = (self.dry_run, self.launch)
        focused = next((button for button in buttons if button.hasFocus()), None)
        self.launch.setEnabled(not reason)
        self.launch.setToolTip(reason or "Start the run; it is listed under Runs")
        is_long = len(reason) > _MAX_REASON_LENGTH
        shortened = f"{reason[:_MAX_REASON_LENGTH].rstrip()}…" if is_long else reason
        warnings = model.readiness.warning_count
        text = html.escape(shortened)
        if warnings and not reason:
            text = f"{'1 warning' if warnings == 1 else f'{warnings} warnings'} in"
            colour = self._theme.colours.accent
            text += f' <a href="{_CHECKS_LINK}" style="color: {colour}">Preflight</a>.'
        self._reason.setText(text)
        self._reason.setToolTip(reason)
        self._reason.setVisible(bool(text))
        self.dry_run.setText("Running…" if is_dry_running else "Dry run")
        problem = "A dry run is active." if is_dry_running else ""
        set_disabled_reason(
            self.dry_run, problem or ("" if model.form.agent else "Select an agent first.")
        )
        self._keep_focus(focused)

    def _keep_focus(self, focused: QPushButton | None) -> None:
        """Keep the focus on a button that its own press disables.

        Otherwise the focus moves on, and pressing Enter twice on Dry run would launch.
        """
        if focused is not None and not focused.isEnabled():
            self._focus_owner = focused
            self.setFocus()
        if self._focus_owner is None or not self.hasFocus():
            self._focus_owner = None
        elif self._focus_owner.isEnabled():
            self._focus_owner.setFocus()
        elif self._focus_owner is self.launch and self.consent.isVisible():
            self.consent.decline.setFocus()


class RunCard(QFrame):
    """State, progress and end reason of `TrainingRun`. Hidden without a run."""

    def __init__(
        self, model: TrainingRun, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._name = QLabel()
        self._badge = Badge("", "plain", theme)
        self._bar = QProgressBar()
        self._progress = QLabel()
        self._reason = QLabel()
        self.open = QPushButton("Open")
        self.cancel = QPushButton("Cancel run")
        self.dismiss = QPushButton("Dismiss")
        self._build()
        self.open.clicked.connect(model.open)
        self.cancel.clicked.connect(model.cancel)
        self.dismiss.clicked.connect(model.dismiss)
        model.changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self.setAccessibleName("Current run")
        self._name.setProperty("role", "heading")
        self._progress.setProperty("role", "muted")
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Run progress")
        for label in (self._name, self._progress, self._reason):
            label.setWordWrap(True)
        self._reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        header = QHBoxLayout()
        header.addWidget(self._name, 1)
        header.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        self.open.setToolTip("Show charts, log and artifacts of the run")
        buttons.addWidget(self.open)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.dismiss)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 3)
        layout.addLayout(header)
        layout.addWidget(self._bar)
        layout.addWidget(self._progress)
        layout.addWidget(self._reason)
        layout.addLayout(buttons)

    def _show(self) -> None:
        run = self._model.run
        self.setVisible(run is not None)
        if run is None:
            return
        style = run_text.STATE_STYLES[run.state]
        self._name.setText(run_text.title_of(run))
        self._badge.show_text(f"{style.symbol} {style.word}", style.tone)
        fraction = run_text.progress_of(run)
        is_waiting = run.state in (RunState.QUEUED, RunState.PREPARING)
        self._bar.setRange(0, _PROGRESS_RANGE)
        self._bar.setValue(round((fraction or 0.0) * _PROGRESS_RANGE))
        self._bar.setVisible(not run.state.is_final and not is_waiting)
        progress = self._model.progress_text or ("Queued." if is_waiting else "")
        self._progress.setText(progress)
        self._progress.setVisible(bool(progress))
        reason = self._model.end_reason
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        self.cancel.setVisible(not run.state.is_final)
        set_disabled_reason(self.cancel, "" if self._model.can_cancel else "The run is stopping.")
        self.dismiss.setVisible(run.state.is_final)


class _ConsentCard(QFrame):
    """Asks once per worker whether it may run."""

    def __init__(self, model: TrainingModel) -> None:
        super().__init__()
        self._model = model
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._command = QLabel()
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.allow = QPushButton("Allow and launch")
        self.allow.setProperty("role", "primary")
        self.decline = QPushButton("Not now")
        buttons = FlowLayout(gap=em // 2)
        buttons.addWidget(self.allow)
        buttons.addWidget(self.decline)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addWidget(self._text)
        layout.addWidget(self._command)
        layout.addLayout(buttons)
        self.allow.clicked.connect(model.allow_and_launch)
        self.decline.clicked.connect(model.decline_consent)
        model.state_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._model
        self.setVisible(model.is_consent_requested)
        if model.is_consent_requested:
            self._text.setText(
                f"{model.worker_label} runs for the first time. It starts this command on your"
                " machine, with your permissions."
            )
            report = model.readiness.report
            self._command.setText(add_line_breaks(shlex.join(report.command)) if report else "")


def add_line_breaks(command: str) -> str:
    """Allow a label to break lines after each slash of a path."""
    return command.replace("/", "/\N{ZERO WIDTH SPACE}")
