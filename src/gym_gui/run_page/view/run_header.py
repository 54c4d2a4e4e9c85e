"""RunHeader: name, state, progress and actions of the selected run, above the tabs."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model import run_summary
from gym_gui.run_page.model.run_page_model import RunAction, RunPageModel
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.styling import scaled_font

_ACTIONS: tuple[tuple[RunAction, str, IconName, str], ...] = (
    ("pause", "Pause", "pause", "Pause the run"),
    ("resume", "Resume", "play", "Continue the run"),
    ("stop", "Stop", "stop", "End the run and keep its results"),
    ("replay", "Replay", "replay", "Replay its episodes"),
    ("duplicate", "Duplicate", "copy", "Start a new run with the same settings"),
    ("compare", "Compare", "chart", "Compare its curves with other runs"),
)
_TEXT_FROM = 40
"""Width in ems from which the most used buttons show text beside their icons."""
_ALL_TEXT_FROM = 56
_FIRST: tuple[RunAction, ...] = ("pause", "resume", "stop", "replay")
_STEPS = 1000
_UNKNOWN = run_text.StateStyle("?", "unknown", "plain")
"""While the daemon does not answer: the values are the last ones received."""


class RunHeader(QWidget):
    """Shows `RunPageModel`. `action_requested`: an action that opens another page."""

    action_requested = Signal(str)

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.title = _Title()
        self._worker = ElidedLabel("muted")
        self._state = Badge("", "plain", theme)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, _STEPS)
        self._bar.setAccessibleName("Progress")
        self._progress = ElidedLabel("muted")
        self.buttons = {action[0]: self._make_button(theme, *action) for action in _ACTIONS}
        above = QHBoxLayout()
        above.setSpacing(line // 2)
        above.addWidget(self.title, 3)
        above.addWidget(self._worker, 2)
        above.addWidget(self._state)
        below = QHBoxLayout()
        below.setSpacing(line // 4)
        below.addWidget(self._progress, 1)
        for button in self.buttons.values():
            below.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line // 2, line, line // 4)
        layout.setSpacing(line // 3)
        layout.addLayout(above)
        layout.addWidget(self._bar)
        layout.addLayout(below)
        self.title.renamed.connect(model.rename)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        ems = self.width() / self.fontMetrics().height()
        for action, button in self.buttons.items():
            has_text = ems >= (_TEXT_FROM if action in _FIRST else _ALL_TEXT_FROM)
            button.setToolButtonStyle(
                Qt.ToolButtonStyle.ToolButtonTextBesideIcon
                if has_text
                else Qt.ToolButtonStyle.ToolButtonIconOnly
            )
        self._worker.setVisible(ems >= _TEXT_FROM)

    def _make_button(
        self, theme: ThemeModel, action: RunAction, text: str, icon: IconName, _tip: str
    ) -> QToolButton:
        button = QToolButton()
        set_icon(button, icon, theme, "muted")
        button.setText(text)
        button.setAccessibleName(text)
        button.clicked.connect(lambda: self._run_action(action))
        return button

    def _run_action(self, action: RunAction) -> None:
        run = self._model.run
        if run is None:
            return
        actions = self._model.actions
        if action == "pause":
            actions.pause((run.run_id,))
        elif action == "resume":
            actions.resume((run.run_id,))
        elif action == "stop":
            actions.stop((run.run_id,))
        else:
            self.action_requested.emit(action)

    def _update(self) -> None:
        run = self._model.run
        if run is None:
            return
        style = run_text.STATE_STYLES[run.state] if self._model.is_up_to_date else _UNKNOWN
        self.title.show_name(run.run_id, run_text.title_of(run), run.name)
        worker = f"{run_text.worker_label(run.worker)} · {run_text.short_id(run.run_id)}"
        self._worker.show_text(worker)
        self._worker.setToolTip(run.run_id)
        if self._state.text() != f"{style.symbol} {style.word}":
            self._state.show_text(f"{style.symbol} {style.word}", style.tone)
        progress = run_text.progress_of(run)
        self._bar.setValue(round(_STEPS * (progress or 0.0)))
        self._bar.setToolTip("" if progress is None else f"{progress:.0%} done")
        placeholder = "No steps" if run.state.is_final else "No steps yet"
        self._progress.show_text(run_summary.progress_text(run) or placeholder)
        for action, _, _, tip in _ACTIONS:
            self._show_button(action, tip)

    def _show_button(self, action: RunAction, tip: str) -> None:
        button, why_not = self.buttons[action], self._model.why_not(action)
        button.setEnabled(not why_not)
        button.setToolTip(why_not or f"{button.text()}: {tip[0].lower()}{tip[1:]}")
        if action in ("pause", "resume"):
            is_paused = not self._model.why_not("resume")
            button.setVisible(is_paused == (action == "resume"))


class _Title(QLineEdit):
    """The name as an editable heading. Enter saves it, Escape restores it."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._run_id = self._saved = ""
        font = scaled_font(self.font(), 1.12)
        font.setWeight(font.Weight.DemiBold)
        self.setFont(font)
        # A frame only on hover or focus; the theme sets colours and focus.
        self.setStyleSheet(
            "QLineEdit { font-weight: 600; padding-left: 0; }"
            "QLineEdit:!hover:!focus { background: transparent; border-color: transparent; }"
        )
        self.setAccessibleName("Name of the run")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.editingFinished.connect(self._on_finished)

    def show_name(self, run_id: str, title: str, name: str) -> None:
        """A name that is being edited is not replaced."""
        is_other = run_id != self._run_id
        if is_other or not self.hasFocus():
            if self.text() != title:
                self.setText(title)
                self.setCursorPosition(0)
            self._saved = title
        self._run_id = run_id
        self.setToolTip("Click to rename" if name else "Click to name the run")

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 4, super().minimumSizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._saved)
            self.clearFocus()
        else:
            super().keyPressEvent(event)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.clearFocus()

    def _on_finished(self) -> None:
        if self.text() != self._saved:
            self._saved = self.text()
            self.renamed.emit(self.text())
        self.setCursorPosition(0)
