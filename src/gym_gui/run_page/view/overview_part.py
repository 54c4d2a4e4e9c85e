"""OverviewPart: the run at a glance: how it stands and why, its figures, what people wrote."""

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
from gym_gui.run_page.view.fact_grid import FactGrid
from gym_gui.run_page.view.fitted_text import TextCard
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.section import Section
from gym_gui.widgets.value_card import ValueCard
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_COLUMNS = 4


class HistoryView(QWidget):
    """A run has few states; labels are enough."""

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
        for at, labels in enumerate(self._rows):
            for label in labels:
                label.setVisible(at < len(states))
            if at < len(states):
                state = states[at]
                texts = (state.when, state.word, state.lasted, state.reason)
                for label, text in zip(labels, texts, strict=True):
                    label.setText(text)
                labels[-1].setToolTip(state.reason)

    def _add_row(self) -> None:
        labels = (QLabel(), QLabel(), QLabel(), ElidedLabel("muted"))
        labels[0].setProperty("role", "muted")
        labels[2].setProperty("role", "muted")
        labels[2].setAlignment(Qt.AlignmentFlag.AlignRight)
        labels[2].setToolTip("So long it lasted")
        for column, label in enumerate(labels):
            self._grid.addWidget(label, len(self._rows), column)
        self._rows.append(labels)


_TWO_COLUMNS_FROM = 38
"""Ems of width."""
_TOLD_AT_ITS_END = (RunState.FAILED, RunState.LOST)


class OverviewPart(QScrollArea):
    """Scrolls where it is low."""

    log_wanted = Signal()

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.verdict = Banner(theme)
        self.warnings = Banner(theme)
        self._cards = [
            ValueCard(name) for name in ("mean return", "best episode", "episodes", "steps")
        ]
        self._next = QLabel()
        self._next.setProperty("role", "muted")
        self._next.setWordWrap(True)
        self.last_lines = TextCard("Last lines", theme, wraps=False)
        log = QPushButton("Open the log")
        log.clicked.connect(self.log_wanted)
        self.last_lines.add_button(log)
        self.about, self.times = FactGrid(), FactGrid()
        self.tags = _KeptLine("Tags, separated by commas")
        self.note = _KeptText("Note")
        self.history = HistoryView()
        cards = QHBoxLayout()
        cards.setSpacing(line // 2)
        for card in self._cards:
            cards.addWidget(card, 1)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(line)
        for facts in (self.about, self.times):
            self._columns.addWidget(facts, 1, Qt.AlignmentFlag.AlignTop)
        inside = QWidget()
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self.verdict)
        layout.addWidget(self.warnings)
        layout.addLayout(cards)
        layout.addWidget(self._next)
        layout.addWidget(self.last_lines)
        layout.addLayout(self._columns)
        layout.addLayout(self._people_wrote(line))
        layout.addWidget(Section("How it came here", self.history, theme))
        layout.addStretch(1)
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.tags.kept.connect(lambda text: model.set_tags(text.split(",")))
        self.note.kept.connect(model.set_note)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _TWO_COLUMNS_FROM
        self._columns.setDirection(
            QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom
        )

    def _people_wrote(self, line: int) -> QGridLayout:
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
        now, details = time.time(), self._model.shown.details
        self._show_verdict(run)
        figures = run_summary.figures(run, self._model.facts.best)
        for card, fact in zip(self._cards, figures, strict=True):
            card.show_value(fact.value)
            card.setToolTip(fact.tip or fact.value)
        has_checkpoints = bool(self._model.shown.manifest.checkpoints)
        can_replay = not self._model.why_not("replay")
        advice = run_summary.next_step(run, self._model.shown.config, has_checkpoints, can_replay)
        if self._next.text() != advice:
            self._next.setText(advice)
        self._next.setVisible(bool(advice))
        tail = details.output_tail if details and run.state in _TOLD_AT_ITS_END else ()
        self.last_lines.say("\n".join(tail))
        config = self._model.shown.config
        env_kwargs = config.env_kwargs if config is not None else {}
        self.about.show_facts(run_summary.about(run, self._model.shown.descriptor, env_kwargs))
        self.times.show_facts(run_summary.times(run, details, now))
        self.tags.show_kept(run.run_id, ", ".join(run.tags))
        self.note.show_kept(run.run_id, run.note)
        self.history.show_states(run_summary.history_of(details, now))

    def _show_verdict(self, run: RunRecord) -> None:
        verdict = run_summary.verdict_of(run)
        words = ""
        if verdict is not None:
            said = (f"{verdict.title}.", verdict.reason, verdict.remedy)
            words = " ".join(part.strip() for part in said if part.strip())
        _say(self.verdict, words, verdict.tone if verdict else "plain")
        problem = self._model.shown.problem
        told = [*run.warnings, *([f"{problem.message} {problem.remedy}"] if problem else ())]
        _say(self.warnings, "\n".join(told), "warning")


def _say(banner: Banner, words: str, tone: Tone) -> None:
    if not words:
        if banner.message:
            banner.clear()
    elif banner.message != words:
        banner.say(words, tone)


class _KeptLine(QLineEdit):
    """Enter, or going elsewhere, keeps what was written."""

    kept = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._run_id = self._shown = ""
        self.setAccessibleName(name)
        self.setPlaceholderText("baseline, paper")
        self.setToolTip(name)
        self.editingFinished.connect(self._on_finished)

    def show_kept(self, run_id: str, text: str) -> None:
        if run_id != self._run_id or (text != self._shown and not self.hasFocus()):
            self._run_id, self._shown = run_id, text
            self.setText(text)

    def _on_finished(self) -> None:
        if self.text() != self._shown:
            self._shown = self.text()
            self.kept.emit(self.text())


class _KeptText(QPlainTextEdit):
    """Going elsewhere keeps what was written."""

    kept = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self._run_id = self._shown = ""
        self.setAccessibleName(name)
        self.setPlaceholderText("What it was for, what came of it")
        self.setTabChangesFocus(True)
        self._fit()

    def show_kept(self, run_id: str, text: str) -> None:
        if run_id != self._run_id or (text != self._shown and not self.hasFocus()):
            self._run_id, self._shown = run_id, text
            self.setPlainText(text)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        text = self.toPlainText()
        if text != self._shown:
            self._shown = text
            self.kept.emit(text)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self.fontMetrics().lineSpacing() * 3 + self.fontMetrics().height())
