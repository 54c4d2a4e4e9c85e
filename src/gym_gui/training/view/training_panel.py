"""TrainingPanel: the training dock: one column where it is narrow, two where it is wide.

Made with a `TrainingModel`. `foot` (current run, Dry run, Launch) may be taken out and placed where
it is always in sight.
"""

import shlex

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.model.training_readiness import TrainingReadiness
from gym_gui.training.view.agent_field import AgentField
from gym_gui.training.view.algorithm_help import AlgorithmHelp
from gym_gui.training.view.check_list import CheckList
from gym_gui.training.view.configuration_bar import ConfigurationBar
from gym_gui.training.view.form_sections import FormSections
from gym_gui.training.view.launch_bar import LaunchBar, breakable
from gym_gui.training.view.notes_view import NotesView
from gym_gui.widgets.section import Section
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_NOT_YET = "Known once preflight has answered."


class CommandView(QFrame):
    def __init__(self, model: TrainingReadiness, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._command = QLabel()
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setAccessibleName("Command of the run")
        self._command.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy = QPushButton("Copy command")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addWidget(self._command)
        layout.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignLeft)
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text()))
        model.changed.connect(self._show)
        self._show()

    def _text(self) -> str:
        return shlex.join(self._model.report.command) if self._model.report else ""

    def _show(self) -> None:
        text = self._text()
        self._command.setText(breakable(text) or _NOT_YET)
        set_disabled_reason(self._copy, "" if text else _NOT_YET)


_WIDE_EMS = 40
_WANDB_KEY = "WANDB_API_KEY"
_SILENT = "Live telemetry is skipped for this worker"


class TrainingPanel(QWidget):
    """It does not scroll by itself: it is to be put into something that does."""

    finished = Signal()
    """The whole form is there."""

    def __init__(
        self, model: TrainingModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        form = model.form
        self.setAccessibleName("Training")
        self.agent = AgentField(form, theme)
        self.configuration = ConfigurationBar(form)
        self.sections = FormSections(form, theme, self)
        self.minimal = QCheckBox("Minimal telemetry")
        self._silence = QLabel()
        self._general = QLabel()
        self.search = QLineEdit()
        self._nothing = QLabel("No setting has these words.")
        self._rest = QLabel()
        self.leave_out = QPushButton("Leave out")
        self._key = QLabel()
        self.set_key = QPushButton("Set API key…")
        self.checks = CheckList(model, theme)
        self.notes = NotesView(model.notes)
        self._notes_section = Section("Notes", self.notes, theme)
        self._command = Section("Command", CommandView(model.readiness), theme, is_open=False)
        self.help = AlgorithmHelp()
        self._about = Section("About this algorithm", self.help, theme, is_open=False)
        self.foot = LaunchBar(model, theme)
        self._was_trying = False
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._build()
        self.minimal.clicked.connect(form.set_minimal)
        self.search.textChanged.connect(self._on_search)
        self.foot.checks_wanted.connect(lambda: self._scroll_to(self.checks))
        self.leave_out.clicked.connect(form.leave_out_rest)
        self.set_key.clicked.connect(lambda: model.key_requested.emit(_WANDB_KEY))
        self.sections.begun.connect(lambda: self.setUpdatesEnabled(not self.isVisible()))
        self.sections.finished.connect(self._on_finished)
        self.help.algorithm_asked.connect(self._show_other_page)
        form.agent_changed.connect(self._show_agent)
        form.document_changed.connect(self._show_telemetry)
        form.problems_changed.connect(self._show_problems)
        model.notes.changed.connect(self._show_notes)
        self._show_agent()
        self._show_notes()
        self._show_problems()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        for label in (self._silence, self._general, self._key, self._rest):
            label.setWordWrap(True)
        self.search.setPlaceholderText("Search settings")
        self.search.setAccessibleName("Search settings")
        self.search.setClearButtonEnabled(True)
        forget = QShortcut(Qt.Key.Key_Escape, self.search, self.search.clear)
        forget.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._nothing.setProperty("role", "muted")
        self._nothing.setVisible(False)
        self._rest.setProperty("role", "caption")
        self.leave_out.setProperty("role", "quiet")
        self.leave_out.setToolTip("Begin without what has no field here")
        self._silence.setProperty("role", "caption")
        self._key.setProperty("role", "caption")
        self._general.setProperty("tone", "bad")
        widgets = self.sections.widgets
        rest = QWidget()
        beside = QHBoxLayout(rest)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(self._rest, 1)
        beside.addWidget(self.leave_out)
        self._rest_line = rest
        left = _column(
            self.agent,
            self.configuration,
            rest,
            self.search,
            self._nothing,
            self._general,
            widgets["run"],
            widgets["params"],
            widgets["more_params"],
            gap=em * 3 // 4,
        )
        tracking = _column(widgets["tracking"], self._key, self.set_key, gap=em // 3)
        telemetry = _column(self.minimal, self._silence, gap=em // 4)
        self._telemetry, self._tracking = telemetry, tracking
        right = _column(
            telemetry,
            widgets["artifacts"],
            tracking,
            widgets["extras"],
            widgets["about"],
            self.checks,
            self._notes_section,
            self._command,
            self._about,
            gap=em * 3 // 4,
        )
        self._columns.setSpacing(em)
        self._columns.addWidget(left, 1)
        self._columns.addWidget(right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em * 3 // 4)
        layout.addLayout(self._columns)
        layout.addWidget(self.foot)
        layout.addStretch(1)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """What is shared with other views, such as minimal telemetry, may have changed there."""
        super().showEvent(event)
        self._model.form.look_at_minimal()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        is_wide = event.size().width() >= self.fontMetrics().height() * _WIDE_EMS
        direction = (
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )
        if self._columns.direction() is not direction:
            self._columns.setDirection(direction)
        super().resizeEvent(event)

    def _scroll_to(self, widget: QWidget) -> None:
        """In whatever the panel was put into."""
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        if parent is not None:
            parent.ensureWidgetVisible(widget)

    def _on_search(self, text: str) -> None:
        self._nothing.setVisible(not self.sections.search(text))

    def _show_agent(self) -> None:
        agent = self._model.form.agent
        page = agent.algorithm.page if agent and agent.algorithm else ""
        self.help.show_page(page)
        self._about.setVisible(bool(page))
        self.search.setVisible(self.sections.is_long)
        self._show_telemetry()
        # A few fields per turn, also while nobody looks: whoever looks next finds them there.
        # Half a form is not shown: the one before stays until this one is whole.
        self.sections.show_agent()

    def _on_finished(self) -> None:
        # One turn later: by then everything has its place.
        QTimer.singleShot(0, self, lambda: self.setUpdatesEnabled(self.sections.is_finished))
        self.finished.emit()

    def _show_other_page(self, algorithm_id: str) -> None:
        agent = self._model.form.agent
        asked = agent.descriptor.algorithm(algorithm_id) if agent and agent.descriptor else None
        if asked is not None:
            self.help.show_page(asked.page)

    def _show_telemetry(self) -> None:
        form = self._model.form
        self.minimal.setVisible(form.offers_minimal)
        self.minimal.setChecked(form.is_minimal)
        self.minimal.setToolTip("Tell of some episodes while it trains; hardly felt by training")
        self._silence.setVisible(form.skips_live_telemetry)
        self._telemetry.setVisible(form.skips_live_telemetry)
        self._tracking.setVisible(bool(form.parameters("tracking")))
        if form.is_minimal:
            self._silence.setText("Every tenth episode and pictures are told live.")
        else:
            more = " unless Minimal telemetry is on." if form.offers_minimal else "."
            self._silence.setText(f"{_SILENT}{more}")
        rest = self._model.form.draft.rest_in_words
        self._rest.setText(rest)
        self._rest_line.setVisible(bool(rest))
        self._show_key()

    def _show_key(self) -> None:
        form = self._model.form
        tracking = form.draft.of("tracking")
        is_tracked = bool(tracking.get("wandb"))
        is_set = form.catalog.catalog.keys.get(_WANDB_KEY, False)
        is_needed = not is_set and tracking.get("mode") != "offline"
        words = "API key is not set: tracks offline." if is_needed else "Offline needs no API key."
        told = "✓ API key is set." if is_set else words
        self._key.setText(f"{told} The name of the run is used there too.")
        self._key.setVisible(is_tracked)
        self.set_key.setVisible(is_tracked and is_needed)

    def _show_problems(self) -> None:
        told = self._model.form.problems.get(None, ())
        self._general.setText("\n".join(f"{each.sentence} {each.remedy}" for each in told))
        self._general.setVisible(bool(told))

    def _show_notes(self) -> None:
        notes = self._model.notes
        self._notes_section.setVisible(bool(notes.notes))
        was_trying, self._was_trying = self._was_trying, notes.is_trying
        if was_trying and not notes.is_trying and self.isVisible():
            # Whoever asked for a dry run waits for what it says; one turn later it has its place.
            self._notes_section.set_open(True)
            QTimer.singleShot(0, self, lambda: self._scroll_to(self._notes_section))


def _column(*widgets: QWidget, gap: int) -> QWidget:
    column = QWidget()
    layout = QVBoxLayout(column)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(gap)
    for widget in widgets:
        layout.addWidget(widget)
    layout.addStretch(1)
    return column
