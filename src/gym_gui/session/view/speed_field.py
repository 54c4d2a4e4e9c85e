"""SpeedField: how fast time passes in the session."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from gym_gui.session.model.environment_choice import AS_FAST_AS_IT_CAN, SPEEDS, EnvironmentChoice
from gym_gui.widgets.forms.editors import leave_wheel_alone

_TIMES = "\N{MULTIPLICATION SIGN}"


class SpeedField(QComboBox):
    def __init__(self, choice: EnvironmentChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        for speed in SPEEDS:
            self.addItem("Max" if speed == AS_FAST_AS_IT_CAN else f"{speed:g}{_TIMES}")
        fastest = SPEEDS.index(AS_FAST_AS_IT_CAN)
        self.setItemData(fastest, "As fast as it can", Qt.ItemDataRole.ToolTipRole)
        self.setAccessibleName("Speed")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        leave_wheel_alone(self)
        self.activated.connect(lambda at: choice.set_speed(SPEEDS[at]))
        choice.speed_changed.connect(self._show)
        self._show()

    def explain(self, *, waits_for_person: bool) -> None:
        """Where every step waits for a key, there is no speed to choose."""
        self.setEnabled(not waits_for_person)
        self.setToolTip(
            "This environment waits for your move, so it has no speed."
            if waits_for_person
            else "Times the pace that the environment is meant to have"
        )

    def _show(self) -> None:
        self.setCurrentIndex(SPEEDS.index(self._choice.speed))
