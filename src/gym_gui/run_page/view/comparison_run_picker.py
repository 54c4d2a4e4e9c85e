"""ComparisonRunPicker: a searchable list of runs to compare the selected run with."""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.runtime.models import run_text
from gym_gui.widgets.styling import style_popup
from mosaic.contract.runs import RunRecord

_MAX_RUNS = 500
_PLACEHOLDER = "Select a run"


class ComparisonRunPicker(QComboBox):
    """Shows `RunPageModel.candidates`. Filled when it is opened, because the runs change."""

    def __init__(self, model: RunPageModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName("Run to compare with")
        self.setToolTip("Run to compare with. Runs of the same environment come first.")
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMinimumContentsLength(20)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._line = QLineEdit()
        self._line.setPlaceholderText(_PLACEHOLDER)
        self._line.setAccessibleName("Run to compare with")
        self.setLineEdit(self._line)
        finder = QCompleter(self.model(), self)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(finder)
        style_popup(finder, self._line)
        self.activated.connect(lambda index: model.compare_with(self.itemData(index) or ""))
        self._line.editingFinished.connect(self._select_typed)
        model.other_changed.connect(self._show_selected)
        model.runs.runs_changed.connect(self._fill_if_visible)

    def _fill(self) -> None:
        candidates = self._model.candidates[:_MAX_RUNS]
        entries = [(_label(run), run.run_id) for run in candidates]
        if entries == [
            (self.itemText(index), self.itemData(index)) for index in range(self.count())
        ]:
            return
        with QSignalBlocker(self):
            self.clear()
            for text, run_id in entries:
                self.addItem(text, run_id)
        self._show_selected()

    def _fill_if_visible(self) -> None:
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._fill()

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self._fill()
        super().showPopup()

    def _select_typed(self) -> None:
        """Select the run whose label was typed; no text selects none."""
        index = self.findText(self._line.text())
        if index >= 0 or not self._line.text():
            self._model.compare_with(self.itemData(index) or "" if index >= 0 else "")

    def _show_selected(self) -> None:
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(self._model.other_id))
            if self.currentIndex() < 0:
                self.clearEditText()
            else:
                self._line.setCursorPosition(0)


def _label(run: RunRecord) -> str:
    """Title and short id, since titles may repeat."""
    return f"{run_text.title_of(run)} · {run_text.short_id(run.run_id)}"
