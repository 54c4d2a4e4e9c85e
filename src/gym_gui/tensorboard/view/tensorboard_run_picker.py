"""TensorBoardRunPicker: which runs one TensorBoard is to show side by side."""

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
from gym_gui.tensorboard.model.run_choice_list import RunChoiceList
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel

_TICKS = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)


class TensorBoardRunPicker(QWidget):
    """In the place of the page, until runs are opened or it is left (Esc)."""

    left = Signal()

    def __init__(self, model: TensorBoardModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._list = RunChoiceList(model.runs, self)
        em = self.fontMetrics().height()
        heading = QLabel("Open several runs in TensorBoard")
        heading.setProperty("role", "heading")
        words = QLabel("Runs without event files are exported first.")
        words.setProperty("role", "muted")
        words.setWordWrap(True)
        self._search = QLineEdit()
        self._search.setPlaceholderText("Filter runs")
        self._search.setAccessibleName("Filter runs")
        self._search.setClearButtonEnabled(True)
        self._view = _TickList(self._list)
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
        layout.addWidget(words)
        layout.addWidget(self._search)
        layout.addWidget(self._view, 1)
        layout.addLayout(buttons)
        self._search.textChanged.connect(self._list.only)
        self._list.chosen_changed.connect(self._show_count)
        self._open.clicked.connect(self._open_chosen)
        cancel.clicked.connect(self.left)
        self._show_count()

    def begin(self) -> None:
        """Anew, with the shown run ticked."""
        self._search.clear()
        shown = self._model.shown.run_id
        self._list.renew([shown] if shown else [])
        self._search.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _show_count(self) -> None:
        count = len(self._list.chosen)
        self._open.setText(f"Open {run_text.some_runs(count)}" if count else "Open")
        self._open.setEnabled(count > 0)
        self._open.setToolTip("" if count else "Tick at least one run")

    def _open_chosen(self) -> None:
        self._model.open_runs(self._list.chosen)
        self.left.emit()


class _TickList(QListView):
    """A click anywhere on a row ticks it, and so do Space and Enter."""

    def __init__(self, runs: RunChoiceList) -> None:
        super().__init__()
        self._runs = runs
        self.setModel(runs)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setAccessibleName("Runs to open")
        self.clicked.connect(lambda index: runs.toggle(index.row()))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in _TICKS and self.currentIndex().isValid():
            self._runs.toggle(self.currentIndex().row())
        else:
            super().keyPressEvent(event)
