"""TensorBoardRunPicker: select the runs to open in one TensorBoard."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models import run_text
from gym_gui.tensorboard.model.run_check_list import RunCheckList
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel

_TOGGLE_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TensorBoardRunPicker(QWidget):
    """Replaces the page until runs are opened or it is closed (Esc)."""

    closed = Signal()

    def __init__(self, model: TensorBoardModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._list = RunCheckList(model.runs, self)
        em = self.fontMetrics().height()
        heading = QLabel("Open several runs in TensorBoard")
        heading.setProperty("role", "heading")
        hint = QLabel("Runs without event files are exported first.")
        hint.setProperty("role", "muted")
        hint.setWordWrap(True)
        self._search = QLineEdit()
        self._search.setPlaceholderText("Filter runs")
        self._search.setAccessibleName("Filter runs")
        self._search.setClearButtonEnabled(True)
        self._view = _CheckList(self._list)
        self._open = QPushButton()
        self._open.setProperty("role", "primary")
        cancel = QPushButton("Cancel")
        buttons = QHBoxLayout()
        buttons.setSpacing(em // 2)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._open)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em, em * 2 // 3, em, em * 2 // 3)
        layout.setSpacing(em // 2)
        layout.addWidget(heading)
        layout.addWidget(hint)
        layout.addWidget(self._search)
        layout.addWidget(self._view, 1)
        layout.addLayout(buttons)
        self._search.textChanged.connect(self._list.set_filter)
        self._list.checked_changed.connect(self._show_count)
        self._open.clicked.connect(self._open_checked)
        cancel.clicked.connect(self.closed)
        self._show_count()

    def start(self) -> None:
        """Reset the list and check the selected run."""
        self._search.clear()
        run_id = self._model.selected.run_id
        self._list.reset([run_id] if run_id else [])
        self._search.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _show_count(self) -> None:
        count = len(self._list.checked)
        self._open.setText(f"Open {run_text.run_count(count)}" if count else "Open")
        self._open.setEnabled(count > 0)
        self._open.setToolTip("" if count else "Check at least one run")

    def _open_checked(self) -> None:
        self._model.open_runs(self._list.checked)
        self.closed.emit()


class _CheckList(QListView):
    """A click on a row, Space or Enter toggles its check box."""

    def __init__(self, runs: RunCheckList) -> None:
        super().__init__()
        self._runs = runs
        self.setModel(runs)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setAccessibleName("Runs to open")
        self.clicked.connect(lambda index: runs.toggle(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in _TOGGLE_KEYS and self.currentIndex().isValid():
            self._runs.toggle(self.currentIndex().row())
        else:
            super().keyPressEvent(event)
