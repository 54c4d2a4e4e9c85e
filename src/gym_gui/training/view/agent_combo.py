"""AgentCombo: which worker and algorithm; the same choice in both parts of the dock."""

from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.training.view.agent_delegate import POPUP_EMS, AgentDelegate
from gym_gui.widgets.forms.editors import leave_wheel_alone


class AgentCombo(QComboBox):
    """Opening it asks for the workers anew."""

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
        self.setPlaceholderText("Choose an agent")
        leave_wheel_alone(self)
        self.activated.connect(self._on_activated)
        form.agent_changed.connect(self._show)
        self._show()

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self._form.catalog.refresh()
        if not self._was_opened:
            # Qt makes the list with the delegate, and measures all rows; the dock opens without.
            self._was_opened = True
            self.setItemDelegate(AgentDelegate(self._theme, self))
            self.view().setMinimumWidth(self.fontMetrics().height() * POPUP_EMS)
        super().showPopup()

    def _on_activated(self, row: int) -> None:
        agent = self._form.catalog.agent_at(row)
        if agent is not None and not agent.reason:
            self._form.choose_agent(agent.id)
        self._show()

    def _show(self) -> None:
        agent = self._form.agent
        self.setCurrentIndex(self._form.catalog.row_of(agent.id) if agent else -1)
