"""LaunchBar: Dry run and Launch, with the reason while it cannot be; consent for a first run."""

import html
import shlex

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.view.run_card import RunCard
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_LONGEST = 160
_CHECKS = "checks"


class LaunchBar(QWidget):
    """The foot of the dock: the current run stands above the buttons."""

    checks_wanted = Signal()

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
        self._pressed: QPushButton | None = None
        """Which button had the keyboard when it was disabled."""
        self._build()
        self.dry_run.clicked.connect(model.try_out)
        self.launch.clicked.connect(model.launch)
        self._reason.linkActivated.connect(lambda _: self.checks_wanted.emit())
        model.state_changed.connect(self._show)
        model.form.problems_changed.connect(self._show)
        theme.changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.launch.setProperty("role", "primary")
        self.dry_run.setToolTip("Let the worker judge these settings, without training")
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
        asks = "Allow it above, or refuse it." if model.consent_wanted else ""
        reason = model.launch_problem or asks
        is_trying = model.notes.is_trying
        focused = next((each for each in (self.dry_run, self.launch) if each.hasFocus()), None)
        self.launch.setEnabled(not reason)
        self.launch.setToolTip(reason or "Start the run (it appears under Runs at once)")
        shown = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST].rstrip()}…"
        warnings = model.readiness.warning_count
        words = html.escape(shown)
        if warnings and not reason:
            words = f"{'1 warning' if warnings == 1 else f'{warnings} warnings'} in the"
            colour = self._theme.colours.accent
            words += f' <a href="{_CHECKS}" style="color: {colour}">check list</a>.'
        self._reason.setText(words)
        self._reason.setToolTip(reason)
        self._reason.setVisible(bool(words))
        self.dry_run.setText("Trying…" if is_trying else "Dry run")
        why_not = "The worker is being asked." if is_trying else ""
        set_disabled_reason(
            self.dry_run, why_not or ("" if model.form.agent else "Choose an agent first.")
        )
        self._keep_keyboard(focused)

    def _keep_keyboard(self, focused: QPushButton | None) -> None:
        """A button that is disabled by its own press must not hand the keyboard to the next one:
        Enter, pressed twice, would launch what was only to be tried."""
        if focused is not None and not focused.isEnabled():
            self._pressed = focused
            self.setFocus()
        if self._pressed is None or not self.hasFocus():
            self._pressed = None
        elif self._pressed.isEnabled():
            self._pressed.setFocus()
        elif self._pressed is self.launch and self.consent.isVisible():
            self.consent.refuse.setFocus()


class _ConsentCard(QFrame):
    """Asked once per worker, in the place where Launch was pressed."""

    def __init__(self, model: TrainingModel) -> None:
        super().__init__()
        self._model = model
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._words = QLabel()
        self._words.setWordWrap(True)
        self._command = QLabel()
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.allow = QPushButton("Allow and launch")
        self.allow.setProperty("role", "primary")
        self.refuse = QPushButton("Not now")
        buttons = FlowLayout(gap=em // 2)
        buttons.addWidget(self.allow)
        buttons.addWidget(self.refuse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addWidget(self._words)
        layout.addWidget(self._command)
        layout.addLayout(buttons)
        self.allow.clicked.connect(model.allow_and_launch)
        self.refuse.clicked.connect(model.refuse_consent)
        model.state_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._model
        self.setVisible(model.consent_wanted)
        if model.consent_wanted:
            self._words.setText(
                f"{model.worker_label} has not run from here before. It starts this command on"
                " your machine, with your rights. You are asked once."
            )
            report = model.readiness.report
            self._command.setText(breakable(shlex.join(report.command)) if report else "")


def breakable(command: str) -> str:
    """With places where a narrow label may break a path."""
    return command.replace("/", "/\N{ZERO WIDTH SPACE}")
