"""OverviewTab: status, stats, tags, note and timeline of a run."""

import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model import run_summary
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.model.run_summary import PastState
from gym_gui.run_page.view.text_widgets import FieldGrid, TextCard
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.labels import ElidedLabel, ValueCard
from gym_gui.widgets.section import Section
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_COLUMNS = 4


class HistoryView(QWidget):
    """Shows the timeline with one label per value: a run has few states."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(line // 4)
        self._grid.setColumnStretch(_COLUMNS - 1, 1)
        self._rows: list[tuple[QLabel, ...]] = []
        self._states: list[PastState] = []

    def show_states(self, states: Sequence[PastState]) -> None:
        if list(states) == self._states:
            return
        self._states = list(states)
        while len(self._rows) < len(states):
            self._add_row()
        for index, labels in enumerate(self._rows):
            for label in labels:
                label.setVisible(index < len(states))
            if index < len(states):
                state = states[index]
                texts = (state.when, state.word, state.lasted, state.reason)
                for label, text in zip(labels, texts, strict=True):
                    label.setText(text)
                labels[-1].setToolTip(state.reason)

    def _add_row(self) -> None:
        labels = (QLabel(), QLabel(), QLabel(), ElidedLabel("muted"))
        labels[0].setProperty("role", "muted")
        labels[2].setProperty("role", "muted")
        labels[2].setAlignment(Qt.AlignmentFlag.AlignRight)
        labels[2].setToolTip("Duration")
        for column, label in enumerate(labels):
            self._grid.addWidget(label, len(self._rows), column)
        self._rows.append(labels)


_TWO_COLUMNS_FROM = 38
"""Ems of width."""
_STATES_WITH_TAIL = (RunState.FAILED, RunState.LOST)


class OverviewTab(QScrollArea):
    """Shows `RunPageModel`. Scrolls if it is too small."""

    log_requested = Signal()

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.status = Banner(theme)
        self.warnings = Banner(theme)
        self._cards = [
            ValueCard(name) for name in ("mean return", "best episode", "episodes", "steps")
        ]
        self._next_step = QLabel()
        self._next_step.setProperty("role", "muted")
        self._next_step.setWordWrap(True)
        self.last_lines = TextCard("Last lines", theme, wraps=False)
        log = QPushButton("Open log")
        log.clicked.connect(self.log_requested)
        self.last_lines.add_button(log)
        self.about, self.times = FieldGrid(), FieldGrid()
        self.tags = _SavedLineEdit("Tags, separated by commas")
        self.note = _SavedTextEdit("Note")
        self.history = HistoryView()
        cards = QHBoxLayout()
        cards.setSpacing(line // 2)
        for card in self._cards:
            cards.addWidget(card, 1)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(line)
        for grid in (self.about, self.times):
            self._columns.addWidget(grid, 1, Qt.AlignmentFlag.AlignTop)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self.status)
        layout.addWidget(self.warnings)
        layout.addLayout(cards)
        layout.addWidget(self._next_step)
        layout.addWidget(self.last_lines)
        layout.addLayout(self._columns)
        layout.addLayout(self._user_fields(line))
        layout.addWidget(Section("Timeline", self.history, theme))
        layout.addStretch(1)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tags.edited.connect(lambda text: model.set_tags(text.split(",")))
        self.note.edited.connect(model.set_note)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _TWO_COLUMNS_FROM
        self._columns.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )

    def _user_fields(self, line: int) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 3)
        grid.setColumnStretch(1, 1)
        for row, (text, field) in enumerate((("Tags", self.tags), ("Note", self.note))):
            label = QLabel(text)
            label.setProperty("role", "muted")
            label.setBuddy(field)
            label.setContentsMargins(0, line // 3, 0, 0)
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(field, row, 1)
        return grid

    def _update(self) -> None:
        run = self._model.run
        if run is None:
            return
        now, details = time.time(), self._model.selected.details
        self._show_status(run)
        stats = run_summary.stats(run, self._model.overview.best)
        for card, field in zip(self._cards, stats, strict=True):
            card.show_value(field.value)
            card.setToolTip(field.tip or field.value)
        has_checkpoints = bool(self._model.selected.manifest.checkpoints)
        can_replay = not self._model.why_not("replay")
        next_step = run_summary.next_step(
            run, self._model.selected.config, has_checkpoints, can_replay
        )
        if self._next_step.text() != next_step:
            self._next_step.setText(next_step)
        self._next_step.setVisible(bool(next_step))
        tail = details.output_tail if details and run.state in _STATES_WITH_TAIL else ()
        self.last_lines.set_text("\n".join(tail))
        config = self._model.selected.config
        env_kwargs = config.env_kwargs if config is not None else {}
        self.about.show_fields(run_summary.about(run, self._model.selected.descriptor, env_kwargs))
        self.times.show_fields(run_summary.times(run, details, now))
        self.tags.show_saved(run.run_id, ", ".join(run.tags))
        self.note.show_saved(run.run_id, run.note)
        self.history.show_states(run_summary.history_of(details, now))

    def _show_status(self, run: RunRecord) -> None:
        message = run_summary.status_message(run)
        text = ""
        if message is not None:
            sentences = (f"{message.title}.", message.reason, message.remedy)
            text = " ".join(filter(None, map(str.strip, sentences)))
        _set_banner(self.status, text, message.tone if message else "plain")
        problem = self._model.selected.problem
        warnings = [*run.warnings, *([f"{problem.message} {problem.remedy}"] if problem else ())]
        _set_banner(self.warnings, "\n".join(warnings), "warning")


def _set_banner(banner: Banner, text: str, tone: Tone) -> None:
    if not text:
        if banner.message:
            banner.clear()
    elif banner.message != text:
        banner.show_message(text, tone)


class _SavedLineEdit(QLineEdit):
    """Enter or losing focus saves the text."""

    edited = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._run_id = self._saved = ""
        self.setAccessibleName(name)
        self.setPlaceholderText("baseline, paper")
        self.setToolTip(name)
        self.editingFinished.connect(self._on_finished)

    def show_saved(self, run_id: str, text: str) -> None:
        if run_id != self._run_id or (text != self._saved and not self.hasFocus()):
            self._run_id, self._saved = run_id, text
            self.setText(text)

    def _on_finished(self) -> None:
        if self.text() != self._saved:
            self._saved = self.text()
            self.edited.emit(self.text())


class _SavedTextEdit(QPlainTextEdit):
    """Losing focus saves the text."""

    edited = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._run_id = self._saved = ""
        self.setAccessibleName(name)
        self.setPlaceholderText("Purpose and result of this run")
        self.setTabChangesFocus(True)
        self._fit()

    def show_saved(self, run_id: str, text: str) -> None:
        if run_id != self._run_id or (text != self._saved and not self.hasFocus()):
            self._run_id, self._saved = run_id, text
            self.setPlainText(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        text = self.toPlainText()
        if text != self._saved:
            self._saved = text
            self.edited.emit(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self.fontMetrics().lineSpacing() * 3 + self.fontMetrics().height())
