"""SeedField and SpeedField: random seed and speed of the next session.

Both show `EnvironmentChoice`.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environment_choice import MAX_SPEED, SPEEDS, EnvironmentChoice
from gym_gui.widgets.forms.editors import ignore_wheel_without_focus
from gym_gui.widgets.icons import IconName, set_icon
from mosaic.contract.errors import UserError
from mosaic.envs.configuration import parse_seed

_TIMES = "\N{MULTIPLICATION SIGN}"
_LOCKED = "Same seed each episode"
_UNLOCKED = "New seed each episode"
_INVALID_SEED = "The seed must be an integer"


class SeedField(QWidget):
    """The seed of a session, with a lock and a button for a random one."""

    def __init__(
        self, choice: EnvironmentChoice, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._choice = choice
        self._theme = theme
        self._edit = QLineEdit()
        self._lock = _tool_button()
        self._randomize = _tool_button()
        self._hint = QLabel()
        self._build()
        self._edit.textEdited.connect(self._on_typed)
        self._edit.editingFinished.connect(self._show)
        self._lock.clicked.connect(lambda: choice.lock_seed(not choice.is_seed_locked))
        self._randomize.clicked.connect(choice.randomize_seed)
        choice.seed_changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self._edit.setAccessibleName("Seed")
        self._edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._edit.setMinimumWidth(self.fontMetrics().horizontalAdvance("0" * 7) + em * 3 // 2)
        self._edit.setToolTip("Random seed. The same seed and settings give the same episode.")
        set_icon(self._randomize, "dice", self._theme)
        self._randomize.setAccessibleName("New random seed")
        self._randomize.setToolTip("Generate a random seed")
        self._hint.setProperty("role", "caption")
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(em // 8)
        line.addWidget(self._edit, 1)
        line.addSpacing(em // 8)
        line.addWidget(self._lock)
        line.addWidget(self._randomize)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 4)
        layout.addLayout(line)
        layout.addWidget(self._hint)
        self.setFocusProxy(self._edit)

    def _on_typed(self, text: str) -> None:
        try:
            self._choice.set_seed(parse_seed(text))
        except UserError:
            self._hint.setText(_INVALID_SEED if text.strip() else self._hint_text)

    def _show(self) -> None:
        """Show the current seed; invalid text is discarded when editing ends."""
        choice = self._choice
        if self._edit.text() != str(choice.seed):
            self._edit.setText(str(choice.seed))
        mark: IconName = "lock" if choice.is_seed_locked else "unlock"
        set_icon(self._lock, mark, self._theme, "accent" if choice.is_seed_locked else "text")
        self._lock.setAccessibleName(
            "Unlock the seed" if choice.is_seed_locked else "Lock the seed"
        )
        self._lock.setToolTip(
            f"{_LOCKED}: click to unlock the seed."
            if choice.is_seed_locked
            else f"{_UNLOCKED}: click to lock this seed."
        )
        self._hint.setText(self._hint_text)

    @property
    def _hint_text(self) -> str:
        return _LOCKED if self._choice.is_seed_locked else _UNLOCKED


class SpeedField(QComboBox):
    """The speed of a session, as a multiple of the normal one."""

    def __init__(self, choice: EnvironmentChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choice = choice
        for speed in SPEEDS:
            self.addItem("Max" if speed == MAX_SPEED else f"{speed:g}{_TIMES}")
        fastest = SPEEDS.index(MAX_SPEED)
        self.setItemData(fastest, "Maximum speed", Qt.ItemDataRole.ToolTipRole)
        self.setAccessibleName("Speed")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        ignore_wheel_without_focus(self)
        self.activated.connect(lambda row: choice.set_speed(SPEEDS[row]))
        choice.speed_changed.connect(self._show)
        self._show()

    def set_waits_for_user(self, waits_for_user: bool) -> None:
        """A turn-based environment that waits for the user has no speed."""
        self.setEnabled(not waits_for_user)
        self.setToolTip(
            "This environment waits for your move; speed does not apply."
            if waits_for_user
            else "Multiple of the normal speed of the environment"
        )

    def _show(self) -> None:
        self.setCurrentIndex(SPEEDS.index(self._choice.speed))


def _tool_button() -> QToolButton:
    button = QToolButton()
    em = button.fontMetrics().height()
    button.setIconSize(QSize(round(em * 1.15), round(em * 1.15)))
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button
