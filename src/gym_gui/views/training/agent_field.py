"""AgentField: which worker and algorithm, what it needs, and what it can."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gym_gui.models.theme_model import ThemeModel
from gym_gui.models.training_badges import abilities_of
from gym_gui.models.training_catalog import TrainingCatalog
from gym_gui.models.training_form import TrainingForm
from gym_gui.views.elements.badge import Badge
from gym_gui.views.forms.editors import leave_wheel_alone
from gym_gui.views.play.flow_layout import FlowLayout
from gym_gui.views.session.labelled import Labelled
from gym_gui.views.training.agent_delegate import POPUP_EMS, AgentDelegate
from mosaic.envs.catalog import environment, family

_MOST_LISTED = 8


class AgentField(QWidget):
    """Opening the combo asks for the workers anew."""

    def __init__(
        self, form: TrainingForm, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._theme = theme
        self.combo = _AgentCombo(form.catalog, theme)
        self._badges = QWidget()
        self._summary = QLabel()
        self._abilities = QLabel()
        self.recommended = QPushButton()
        self._build()
        self.combo.activated.connect(self._on_activated)
        self.combo.about_to_open.connect(form.catalog.refresh)
        self.recommended.clicked.connect(form.use_recommended)
        form.agent_changed.connect(self._show)
        form.document_changed.connect(self._show_recommended)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self.combo.setAccessibleName("Agent")
        self._flow = FlowLayout(self._badges, gap=em // 3)
        self._summary.setWordWrap(True)
        self._summary.setProperty("role", "muted")
        self._abilities.setWordWrap(True)
        self._abilities.setProperty("role", "caption")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(Labelled("Agent", self.combo))
        layout.addWidget(self._badges)
        layout.addWidget(self._summary)
        layout.addWidget(self._abilities)
        layout.addWidget(self.recommended)

    def _on_activated(self, row: int) -> None:
        agent = self._form.catalog.agent_at(row)
        if agent is not None and not agent.reason:
            self._form.choose_agent(agent.id)
        self._show()

    def _show(self) -> None:
        form = self._form
        agent = form.agent
        self.combo.setCurrentIndex(form.catalog.row_of(agent.id) if agent else -1)
        self._flow.clear()
        for fact in form.badges:
            badge = Badge(fact.text, fact.tone, self._theme)
            badge.setToolTip(fact.tip)
            badge.setAccessibleName(fact.tip)
            self._flow.addWidget(badge)
        self._badges.setVisible(bool(form.badges))
        self._badges.updateGeometry()
        known = form.catalog.is_known
        empty = "No worker here can train." if known else "Asking the daemon for its workers…"
        self._summary.setText((agent.reason or agent.summary) if agent else empty)
        able = abilities_of(agent.descriptor) if agent and agent.descriptor else ""
        self._abilities.setText(able)
        self._abilities.setVisible(bool(able))
        self._show_recommended()

    def _show_recommended(self) -> None:
        values = self._form.recommended
        self.recommended.setVisible(bool(values))
        if values:
            kind = family(environment(self._form.target.env_id).family).title
            self.recommended.setText("Use recommended")
            lines = [f"{name} = {value}" for name, value in values.items()]
            told = "\n".join(lines[:_MOST_LISTED])
            self.recommended.setToolTip(f"What suits {kind}\n{told}")


class _AgentCombo(QComboBox):
    about_to_open = Signal()

    def __init__(self, catalog: TrainingCatalog, theme: ThemeModel) -> None:
        super().__init__()
        self.setModel(catalog)
        self.setItemDelegate(AgentDelegate(theme, self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setMaxVisibleItems(9)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setPlaceholderText("Choose an agent")
        leave_wheel_alone(self)

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self.about_to_open.emit()
        self.view().setMinimumWidth(self.fontMetrics().height() * POPUP_EMS)
        super().showPopup()
