"""AgentField and AgentCombo: selection of worker and algorithm, with requirements and summary.

Both tabs of the dock have an `AgentCombo` for the same `TrainingForm`.
"""

from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_badges import capabilities_text
from gym_gui.training.model.training_catalog import AGENT_ROLE, Agent
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.forms.editors import ignore_wheel_without_focus
from gym_gui.widgets.labels import LabelledField
from gym_gui.widgets.title_detail_delegate import Index, TitleDetail, TitleDetailDelegate
from mosaic.envs.catalog import environment, family

_MAX_RECOMMENDED = 8
_POPUP_EMS = 28


class AgentField(QWidget):
    """The combo box, and badges, summary and capabilities of the selected agent."""

    def __init__(
        self, form: TrainingForm, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._theme = theme
        self.combo = AgentCombo(form, theme)
        self._badges = QWidget()
        self._summary = QLabel()
        self._capabilities = QLabel()
        self.recommended = QPushButton("Use recommended parameters")
        self._build()
        self.recommended.clicked.connect(form.use_recommended)
        form.agent_changed.connect(self._show)
        form.catalog.loaded.connect(self._show)
        form.document_changed.connect(self._show_recommended)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self._flow = FlowLayout(self._badges, gap=em // 3)
        self._summary.setWordWrap(True)
        self._summary.setProperty("role", "muted")
        self._capabilities.setWordWrap(True)
        self._capabilities.setProperty("role", "caption")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(LabelledField("Agent", self.combo))
        layout.addWidget(self._badges)
        layout.addWidget(self._summary)
        layout.addWidget(self._capabilities)
        layout.addWidget(self.recommended)

    def _show(self) -> None:
        form = self._form
        agent = form.agent
        self._flow.clear()
        for info in form.badges:
            badge = Badge(info.text, info.tone, self._theme)
            badge.setToolTip(info.tip)
            badge.setAccessibleName(info.tip)
            self._flow.addWidget(badge)
        self._badges.setVisible(bool(form.badges))
        self._badges.updateGeometry()
        self._summary.setText((agent.reason or agent.summary) if agent else self._no_agent_text())
        text = capabilities_text(agent.descriptor) if agent and agent.descriptor else ""
        self._capabilities.setText(text)
        self._capabilities.setVisible(bool(text))
        self._show_recommended()

    def _no_agent_text(self) -> str:
        catalog = self._form.catalog
        if catalog.problem is not None:
            problem = f"{catalog.problem.message} {catalog.problem.remedy}".strip()
            return f"{problem} Open the list to retry."
        return "No worker can train." if catalog.is_known else "Loading workers…"

    def _show_recommended(self) -> None:
        values = self._form.recommended
        self.recommended.setVisible(bool(values))
        if values:
            title = family(environment(self._form.target.env_id).family).title
            lines = [f"{name} = {value}" for name, value in values.items()]
            listed = "\n".join(lines[:_MAX_RECOMMENDED])
            self.recommended.setToolTip(f"Recommended parameters for {title}\n{listed}")


class AgentCombo(QComboBox):
    """Fetches the workers again when it is opened."""

    def __init__(
        self, form: TrainingForm, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._theme = theme
        self._was_opened = False
        self.setModel(form.catalog)
        self.setAccessibleName("Agent")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setMaxVisibleItems(9)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPlaceholderText("Select an agent")
        ignore_wheel_without_focus(self)
        self.activated.connect(self._on_activated)
        form.agent_changed.connect(self._show)
        self._show()

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self._form.catalog.refresh()
        if not self._was_opened:
            # Qt measures all rows with the delegate; set it late, so that the dock opens faster.
            self._was_opened = True
            self.setItemDelegate(TitleDetailDelegate(_row_content, self._theme, _POPUP_EMS, self))
            self.view().setMinimumWidth(self.fontMetrics().height() * _POPUP_EMS)
        super().showPopup()

    def _on_activated(self, row: int) -> None:
        agent = self._form.catalog.agent_at(row)
        if agent is not None and not agent.reason:
            self._form.choose_agent(agent.id)
        self._show()

    def _show(self) -> None:
        agent = self._form.agent
        self.setCurrentIndex(self._form.catalog.row_of(agent.id) if agent else -1)


def _row_content(index: Index) -> TitleDetail:
    """The agent with its summary, or the reason why it is disabled."""
    agent: Agent = index.data(AGENT_ROLE)
    if not agent.reason:
        return TitleDetail(agent.label, agent.summary)
    return TitleDetail(agent.label, f"✕ {agent.reason}", is_enabled=False, title_role="disabled")
