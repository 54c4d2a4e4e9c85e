"""RunCard: the run that was launched from the dock: its state, how far it is, why it ended."""

from PySide6.QtCore import Qt
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
from gym_gui.training.model.training_run import TrainingRun
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.set_disabled_reason import set_disabled_reason
from mosaic.contract.run_states import RunState

_STEPS = 1000


class RunCard(QFrame):
    """Takes no room while nothing was launched."""

    def __init__(
        self, model: TrainingRun, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._name = QLabel()
        self._badge = Badge("", "plain", theme)
        self._bar = QProgressBar()
        self._line = QLabel()
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
        self._line.setProperty("role", "muted")
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Progress of the run")
        for label in (self._name, self._line, self._reason):
            label.setWordWrap(True)
        self._reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = QHBoxLayout()
        head.addWidget(self._name, 1)
        head.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignTop)
        buttons = QHBoxLayout()
        self.open.setToolTip("Its charts, its log and what it has written")
        buttons.addWidget(self.open)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.dismiss)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 3)
        layout.addLayout(head)
        layout.addWidget(self._bar)
        layout.addWidget(self._line)
        layout.addWidget(self._reason)
        layout.addLayout(buttons)

    def _show(self) -> None:
        run = self._model.run
        self.setVisible(run is not None)
        if run is None:
            return
        look = run_text.STATE_STYLES[run.state]
        self._name.setText(run_text.title_of(run))
        self._badge.show_text(f"{look.symbol} {look.word}", look.tone)
        share = run_text.progress_of(run)
        is_waiting = run.state in (RunState.QUEUED, RunState.PREPARING)
        self._bar.setRange(0, _STEPS)
        self._bar.setValue(round((share or 0.0) * _STEPS))
        self._bar.setVisible(not run.state.is_final and not is_waiting)
        line = self._model.line or ("Waits for its turn." if is_waiting else "")
        self._line.setText(line)
        self._line.setVisible(bool(line))
        reason = self._model.why_it_ended
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        self.cancel.setVisible(not run.state.is_final)
        set_disabled_reason(self.cancel, "" if self._model.can_cancel else "It is being stopped.")
        self.dismiss.setVisible(run.state.is_final)
