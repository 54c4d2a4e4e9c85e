"""AgentField: which worker and algorithm, what it needs, and what it can."""

from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_badges import abilities_of
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.training.view.agent_combo import AgentCombo
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.labelled import Labelled
from mosaic.envs.catalog import environment, family

_MOST_LISTED = 8


class AgentField(QWidget):
    """The combo, and in words what was chosen in it."""

    def __init__(
        self, form: TrainingForm, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._form = form
        self._theme = theme
        self.combo = AgentCombo(form, theme)
        self._badges = QWidget()
        self._summary = QLabel()
        self._abilities = QLabel()
        self.recommended = QPushButton()
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

    def _show(self) -> None:
        form = self._form
        agent = form.agent
        self._flow.clear()
        for fact in form.badges:
            badge = Badge(fact.text, fact.tone, self._theme)
            badge.setToolTip(fact.tip)
            badge.setAccessibleName(fact.tip)
            self._flow.addWidget(badge)
        self._badges.setVisible(bool(form.badges))
        self._badges.updateGeometry()
        self._summary.setText((agent.reason or agent.summary) if agent else self._why_none())
        able = abilities_of(agent.descriptor) if agent and agent.descriptor else ""
        self._abilities.setText(able)
        self._abilities.setVisible(bool(able))
        self._show_recommended()

    def _why_none(self) -> str:
        catalog = self._form.catalog
        if catalog.problem is not None:
            told = f"{catalog.problem.message} {catalog.problem.remedy}".strip()
            return f"{told} Opening the list asks again."
        return (
            "No worker here can train."
            if catalog.is_known
            else "Asking the daemon for its workers…"
        )

    def _show_recommended(self) -> None:
        values = self._form.recommended
        self.recommended.setVisible(bool(values))
        if values:
            kind = family(environment(self._form.target.env_id).family).title
            self.recommended.setText("Use recommended")
            lines = [f"{name} = {value}" for name, value in values.items()]
            told = "\n".join(lines[:_MOST_LISTED])
            self.recommended.setToolTip(f"What suits {kind}\n{told}")
