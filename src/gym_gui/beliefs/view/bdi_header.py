"""BdiHeader: agent, position, confidence and last plan of the displayed BDI state."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from gym_gui.beliefs.model.bdi_timeline import position_text
from gym_gui.beliefs.model.beliefs_model import BeliefsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.labels import ElidedLabel

_CONFIDENCE_MAX = 1_000


class BdiHeader(QWidget):
    """Call `update_header` after the model has changed."""

    agent_selected = Signal(str)
    when_selected = Signal(str)

    def __init__(
        self, model: BeliefsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.state = Badge("", "plain", theme)
        self.position = ElidedLabel("muted")
        self.agents = QComboBox()
        self.agents.setAccessibleName("Agent")
        self.agents.setToolTip("Displayed agent")
        self.agents.setMinimumContentsLength(6)
        self.agents.activated.connect(lambda _: self.agent_selected.emit(self.agents.currentData()))
        self.when = SegmentedControl((("now", "Now"), ("replay", "Replay")), theme)
        self.when.setAccessibleName("Time of the state")
        self.when.set_option_tool_tip("now", "State now, or at the end of the run")
        self.when.set_option_tool_tip("replay", "State at the replayed step")
        self.when.activated.connect(self.when_selected)
        self.plan = ElidedLabel("muted")
        self.confidence = QProgressBar()
        self.confidence.setRange(0, _CONFIDENCE_MAX)
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
        upper.addWidget(self.position, 1)
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

    def update_header(self) -> None:
        model, bdi_state = self._model, self._model.bdi_state
        self._show_agents()
        self.when.setVisible(model.can_replay)
        self.when.set_current("replay" if model.follows_replay else "now")
        if bdi_state.position is not None:
            self._update_state("Replay")
            text = position_text(bdi_state.position).capitalize()
            if model.is_reading:
                text = f"{text} · reading…"
            elif bdi_state.as_of:
                text = f"{text}, as of {bdi_state.as_of}"
            self.position.show_text(text)
        else:
            self._update_state("● Live" if model.is_live else "At the end")
            self.position.show_text(self._newest_text())
        plan = (
            f"Plan {bdi_state.plan} fired" if bdi_state.has_fired else f"Last plan {bdi_state.plan}"
        )
        self.plan.show_text(plan if bdi_state.plan else "No plan has fired")
        self._show_confidence(bdi_state.confidence)

    def _update_state(self, text: str) -> None:
        if self.state.text() != text:
            self.state.show_text(text, "good" if text.startswith("●") else "plain")

    def _newest_text(self) -> str:
        timeline = self._model.timeline
        if not timeline.rowCount():
            return ""
        return f"Last change in {timeline.row(timeline.rowCount() - 1).position}"

    def _show_agents(self) -> None:
        agents = self._model.agents
        self.agents.setVisible(len(agents) > 1)
        if [self.agents.itemData(index) for index in range(self.agents.count())] != agents:
            self.agents.clear()
            for agent in agents:
                self.agents.addItem(agent or "unnamed", agent)
        if self._model.agent in agents:
            self.agents.setCurrentIndex(agents.index(self._model.agent))

    def _show_confidence(self, share: float | None) -> None:
        for widget in (self._confidence_name, self.confidence, self.share):
            widget.setVisible(share is not None)
        if share is not None:
            self.confidence.setValue(round(share * _CONFIDENCE_MAX))
            text = f"{share:.0%}".replace("%", " %")
            self.share.setText(text)
            self.confidence.setToolTip(f"Confidence of the agent to reach its goals: {text}")
