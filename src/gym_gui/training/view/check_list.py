"""CheckList: the preflight report: blocking checks, warnings, and buttons for remedies."""

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

from gym_gui.runtime.models.formatting import format_rate
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.model.training_readiness import InstallStatus, TrainingReadiness
from gym_gui.widgets.badge import Badge
from mosaic.contract.formatting import format_clock, format_size
from mosaic.contract.readiness import CheckStatus, PreflightItem, PreflightReport

_MARKS = {
    CheckStatus.OK: ("✓", "good"),
    CheckStatus.WARNING: ("!", "warning"),
    CheckStatus.BLOCKING: ("✕", "bad"),
}
_ACTIONS = {
    "install_bundle": "Install bundle",
    "repair_bundle": "Repair bundle",
    "use_cpu_preset": "Use CPU",
    "use_gpu_preset": "Use GPU",
    "free_disk_space": "Free disk space…",
    "set_key": "Set API key…",
    "choose_environment": "Choose environment…",
}
_DEFAULT_ACTIONS = {
    "disk": ("free_disk_space", ""),
    "wandb": ("set_key", "WANDB_API_KEY"),
    "environment": ("choose_environment", ""),
}
"""Actions for checks without an action from the daemon."""


class CheckList(QFrame):
    """Shows `TrainingReadiness`. Passed checks are collapsed."""

    def __init__(
        self, model: TrainingModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._readiness: TrainingReadiness = model.readiness
        self._displayed: PreflightReport | None = None
        self._state = Badge("", "plain", theme)
        self._list = QWidget()
        self._lines = QVBoxLayout(self._list)
        self._estimate = QLabel()
        self._more = QPushButton()
        self._installation = QLabel()
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
        header = QHBoxLayout()
        header.addWidget(title, 1)
        header.addWidget(self._state)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(em // 2)
        for label in (self._estimate, self._installation):
            label.setWordWrap(True)
            label.setProperty("role", "muted")
        self._more.setCheckable(True)
        self._more.setProperty("role", "quiet")
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Installation progress")
        self._again.setToolTip("Run preflight again")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addLayout(header)
        for widget in (self._installation, self._bar, self._list, self._estimate):
            layout.addWidget(widget)
        footer = QHBoxLayout()
        footer.addWidget(self._more)
        footer.addStretch(1)
        footer.addWidget(self._again)
        layout.addLayout(footer)

    def _show(self) -> None:
        readiness = self._readiness
        self._show_state()
        self._show_installation(readiness.installation)
        self._again.setVisible(readiness.problem is not None)
        # Keep the previous report until the new one arrives, so that the layout is stable.
        if readiness.report is not self._displayed or readiness.report is None:
            self._displayed = readiness.report
            self._fill()

    def _show_state(self) -> None:
        readiness, report = self._readiness, self._readiness.report
        if readiness.is_checking:
            self._state.show_text("checking", "plain")
        elif readiness.problem is not None:
            self._state.show_text("✕ failed", "bad")
        elif report is None:
            self._state.show_text("not checked", "plain")
        elif report.is_blocked:
            self._state.show_text("✕ blocked", "bad")
        else:
            warnings = readiness.warning_count
            text = {0: "✓ passed", 1: "1 warning"}.get(warnings, f"{warnings} warnings")
            self._state.show_text(text, "warning" if warnings else "good")

    def _show_installation(self, status: InstallStatus | None) -> None:
        self._installation.setVisible(status is not None)
        self._bar.setVisible(status is not None)
        if status is not None:
            self._installation.setText(f"{status.bundle}\n{status.text}")
            self._bar.setRange(0, 0 if status.fraction is None else 1000)
            self._bar.setValue(round((status.fraction or 0.0) * 1000))

    def _fill(self) -> None:
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        checks = self._displayed.items if self._displayed else ()
        passed = [check for check in checks if check.status is CheckStatus.OK]
        others = sorted(
            (check for check in checks if check.status is not CheckStatus.OK),
            key=lambda check: check.status is not CheckStatus.BLOCKING,
        )
        for check in [*others, *(passed if self._more.isChecked() else ())]:
            line = _CheckLine(check)
            line.remedy_requested.connect(self._model.run_remedy)
            self._lines.addWidget(line)
        problem = self._readiness.problem
        if problem is not None:
            self._lines.addWidget(_label(f"{problem.message} {problem.remedy}".strip(), "bad"))
        self._list.setVisible(bool(self._lines.count()))
        verb = "Hide" if self._more.isChecked() else "Show"
        self._more.setText(f"{verb} {len(passed)} passed")
        self._more.setVisible(bool(passed))
        estimate = _estimate(self._displayed)
        self._estimate.setText(estimate)
        self._estimate.setVisible(bool(estimate))


class _CheckLine(QWidget):
    """One check, with its remedy."""

    remedy_requested = Signal(str, str)

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
        grid.addWidget(_label(item.message), 0, 1)
        if item.remedy:
            remedy = _label(item.remedy)
            remedy.setProperty("role", "caption")
            grid.addWidget(remedy, 1, 1)
        action, argument = item.action, item.action_argument
        if not action and item.status is not CheckStatus.OK:
            action, argument = _DEFAULT_ACTIONS.get(item.check, ("", ""))
        if action in _ACTIONS:
            button = QPushButton(_ACTIONS[action])
            button.setToolTip(item.remedy)
            button.clicked.connect(lambda: self.remedy_requested.emit(action, argument))
            grid.addWidget(button, 2, 1, Qt.AlignmentFlag.AlignLeft)


def _label(text: str, tone: str = "") -> QLabel:
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if tone:
        label.setProperty("tone", tone)
    return label


def _estimate(report: PreflightReport | None) -> str:
    """`About 00:40, 1.2 k/s, 0.1 GB of memory (from 6 earlier runs).`."""
    if report is None or not report.earlier_runs:
        return ""
    seconds, memory = report.expected_duration_s, report.expected_memory_bytes
    parts = [
        f"about {format_clock(seconds)}" if seconds is not None else "",
        f"{format_rate(report.expected_sps)}" if report.expected_sps else "",
        f"{format_size(memory)} of memory" if memory else "",
    ]
    text = ", ".join(part for part in parts if part)
    runs = f"{report.earlier_runs} earlier run{'s' if report.earlier_runs > 1 else ''}"
    return f"{text[:1].upper()}{text[1:]} (from {runs})." if text else ""
