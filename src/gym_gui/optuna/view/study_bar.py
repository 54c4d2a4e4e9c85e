"""StudyBar: which study it is, how far it is, and where else one may be read from."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QPushButton, QWidget

from gym_gui.optuna.model.study_model import ReadStudy, StudyModel
from gym_gui.optuna.model.trials_table import TrialState
from gym_gui.runtime.models.run_text import whole
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import keep_icon

_STATES: tuple[TrialState, ...] = ("complete", "running", "waiting", "pruned", "failed", "stopped")
_OPEN = "Open a database…"
_WIDE_LINES = 40
_FILES = "Optuna databases (*.db *.sqlite *.sqlite3);;All files (*)"


class StudyBar(QWidget):
    """Always there, so that a database can be opened also where a run has none."""

    opened = Signal(str)

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.name = ElidedLabel("heading")
        self.studies = QComboBox()
        self.studies.setAccessibleName("Study")
        self.studies.setToolTip("The file holds several studies")
        self.studies.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.studies.setMinimumContentsLength(10)
        self.direction = Badge("", "plain", theme)
        self.counts = ElidedLabel("muted")
        self.back = QPushButton("Back to the run")
        self.back.setToolTip("Show the study of the run again")
        self.open = QPushButton(_OPEN)
        self.open.setAccessibleName("Open a database")
        self.open.setToolTip("Open a database: any SQLite file of Optuna, such as optuna.db")
        keep_icon(self.open, "folder", theme, "muted")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 3)
        layout.setSpacing(line // 2)
        layout.addWidget(self.name, 2)
        layout.addWidget(self.studies, 2)
        layout.addWidget(self.direction)
        layout.addWidget(self.counts, 3)
        layout.addWidget(self.back)
        layout.addWidget(self.open)
        self.studies.textActivated.connect(model.choose)
        self.back.clicked.connect(model.close_database)
        self.open.clicked.connect(self._ask)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """In a narrow place the counts are worth more than the words of a button."""
        super().resizeEvent(event)
        is_narrow = self.width() < self.fontMetrics().height() * _WIDE_LINES
        self.open.setText("" if is_narrow else _OPEN)

    def update_bar(self) -> None:
        model, read = self._model, self._model.read
        study = read.study if read else None
        names = list(model.names)
        if names != [self.studies.itemText(at) for at in range(self.studies.count())]:
            self.studies.clear()
            self.studies.addItems(names)
        self.studies.setVisible(len(names) > 1)
        self.name.setVisible(len(names) <= 1)
        self.direction.setVisible(study is not None)
        self.back.setVisible(model.is_opened)
        if read is None or study is None:
            self.name.say(model.path.name if model.is_opened and model.path else "Optuna trials")
            self.counts.say("")
            return
        self.name.say(study.name)
        self.studies.setCurrentText(study.name)
        directions = " · ".join(study.directions) or "no objective"
        self.direction.show_text(directions)
        self.direction.setToolTip(directions)
        counts = _counted(read)
        self.counts.say(counts)
        self.counts.setToolTip(f"{counts}\n{model.path}")

    def _ask(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open a database of Optuna", "", _FILES)
        if path:
            self.opened.emit(path)


def _counted(read: ReadStudy) -> str:
    """`50 complete · 3 failed`."""
    known = [(state, read.counts.get(state, 0)) for state in _STATES]
    return " · ".join(f"{whole(count)} {state}" for state, count in known if count) or "no trials"
