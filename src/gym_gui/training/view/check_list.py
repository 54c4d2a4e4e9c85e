"""CheckList: preflight, live: what is in the way, what to know, and remedies to click."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.number_text import size
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.model.training_readiness import Installing, TrainingReadiness
from gym_gui.widgets.badge import Badge
from mosaic.contract.readiness import CheckStatus, PreflightItem, PreflightReport

_MARKS = {
    CheckStatus.OK: ("✓", "good"),
    CheckStatus.WARNING: ("!", "warning"),
    CheckStatus.BLOCKING: ("✕", "bad"),
}
_ACTIONS = {
    "install_bundle": "Install bundle",
    "repair_bundle": "Repair bundle",
    "use_cpu_preset": "Use the CPU",
    "use_gpu_preset": "Use a GPU",
    "free_disk_space": "Free disk space…",
    "set_key": "Set API key…",
    "choose_environment": "Choose environment…",
}
_OWN_ACTIONS = {
    "disk": ("free_disk_space", ""),
    "wandb": ("set_key", "WANDB_API_KEY"),
    "environment": ("choose_environment", ""),
}
"""What the window can do about a check for which the daemon names no action."""


class CheckList(QFrame):
    """A card. What is fine is folded into one line."""

    def __init__(
        self, model: TrainingModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._readiness: TrainingReadiness = model.readiness
        self._shown: PreflightReport | None = None
        self._state = Badge("", "plain", theme)
        self._list = QWidget()
        self._lines = QVBoxLayout(self._list)
        self._expected = QLabel()
        self._more = QPushButton()
        self._installing = QLabel()
        self._bar = QProgressBar()
        self._again = QPushButton("Check again")
        self._build()
        self._more.toggled.connect(lambda _: self._fill())
        self._again.clicked.connect(self._readiness.check_again)
        model.state_changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self.setAccessibleName("Preflight")
        title = QLabel("Preflight")
        title.setProperty("role", "heading")
        head = QHBoxLayout()
        head.addWidget(title, 1)
        head.addWidget(self._state)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(em // 2)
        for label in (self._expected, self._installing):
            label.setWordWrap(True)
            label.setProperty("role", "muted")
        self._more.setCheckable(True)
        self._more.setProperty("role", "quiet")
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Installation")
        self._again.setToolTip("Ask the daemon again whether this run could start")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addLayout(head)
        for widget in (self._installing, self._bar, self._list, self._expected):
            layout.addWidget(widget)
        foot = QHBoxLayout()
        foot.addWidget(self._more)
        foot.addStretch(1)
        foot.addWidget(self._again)
        layout.addLayout(foot)

    def _show(self) -> None:
        readiness = self._readiness
        self._show_state()
        self._show_installing(readiness.installing)
        self._again.setVisible(readiness.problem is not None)
        # While a new answer is on its way the last one stays, so that nothing jumps.
        if readiness.report is not self._shown or readiness.report is None:
            self._shown = readiness.report
            self._fill()

    def _show_state(self) -> None:
        readiness, report = self._readiness, self._readiness.report
        if readiness.is_checking:
            self._state.show_text("checking", "plain")
        elif readiness.problem is not None:
            self._state.show_text("✕ not possible", "bad")
        elif report is None:
            self._state.show_text("waits for the form", "plain")
        elif report.is_blocked:
            self._state.show_text("✕ blocked", "bad")
        else:
            warnings = readiness.warning_count
            words = {0: "✓ all clear", 1: "1 warning"}.get(warnings, f"{warnings} warnings")
            self._state.show_text(words, "warning" if warnings else "good")

    def _show_installing(self, installing: Installing | None) -> None:
        self._installing.setVisible(installing is not None)
        self._bar.setVisible(installing is not None)
        if installing is not None:
            self._installing.setText(f"{installing.bundle}\n{installing.words}")
            self._bar.setRange(0, 0 if installing.share is None else 1000)
            self._bar.setValue(round((installing.share or 0.0) * 1000))

    def _fill(self) -> None:
        while (taken := self._lines.takeAt(0)) is not None:
            if (widget := taken.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        items = self._shown.items if self._shown else ()
        fine = [item for item in items if item.status is CheckStatus.OK]
        others = sorted(
            (item for item in items if item.status is not CheckStatus.OK),
            key=lambda item: item.status is not CheckStatus.BLOCKING,
        )
        for item in [*others, *(fine if self._more.isChecked() else ())]:
            line = _CheckLine(item)
            line.remedy_chosen.connect(self._model.follow_remedy)
            self._lines.addWidget(line)
        told = self._readiness.problem
        if told is not None:
            self._lines.addWidget(_words(f"{told.message} {told.remedy}".strip(), "bad"))
        self._list.setVisible(bool(self._lines.count()))
        verb = "Hide" if self._more.isChecked() else "Show"
        self._more.setText(f"{verb} {len(fine)} that are fine")
        self._more.setVisible(bool(fine))
        expected = _expectation(self._shown)
        self._expected.setText(expected)
        self._expected.setVisible(bool(expected))


class _CheckLine(QWidget):
    """One thing that was looked at."""

    remedy_chosen = Signal(str, str)

    def __init__(self, item: PreflightItem) -> None:
        super().__init__()
        em = self.fontMetrics().height()
        symbol, tone = _MARKS[item.status]
        mark = QLabel(symbol)
        mark.setProperty("tone", tone)
        mark.setFixedWidth(em)
        mark.setAccessibleName(str(item.status))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(em // 4)
        grid.setVerticalSpacing(em // 4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(mark, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(_words(item.message), 0, 1)
        if item.remedy:
            remedy = _words(item.remedy)
            remedy.setProperty("role", "caption")
            grid.addWidget(remedy, 1, 1)
        own = _OWN_ACTIONS.get(item.check, ("", "")) if item.status is not CheckStatus.OK else ()
        action, argument = (item.action, item.action_argument) if item.action else own or ("", "")
        if action in _ACTIONS:
            button = QPushButton(_ACTIONS[action])
            button.setToolTip(item.remedy)
            button.clicked.connect(lambda: self.remedy_chosen.emit(action, argument))
            grid.addWidget(button, 2, 1, Qt.AlignmentFlag.AlignLeft)


def _words(text: str, tone: str = "") -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if tone:
        label.setProperty("tone", tone)
    return label


def _expectation(report: PreflightReport | None) -> str:
    """`About 00:40, 0.1 GB of memory (from 6 earlier runs)`."""
    if report is None or not report.earlier_runs:
        return ""
    seconds, memory = report.expected_duration_s, report.expected_memory_bytes
    parts = [
        f"takes about {run_text.duration(seconds)}" if seconds is not None else "",
        f"{run_text.rate(report.expected_sps)}" if report.expected_sps else "",
        f"{size(memory)} of memory" if memory else "",
    ]
    told = ", ".join(part for part in parts if part)
    runs = f"{report.earlier_runs} earlier run{'s' if report.earlier_runs > 1 else ''}"
    return f"{told[:1].upper()}{told[1:]} (from {runs})." if told else ""
