"""TrainingArea: where an agent comes from: one that was trained, or one to be trained.

Shown in Hybrid and Agent mode only.
"""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.elements.icons import keep_icon
from gym_gui.views.elements.segmented import SegmentedControl
from mosaic.envs.entries import EnvironmentEntry

TRAINED = "trained"
NEW = "new"


class TrainingArea(QWidget):
    """*Use trained* leaves the choice to the actors; *Train new* has the command that trains."""

    part_changed = Signal(str)

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.part = TRAINED
        self._switch = SegmentedControl([(TRAINED, "Use trained"), (NEW, "Train new")], theme)
        self._switch.setAccessibleName("Where the agent comes from")
        self._command = QLabel()
        self._copy = QToolButton()
        self.new = self._training_by_command(theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self.fontMetrics().height() // 2)
        layout.addWidget(self._switch)
        layout.addWidget(self.new)
        self._switch.chosen.connect(self.show_part)
        self.new.setVisible(False)

    def show_environment(self, entry: EnvironmentEntry) -> None:
        algorithm = _algorithm_for(entry)
        self._command.setText(
            f"mosaic train cleanrl_worker --algo {algorithm} --env {entry.env_id}"
        )
        self._copy.setToolTip("Copy the command")

    def show_part(self, part: str) -> None:
        self.part = part
        self._switch.choose(part)
        self.new.setVisible(part == NEW)
        self.part_changed.emit(part)

    def _training_by_command(self, theme: ThemeModel) -> QWidget:
        em = self.fontMetrics().height()
        words = QLabel(
            "Train from a terminal. The run appears under Runs at once, and what it saves becomes"
            " an actor here."
        )
        words.setWordWrap(True)
        words.setProperty("role", "muted")
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._command.setAccessibleName("Command that trains an agent")
        self._copy.setIconSize(QSize(round(em * 1.15), round(em * 1.15)))
        self._copy.setCursor(Qt.CursorShape.PointingHandCursor)
        keep_icon(self._copy, "copy", theme)
        self._copy.setAccessibleName("Copy the command")
        self._copy.setToolTip("Copy the command")
        self._copy.clicked.connect(self._copy_command)
        card = QFrame()
        card.setProperty("role", "card")
        line = QHBoxLayout(card)
        line.setContentsMargins(em // 2, em // 2, em // 4, em // 2)
        line.setSpacing(em // 4)
        line.addWidget(self._command, 1)
        line.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignTop)
        part = QWidget()
        layout = QVBoxLayout(part)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 3)
        layout.addWidget(words)
        layout.addWidget(card)
        return part

    def _copy_command(self) -> None:
        QGuiApplication.clipboard().setText(self._command.text())
        self._copy.setToolTip("Copied")


def _algorithm_for(entry: EnvironmentEntry) -> str:
    """The variant of PPO that takes such observations and actions."""
    if entry.family == "atari":
        return "ppo_atari"
    return "ppo_continuous_action" if entry.action_kind == "continuous" else "ppo"
