"""StepInspector: all that one step says, for what is replayed and for what is live."""

from typing import Any

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.inspector.model.action_text import action_word
from gym_gui.inspector.model.observation_rows import ObservationRows
from gym_gui.inspector.view.json_section import JsonSection
from gym_gui.inspector.view.number_table import NumberTable
from gym_gui.inspector.view.section_with_button import SectionWithButton
from gym_gui.runtime.models.actor_text import actor_label
from gym_gui.runtime.models.number_text import rounded, signed
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.copy_button import CopyButton
from gym_gui.widgets.raw_text import whole
from gym_gui.widgets.section import Section
from gym_gui.widgets.value_card import ValueCard
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord

_NO_STEP = "No step yet. Play, watch or replay an episode, and what each step says stands here."


class StepInspector(QWidget):
    """Shows what it is given and knows no model: whoever wires it says which step that is."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._step: StepRecord | EpisodeStart | None = None
        line = self.fontMetrics().height()
        self._heading = QLabel()
        self._heading.setProperty("role", "heading")
        self._heading.setWordWrap(True)
        self._copy = CopyButton("Copy the whole step as JSON", self._as_json, theme)
        self._action, self._reward = ValueCard("action"), ValueCard("reward")
        self._return, self._actor = ValueCard("return so far"), ValueCard("actor")
        self._nothing = QLabel(_NO_STEP)
        self._nothing.setProperty("role", "muted")
        self._nothing.setWordWrap(True)
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
        layout.addWidget(self._nothing)
        layout.addLayout(self._make_head())
        layout.addLayout(self._make_cards(line))
        for part in (
            self._beliefs,
            self._prompts,
            self._observation,
            self._info,
            self._render,
        ):
            layout.addWidget(part)
        layout.addStretch(1)
        area = QScrollArea()
        area.setWidget(body)
        area.setWidgetResizable(True)
        area.setAccessibleName("Step in full")
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
        """What was done and what came of it. `episode` is its number, where that is known."""
        self._step = step
        if step is None:
            self._show_seen(None, environment)
            return
        where = f"Step {step.step:,}"
        if episode is not None:
            where = f"Episode {episode:,} · step {step.step:,}"
        self._heading.setText(f"{where}{_ending(step)}")
        self._action.show_value(action_word(step.action, environment))
        tone = "good" if step.reward > 0 else "bad" if step.reward < 0 else ""
        self._reward.show_value(signed(step.reward), tone)
        self._return.show_value("…" if return_so_far is None else rounded(return_so_far))
        self._actor.show_value(actor_label(step.actor))
        self._show_seen(step, environment)
        self._beliefs.show_value(step.bdi)
        self._prompts.show_value(step.llm)

    def show_start(
        self,
        start: EpisodeStart | None,
        environment: EnvironmentEvent | None,
        episode: int | None = None,
    ) -> None:
        """Before the first step: what was seen then."""
        self._step = start
        if start is not None:
            which = "the episode" if episode is None else f"episode {episode:,}"
            self._heading.setText(f"Start of {which}")
            self._action.show_value("none yet")
            self._reward.show_value("none yet")
            self._return.show_value("0")
            self._actor.show_value("nobody yet")
        self._show_seen(start, environment)
        self._beliefs.show_value(None)
        self._prompts.show_value(None)

    def _show_seen(
        self, seen: StepRecord | EpisodeStart | None, environment: EnvironmentEvent | None
    ) -> None:
        is_there = seen is not None
        self._nothing.setVisible(not is_there)
        for part in (self._heading, self._copy):
            part.setVisible(is_there)
        for card in (self._action, self._reward, self._return, self._actor):
            card.setVisible(is_there)
        observation = seen.obs if seen is not None else None
        self._rows.show(observation, environment)
        self._observation.setVisible(observation is not None)
        self._info.show_value(seen.info if seen is not None else None)
        self._render.show_value(seen.render if seen is not None else None)
        if seen is None:
            self._beliefs.show_value(None)
            self._prompts.show_value(None)

    def _make_head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.addWidget(self._heading, 1)
        head.addWidget(self._copy)
        return head

    def _make_cards(self, line: int) -> QGridLayout:
        cards = QGridLayout()
        cards.setSpacing(line // 2)
        for place, card in enumerate((self._action, self._reward, self._return, self._actor)):
            cards.addWidget(card, place // 2, place % 2)
        return cards

    def _make_observation(self, theme: ThemeModel) -> QWidget:
        copy = CopyButton("Copy the observation", lambda: whole(self._observed()), theme)
        return SectionWithButton(
            Section("Observation", NumberTable(self._rows, theme), theme), copy
        )

    def _observed(self) -> Any:
        return self._step.obs if self._step is not None else None

    def _as_json(self) -> str:
        return "" if self._step is None else msgspec.json.encode(self._step).decode()


def _ending(step: StepRecord) -> str:
    if step.terminated:
        return " · the episode ended"
    return " · cut off by its limit" if step.truncated else ""
