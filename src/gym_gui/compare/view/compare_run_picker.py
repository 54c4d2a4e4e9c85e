"""CompareRunPicker: a list of all runs to check for comparison. Shows `CompareChoice`."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gym_gui.compare.model.compare_choice import MAX_RUNS, ChoiceColumn, CompareChoice
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState

_MIN_RUNS = 2
_HINT = "Check two or more runs to compare their curves."


class CompareRunPicker(QWidget):
    """Space or a click checks a run."""

    compared = Signal()
    cancelled = Signal()

    def __init__(
        self, choice: CompareChoice, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._choice = choice
        line = self.fontMetrics().height()
        title = QLabel("Compare runs")
        title.setProperty("role", "heading")
        self._hint = QLabel(_HINT)
        self._hint.setProperty("role", "muted")
        self._hint.setWordWrap(True)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a run")
        self.search.setAccessibleName("Find a run")
        self.search.setClearButtonEnabled(True)
        self.table = _Table(choice)
        self._empty = EmptyState("runs", "No runs yet", "Train two runs to compare them.", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._empty)
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        self.cancel = QPushButton("Cancel")
        self.compare = QPushButton("Compare")
        self.compare.setProperty("role", "primary")
        footer = QHBoxLayout()
        footer.addWidget(self._count, 1)
        footer.addWidget(self.cancel)
        footer.addWidget(self.compare)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line * 3 // 4, line, line * 3 // 4)
        layout.setSpacing(line // 2)
        for widget in (title, self._hint, self.search):
            layout.addWidget(widget)
        layout.addWidget(self._stack, 1)
        layout.addLayout(footer)
        self.search.textChanged.connect(choice.search)
        self.compare.clicked.connect(self.compared)
        self.cancel.clicked.connect(self.cancelled)
        choice.chosen_changed.connect(self._update)
        choice.modelReset.connect(self._update)
        self._update()

    def show_state(self, hint: str, *, can_cancel: bool) -> None:
        self._hint.setText(hint or _HINT)
        self.cancel.setVisible(can_cancel)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._choice.set_visible(True)
        self._update()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._choice.set_visible(False)

    def _update(self) -> None:
        count = len(self._choice.chosen)
        is_enough = count >= _MIN_RUNS
        self.compare.setEnabled(is_enough)
        self.compare.setText(f"Compare {count} runs" if is_enough else "Compare")
        self.compare.setToolTip("" if is_enough else "Check at least two runs.")
        text = "1 run checked" if count == 1 else f"{count} runs checked"
        if self._choice.is_full:
            text = f"{MAX_RUNS} runs checked, the maximum"
        self._count.setText(text)
        is_searched = bool(self.search.text())
        if not self._choice.rowCount():
            if self._choice.has_runs and is_searched:
                self._empty.show_message("No matching run", "No run matches the search.")
            else:
                self._empty.show_message("No runs yet", "Train two runs to compare them.")
        self._stack.setCurrentIndex(0 if self._choice.rowCount() else 1)


class _Table(QTableView):
    """A click anywhere in a row checks it."""

    def __init__(self, choice: CompareChoice) -> None:
        super().__init__()
        self._choice = choice
        self.setModel(choice)
        self.setAccessibleName("Runs to compare")
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        line = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(round(line * 1.9))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(ChoiceColumn.RUN, QHeaderView.ResizeMode.Stretch)
        self.setColumnWidth(ChoiceColumn.ENVIRONMENT, line * 9)
        self.setColumnWidth(ChoiceColumn.STATE, line * 6)
        self.setColumnWidth(ChoiceColumn.RETURN, line * 5)
        self.clicked.connect(self._on_clicked)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Space and self.currentIndex().isValid():
            self._toggle(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        # The check box in the first column handles its clicks.
        if index.column() != ChoiceColumn.RUN:
            self._toggle(index.row())

    def _toggle(self, row: int) -> None:
        run_id = self._choice.run_id(row)
        self._choice.toggle(run_id, run_id not in self._choice.chosen)
