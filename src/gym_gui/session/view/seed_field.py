"""SeedField: what chance begins with; a lock keeps it, a die draws another."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environment_choice import EnvironmentChoice
from gym_gui.widgets.icons import IconName, keep_icon
from mosaic.contract.errors import UserError
from mosaic.envs.configuration import check_seed

_LOCKED = "Same seed each episode"
_FREE = "New seed each episode"
_NO_SEED = "The seed must be an integer"


class SeedField(QWidget):
    """The seed of a session, with a lock and a button for a random one."""

    def __init__(
        self, choice: EnvironmentChoice, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._choice = choice
        self._theme = theme
        self._number = QLineEdit()
        self._lock = _tool()
        self._dice = _tool()
        self._hint = QLabel()
        self._build()
        self._number.textEdited.connect(self._on_typed)
        self._number.editingFinished.connect(self._show)
        self._lock.clicked.connect(lambda: choice.lock_seed(not choice.is_seed_locked))
        self._dice.clicked.connect(choice.randomize_seed)
        choice.seed_changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self._number.setAccessibleName("Seed")
        self._number.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._number.setMinimumWidth(self.fontMetrics().horizontalAdvance("0" * 7) + em * 3 // 2)
        self._number.setToolTip("Random seed. The same seed and settings give the same episode.")
        keep_icon(self._dice, "dice", self._theme)
        self._dice.setAccessibleName("New random seed")
        self._dice.setToolTip("Generate a random seed")
        self._hint.setProperty("role", "caption")
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(em // 8)
        line.addWidget(self._number, 1)
        line.addSpacing(em // 8)
        line.addWidget(self._lock)
        line.addWidget(self._dice)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 4)
        layout.addLayout(line)
        layout.addWidget(self._hint)
        self.setFocusProxy(self._number)

    def _on_typed(self, text: str) -> None:
        try:
            self._choice.set_seed(check_seed(text))
        except UserError:
            self._hint.setText(_NO_SEED if text.strip() else self._hint_text)

    def _show(self) -> None:
        """Show the current seed; invalid text is discarded when editing ends."""
        choice = self._choice
        if self._number.text() != str(choice.seed):
            self._number.setText(str(choice.seed))
        mark: IconName = "lock" if choice.is_seed_locked else "unlock"
        keep_icon(self._lock, mark, self._theme, "accent" if choice.is_seed_locked else "text")
        self._lock.setAccessibleName(
            "Unlock the seed" if choice.is_seed_locked else "Lock the seed"
        )
        self._lock.setToolTip(
            f"{_LOCKED}: click to unlock the seed."
            if choice.is_seed_locked
            else f"{_FREE}: click to lock this seed."
        )
        self._hint.setText(self._hint_text)

    @property
    def _hint_text(self) -> str:
        return _LOCKED if self._choice.is_seed_locked else _FREE


def _tool() -> QToolButton:
    button = QToolButton()
    em = button.fontMetrics().height()
    button.setIconSize(QSize(round(em * 1.15), round(em * 1.15)))
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    return button
