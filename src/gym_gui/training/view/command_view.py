"""CommandView: the command that a run would start, to be read and copied."""

import shlex

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.training.model.training_readiness import TrainingReadiness
from gym_gui.training.view.launch_bar import breakable
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_NOT_YET = "Known once preflight has answered."


class CommandView(QFrame):
    def __init__(self, model: TrainingReadiness, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self.setProperty("role", "card")
        self._command = QLabel()
        self._command.setProperty("role", "mono")
        self._command.setWordWrap(True)
        self._command.setAccessibleName("Command of the run")
        self._command.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._copy = QPushButton("Copy command")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        layout.setSpacing(em // 2)
        layout.addWidget(self._command)
        layout.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignLeft)
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._text()))
        model.changed.connect(self._show)
        self._show()

    def _text(self) -> str:
        return shlex.join(self._model.report.command) if self._model.report else ""

    def _show(self) -> None:
        text = self._text()
        self._command.setText(breakable(text) or _NOT_YET)
        set_disabled_reason(self._copy, "" if text else _NOT_YET)
