"""StepInspector: every field of one step, played, live or replayed."""

from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.inspector.model import ObservationRows, action_text
from gym_gui.inspector.view.number_table import NumberTable
from gym_gui.runtime.models.formatting import format_rounded, format_signed
from gym_gui.runtime.models.run_text import actor_label
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.labels import ValueCard
from gym_gui.widgets.raw_text import format_json, format_readable
from gym_gui.widgets.section import Section
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord

_NO_STEP = "No step yet. Play, watch or replay an episode to see its steps here."
_MAX_LINES = 14


class StepInspector(QWidget):
    """Shows the step it is given by `show_step` or `show_start`; has no model."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step: StepRecord | EpisodeStart | None = None
        line = self.fontMetrics().height()
        self._heading = QLabel()
        self._heading.setProperty("role", "heading")
        self._heading.setWordWrap(True)
        self._copy = CopyButton("Copy the step as JSON", self._as_json, theme)
        self._action, self._reward = ValueCard("action"), ValueCard("reward")
        self._return, self._actor = ValueCard("return so far"), ValueCard("actor")
        self._empty = QLabel(_NO_STEP)
        self._empty.setProperty("role", "muted")
        self._empty.setWordWrap(True)
        self._rows = ObservationRows(self)
        self._observation = self._make_observation(theme)
        self._beliefs = JsonSection("Beliefs", theme)
        self._prompts = JsonSection("Prompts", theme)
        self._info = JsonSection("Info", theme)
        self._render = JsonSection("Render", theme, is_open=False)
        body = QWidget()
        layout = QVBoxLayout(body)
        layout.setContentsMargins(line * 2 // 3, line * 2 // 3, line * 2 // 3, line * 2 // 3)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self._empty)
        layout.addLayout(self._make_header())
        layout.addLayout(self._make_cards(line))
        for section in (
            self._beliefs,
            self._prompts,
            self._observation,
            self._info,
            self._render,
        ):
            layout.addWidget(section)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidget(body)
        area.setWidgetResizable(True)
        area.setAccessibleName("Step fields")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        self.setMinimumWidth(line * 14)
        self.show_step(None, None, None)

    def show_step(
        self,
        step: StepRecord | None,
        environment: EnvironmentEvent | None,
        return_so_far: float | None,
        episode: int | None = None,
    ) -> None:
        """Show a step. `episode` is its episode number, if known."""
        self._step = step
        if step is None:
            self._show_observation(None, environment)
            return
        title = f"Step {step.step:,}"
        if episode is not None:
            title = f"Episode {episode:,} · step {step.step:,}"
        self._heading.setText(f"{title}{_end_text(step)}")
        self._action.show_value(action_text(step.action, environment))
        tone = "good" if step.reward > 0 else "bad" if step.reward < 0 else ""
        self._reward.show_value(format_signed(step.reward), tone)
        self._return.show_value("…" if return_so_far is None else format_rounded(return_so_far))
        self._actor.show_value(actor_label(step.actor))
        self._show_observation(step, environment)
        self._beliefs.show_value(step.bdi)
        self._prompts.show_value(step.llm)

    def show_start(
        self,
        start: EpisodeStart | None,
        environment: EnvironmentEvent | None,
        episode: int | None = None,
    ) -> None:
        """Show the state before the first step."""
        self._step = start
        if start is not None:
            name = "the episode" if episode is None else f"episode {episode:,}"
            self._heading.setText(f"Start of {name}")
            self._action.show_value("—")
            self._reward.show_value("—")
            self._return.show_value("0")
            self._actor.show_value("—")
        self._show_observation(start, environment)
        self._beliefs.show_value(None)
        self._prompts.show_value(None)

    def _show_observation(
        self, record: StepRecord | EpisodeStart | None, environment: EnvironmentEvent | None
    ) -> None:
        has_record = record is not None
        self._empty.setVisible(not has_record)
        for widget in (self._heading, self._copy):
            widget.setVisible(has_record)
        for card in (self._action, self._reward, self._return, self._actor):
            card.setVisible(has_record)
        observation = record.obs if record is not None else None
        self._rows.show(observation, environment)
        self._observation.setVisible(observation is not None)
        self._info.show_value(record.info if record is not None else None)
        self._render.show_value(record.render if record is not None else None)
        if record is None:
            self._beliefs.show_value(None)
            self._prompts.show_value(None)

    def _make_header(self) -> QHBoxLayout:
        header = QHBoxLayout()
        header.addWidget(self._heading, 1)
        header.addWidget(self._copy)
        return header

    def _make_cards(self, line: int) -> QGridLayout:
        cards = QGridLayout()
        cards.setSpacing(line // 2)
        for index, card in enumerate((self._action, self._reward, self._return, self._actor)):
            cards.addWidget(card, index // 2, index % 2)
        return cards

    def _make_observation(self, theme: ThemeModel) -> QWidget:
        copy = CopyButton("Copy the observation", lambda: format_json(self._obs()), theme)
        return SectionWithButton(
            Section("Observation", NumberTable(self._rows, theme), theme), copy
        )

    def _obs(self) -> Any:
        return self._step.obs if self._step is not None else None

    def _as_json(self) -> str:
        return "" if self._step is None else msgspec.json.encode(self._step).decode()


class JsonSection(QWidget):
    """A recorded value as readable text, with a copy button. Hidden without a value."""

    def __init__(
        self,
        title: str,
        theme: ThemeModel,
        *,
        is_open: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._value: Any = None
        self._text = _FittedText()
        self._text.setAccessibleName(title)
        copy = CopyButton(f"Copy {title.lower()}", lambda: format_json(self._value), theme)
        section = Section(title, self._text, theme, is_open=is_open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(SectionWithButton(section, copy))
        self.hide()

    def show_value(self, value: Any) -> None:
        """Show a value; None or an empty collection hides the section."""
        has_value = value is not None and value not in ({}, [], "")
        self.setVisible(has_value)
        if has_value and value != self._value:
            self._text.setPlainText(value if isinstance(value, str) else format_readable(value))
            self._text.fit()
        self._value = value


class _FittedText(QPlainTextEdit):
    """As high as its text, up to `_MAX_LINES`; then it scrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))

    def fit(self) -> None:
        metrics = self.fontMetrics()
        # The height of a plain text document is its number of lines, including wrapped ones.
        needed = round(self.document().size().height())
        lines = min(needed, _MAX_LINES)
        as_needed = Qt.ScrollBarPolicy.ScrollBarAsNeeded
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(as_needed if needed > lines else off)
        height = metrics.lineSpacing() * max(1, lines) + metrics.height() * 3 // 4
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.fit()


class SectionWithButton(QWidget):
    """A section with a button in its heading, beside the expand arrow."""

    def __init__(
        self, section: Section, button: QToolButton, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, round(line * 1.3), 0)
        row.addWidget(button)
        holder.setFixedHeight(round(line * 1.7))
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(section, 0, 0)
        layout.addWidget(holder, 0, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)


def _end_text(step: StepRecord) -> str:
    if step.terminated:
        return " · terminated"
    return " · truncated" if step.truncated else ""
