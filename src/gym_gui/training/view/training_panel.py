"""TrainingPanel: the tab *Train new*: one column if narrow, two if wide.

Shows `TrainingModel`. The session panel moves `launch_bar` to its footer.
"""

import shlex
import time

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontDatabase,
    QGuiApplication,
    QResizeEvent,
    QShortcut,
    QShowEvent,
    QTextOption,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_model import TrainingModel
from gym_gui.training.model.training_notes import Note, TrainingNotes
from gym_gui.training.model.training_readiness import TrainingReadiness
from gym_gui.training.view.agent_field import AgentField
from gym_gui.training.view.algorithm_help import AlgorithmHelp
from gym_gui.training.view.check_list import CheckList
from gym_gui.training.view.configuration_bar import ConfigurationBar
from gym_gui.training.view.form_sections import FormSections
from gym_gui.training.view.launch_bar import LaunchBar, add_line_breaks
from gym_gui.widgets.section import Section
from gym_gui.widgets.styling import set_disabled_reason

_NO_COMMAND = "Available after preflight."
_PANE_LINES = 12
_WIDE_EMS = 40
_WANDB_KEY = "WANDB_API_KEY"
_NO_LIVE_TELEMETRY = "This worker sends no live telemetry"


class CommandView(QFrame):
    """The command of the run, from the preflight report."""

    def __init__(self, model: TrainingReadiness, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._command = QLabel()
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setAccessibleName("Run command")
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
        self._command.setText(add_line_breaks(text) or _NO_COMMAND)
        set_disabled_reason(self._copy, "" if text else _NO_COMMAND)


class NotesView(QWidget):
    """Shows `TrainingNotes`: the newest title, and the text of all notes."""

    def __init__(self, model: TrainingNotes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._title = QLabel()
        self._title.setWordWrap(True)
        self.text = _TextPane()
        self._copy = QPushButton("Copy")
        self._clear = QPushButton("Clear")
        em = self.fontMetrics().height()
        buttons = QHBoxLayout()
        buttons.addWidget(self._copy)
        buttons.addWidget(self._clear)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(self._title)
        layout.addWidget(self.text)
        layout.addLayout(buttons)
        self._copy.clicked.connect(
            lambda: QGuiApplication.clipboard().setText(self.text.toPlainText())
        )
        self._clear.clicked.connect(model.clear)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        notes = self._model.notes
        if not notes:
            return
        newest = notes[0]
        self._title.setText(f"{'✓' if newest.is_success else '✕'} {newest.title}")
        self._title.setProperty("tone", "good" if newest.is_success else "bad")
        self._title.style().unpolish(self._title)
        self._title.style().polish(self._title)
        text = "\n\n".join(map(_format_note, notes))
        if text != self.text.toPlainText():
            self.text.setPlainText(text)


class _TextPane(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setAccessibleName("Dry run output")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().lineSpacing()
        return QSize(line * 12, line * _PANE_LINES)


class TrainingPanel(QWidget):
    """Does not scroll; place it into a scroll area."""

    finished = Signal()
    """The form is complete."""

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
        self._telemetry_hint = QLabel()
        self._general_problems = QLabel()
        self.search = QLineEdit()
        self._no_match = QLabel("No settings found.")
        self._other_fields_line = QWidget()
        self._other_fields = QLabel()
        self.remove_other_fields = QPushButton("Remove")
        self._key = QLabel()
        self.set_key = QPushButton("Set API key…")
        self.checks = CheckList(model, theme)
        self.notes = NotesView(model.notes)
        self._notes_section = Section("Notes", self.notes, theme)
        self._command = Section("Command", CommandView(model.readiness), theme, is_open=False)
        self.help = AlgorithmHelp()
        self._about = Section("About this algorithm", self.help, theme, is_open=False)
        self.launch_bar = LaunchBar(model, theme)
        self._was_dry_running = False
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._build()
        self.minimal.clicked.connect(form.set_minimal)
        self.search.textChanged.connect(self._on_search)
        self.launch_bar.checks_requested.connect(lambda: self._scroll_to(self.checks))
        self.remove_other_fields.clicked.connect(form.remove_other_fields)
        self.set_key.clicked.connect(lambda: model.key_requested.emit(_WANDB_KEY))
        self.sections.started.connect(lambda: self.setUpdatesEnabled(not self.isVisible()))
        self.sections.finished.connect(self._on_finished)
        self.help.algorithm_requested.connect(self._show_other_page)
        form.agent_changed.connect(self._show_agent)
        form.document_changed.connect(self._show_telemetry)
        form.problems_changed.connect(self._show_problems)
        model.notes.changed.connect(self._show_notes)
        self._show_agent()
        self._show_notes()
        self._show_problems()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        for label in (self._telemetry_hint, self._general_problems, self._key, self._other_fields):
            label.setWordWrap(True)
        self.search.setPlaceholderText("Search settings")
        self.search.setAccessibleName("Search settings")
        self.search.setClearButtonEnabled(True)
        clear = QShortcut(Qt.Key.Key_Escape, self.search, self.search.clear)
        clear.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._no_match.setProperty("role", "muted")
        self._no_match.setVisible(False)
        self._other_fields.setProperty("role", "caption")
        self.remove_other_fields.setProperty("role", "quiet")
        self.remove_other_fields.setToolTip("Remove the fields that this form does not show")
        self._telemetry_hint.setProperty("role", "caption")
        self._key.setProperty("role", "caption")
        self._general_problems.setProperty("tone", "bad")
        widgets = self.sections.widgets
        line = self._other_fields_line
        line_layout = QHBoxLayout(line)
        line_layout.setContentsMargins(0, 0, 0, 0)
        line_layout.addWidget(self._other_fields, 1)
        line_layout.addWidget(self.remove_other_fields)
        left = _column(
            self.agent,
            self.configuration,
            line,
            self.search,
            self._no_match,
            self._general_problems,
            widgets["run"],
            widgets["params"],
            widgets["more_params"],
            gap=em * 3 // 4,
        )
        tracking = _column(widgets["tracking"], self._key, self.set_key, gap=em // 3)
        telemetry = _column(self.minimal, self._telemetry_hint, gap=em // 4)
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
        layout.addWidget(self.launch_bar)
        layout.addStretch(1)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Another view may have changed minimal telemetry."""
        super().showEvent(event)
        self._model.form.refresh_minimal()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        is_wide = event.size().width() >= self.fontMetrics().height() * _WIDE_EMS
        direction = (
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )
        if self._columns.direction() is not direction:
            self._columns.setDirection(direction)
        super().resizeEvent(event)

    def _scroll_to(self, widget: QWidget) -> None:
        """Scroll the scroll area that contains the panel."""
        parent = self.parentWidget()
        while parent is not None and not isinstance(parent, QScrollArea):
            parent = parent.parentWidget()
        if parent is not None:
            parent.ensureWidgetVisible(widget)

    def _on_search(self, text: str) -> None:
        self._no_match.setVisible(not self.sections.search(text))

    def _show_agent(self) -> None:
        agent = self._model.form.agent
        page = agent.algorithm.page if agent and agent.algorithm else ""
        self.help.show_page(page)
        self._about.setVisible(bool(page))
        self.search.setVisible(self.sections.is_searchable)
        self._show_telemetry()
        # Fields are built in several turns, also while hidden.
        # A partial form is not painted: the previous one stays until this one is complete.
        self.sections.show_agent()

    def _on_finished(self) -> None:
        # One event-loop turn later, when the layout is final.
        QTimer.singleShot(0, self, lambda: self.setUpdatesEnabled(self.sections.is_finished))
        self.finished.emit()

    def _show_other_page(self, algorithm_id: str) -> None:
        agent = self._model.form.agent
        descriptor = agent.descriptor if agent else None
        algorithm = descriptor.algorithm(algorithm_id) if descriptor else None
        if algorithm is not None:
            self.help.show_page(algorithm.page)

    def _show_telemetry(self) -> None:
        form = self._model.form
        self.minimal.setVisible(form.offers_minimal)
        self.minimal.setChecked(form.is_minimal)
        self.minimal.setToolTip("Send every tenth episode live, with frames; costs little speed")
        self._telemetry_hint.setVisible(form.skips_live_telemetry)
        self._telemetry.setVisible(form.skips_live_telemetry)
        self._tracking.setVisible(bool(form.parameters("tracking")))
        if form.is_minimal:
            self._telemetry_hint.setText("Every tenth episode is sent live, with frames.")
        else:
            condition = " unless Minimal telemetry is on" if form.offers_minimal else ""
            self._telemetry_hint.setText(f"{_NO_LIVE_TELEMETRY}{condition}.")
        other_fields = form.draft.other_fields_text
        self._other_fields.setText(other_fields)
        self._other_fields_line.setVisible(bool(other_fields))
        self._show_key()

    def _show_key(self) -> None:
        form = self._model.form
        tracking = form.draft.section("tracking")
        is_tracked = bool(tracking.get("wandb"))
        is_set = form.catalog.catalog.keys.get(_WANDB_KEY, False)
        is_needed = not is_set and tracking.get("mode") != "offline"
        missing = (
            "No API key; the run is tracked offline."
            if is_needed
            else "Offline mode requires no API key."
        )
        self._key.setText("✓ API key is set." if is_set else missing)
        self._key.setVisible(is_tracked)
        self.set_key.setVisible(is_tracked and is_needed)

    def _show_problems(self) -> None:
        problems = self._model.form.problems.get(None, ())
        lines = (f"{problem.sentence} {problem.remedy}" for problem in problems)
        self._general_problems.setText("\n".join(lines))
        self._general_problems.setVisible(bool(problems))

    def _show_notes(self) -> None:
        notes = self._model.notes
        self._notes_section.setVisible(bool(notes.notes))
        was_dry_running, self._was_dry_running = self._was_dry_running, notes.is_dry_running
        if was_dry_running and not notes.is_dry_running and self.isVisible():
            # Scroll to the result one event-loop turn later, when the layout is final.
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


def _format_note(note: Note) -> str:
    created = time.strftime("%H:%M:%S", time.localtime(note.created_at))
    return f"[{created}] {note.title}\n{note.text}"
