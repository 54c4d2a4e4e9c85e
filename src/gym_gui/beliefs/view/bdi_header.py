"""BdiHeader: whose mind, of which moment, how sure it is, and which plan fired."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from gym_gui.beliefs.model.bdi_timeline import place_words
from gym_gui.beliefs.model.beliefs_model import BeliefsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.segmented import SegmentedControl

_WHOLE = 1_000


class BdiHeader(QWidget):
    """`update_head` after the model has changed."""

    agent_chosen = Signal(str)
    when_chosen = Signal(str)

    def __init__(
        self, model: BeliefsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.state = Badge("", "plain", theme)
        self.where = ElidedLabel("muted")
        self.agents = QComboBox()
        self.agents.setAccessibleName("Agent")
        self.agents.setToolTip("Whose mind is shown")
        self.agents.setMinimumContentsLength(6)
        self.agents.activated.connect(lambda _: self.agent_chosen.emit(self.agents.currentData()))
        self.when = SegmentedControl((("now", "Now"), ("replay", "Replay")), theme)
        self.when.setAccessibleName("Which moment is shown")
        self.when.set_tip("now", "What the agent has in mind now, or had at the end")
        self.when.set_tip("replay", "What it had in mind at the step that is replayed")
        self.when.chosen.connect(self.when_chosen)
        self.plan = ElidedLabel("muted")
        self.confidence = QProgressBar()
        self.confidence.setRange(0, _WHOLE)
        self.confidence.setTextVisible(False)
        self.confidence.setMinimumWidth(line * 4)
        self.confidence.setMaximumWidth(line * 9)
        self.confidence.setAccessibleName("Confidence")
        self._confidence_name = QLabel("Confidence")
        self._confidence_name.setProperty("role", "muted")
        self.share = QLabel()
        self.share.setProperty("role", "value")
        upper = QHBoxLayout()
        upper.setSpacing(line // 2)
        upper.addWidget(self.state)
        upper.addWidget(self.where, 1)
        upper.addWidget(self.agents)
        upper.addWidget(self.when)
        lower = QHBoxLayout()
        lower.setSpacing(line // 2)
        lower.addWidget(self.plan, 1)
        for widget in (self._confidence_name, self.confidence, self.share):
            lower.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 2)
        column.setSpacing(line // 3)
        column.addLayout(upper)
        column.addLayout(lower)
        self.when.hide()

    def update_head(self) -> None:
        model, mind = self._model, self._model.mind
        self._show_agents()
        self.when.setVisible(model.can_replay)
        self.when.choose("replay" if model.follows_replay else "now")
        if mind.place is not None:
            self._say_state("Replay")
            words = place_words(mind.place).capitalize()
            if model.is_reading:
                words = f"{words} · reading…"
            elif mind.as_of:
                words = f"{words}, as of {mind.as_of}"
            self.where.say(words)
        else:
            self._say_state("● Live" if model.is_live else "At the end")
            self.where.say(self._newest_words())
        told = f"Plan {mind.plan} fired" if mind.has_fired else f"Last plan {mind.plan}"
        self.plan.say(told if mind.plan else "No plan has fired")
        self._show_confidence(mind.confidence)

    def _say_state(self, text: str) -> None:
        if self.state.text() != text:
            self.state.show_text(text, "good" if text.startswith("●") else "plain")

    def _newest_words(self) -> str:
        timeline = self._model.timeline
        if not timeline.rowCount():
            return ""
        return f"Last change in {timeline.row(timeline.rowCount() - 1).place}"

    def _show_agents(self) -> None:
        agents = self._model.agents
        self.agents.setVisible(len(agents) > 1)
        if [self.agents.itemData(at) for at in range(self.agents.count())] != agents:
            self.agents.clear()
            for agent in agents:
                self.agents.addItem(agent or "unnamed", agent)
        if self._model.agent in agents:
            self.agents.setCurrentIndex(agents.index(self._model.agent))

    def _show_confidence(self, share: float | None) -> None:
        for widget in (self._confidence_name, self.confidence, self.share):
            widget.setVisible(share is not None)
        if share is not None:
            self.confidence.setValue(round(share * _WHOLE))
            text = f"{share:.0%}".replace("%", " %")
            self.share.setText(text)
            self.confidence.setToolTip(f"How sure the agent is to reach what it wants: {text}")
