"""RunPicker: which other run this one is compared with; typing finds it by any part of its name."""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QCompleter, QLineEdit, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.runtime.models import run_text
from gym_gui.widgets.style_popup import style_popup
from mosaic.contract.runs import RunRecord

_MOST_RUNS = 500
_CHOOSE = "Choose a run"


class RunPicker(QComboBox):
    """Filled when it is opened: runs come and go."""

    def __init__(self, model: RunPageModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName("Run to compare with")
        self.setToolTip("The run to compare with: those of the same environment come first")
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setMinimumContentsLength(20)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._line = QLineEdit()
        self._line.setPlaceholderText(_CHOOSE)
        self._line.setAccessibleName("Run to compare with")
        self.setLineEdit(self._line)
        finder = QCompleter(self.model(), self)
        finder.setFilterMode(Qt.MatchFlag.MatchContains)
        finder.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(finder)
        style_popup(finder, self._line)
        self.activated.connect(lambda index: model.compare_with(self.itemData(index) or ""))
        self._line.editingFinished.connect(self._choose_text)
        model.other_changed.connect(self._show_chosen)
        model.runs.runs_changed.connect(self._fill_if_seen)

    def _fill(self) -> None:
        candidates = self._model.candidates[:_MOST_RUNS]
        entries = [(called(run), run.run_id) for run in candidates]
        if entries == [(self.itemText(at), self.itemData(at)) for at in range(self.count())]:
            return
        with QSignalBlocker(self):
            self.clear()
            for text, run_id in entries:
                self.addItem(text, run_id)
        self._show_chosen()

    def _fill_if_seen(self) -> None:
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._fill()

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self._fill()
        super().showPopup()

    def _choose_text(self) -> None:
        """What was typed, once it is the whole name of a run; nothing typed: none."""
        index = self.findText(self._line.text())
        if index >= 0 or not self._line.text():
            self._model.compare_with(self.itemData(index) or "" if index >= 0 else "")

    def _show_chosen(self) -> None:
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(self._model.other_id))
            if self.currentIndex() < 0:
                self.clearEditText()
            else:
                self._line.setCursorPosition(0)


def called(run: RunRecord) -> str:
    """Its title, and what tells it from others of the same title."""
    return f"{run_text.title_of(run)} · {run_text.short_id(run.run_id)}"
