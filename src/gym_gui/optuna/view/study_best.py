"""StudyBest: the best trial, or the Pareto front."""

import json

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.optuna.model.study_model import StudyModel, StudyTrial
from gym_gui.runtime.models.formatting import format_significant, format_value
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.labels import ElidedLabel

_NO_RUN = "The run of this trial is unknown"


class StudyBest(QFrame):
    """Shows `StudyModel.best` as a card of two lines."""

    run_requested = Signal(str)
    trials_requested = Signal(list)
    """Numbers of trials to select in the table."""

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setProperty("role", "card")
        line = self.fontMetrics().height()
        self._title = QLabel()
        self._value = QLabel()
        self._value.setProperty("role", "heading")
        self._about = ElidedLabel("muted")
        self._params = ElidedLabel("muted")
        self.show_in_table = QPushButton("Show in table")
        self.open = QPushButton("Open run")
        self._copy = CopyButton("Copy the parameters as JSON", self._params_json, theme)
        top = QHBoxLayout()
        top.setSpacing(line // 2)
        top.addWidget(self._title)
        top.addWidget(self._value)
        top.addWidget(self._about, 1)
        for widget in (self._copy, self.show_in_table, self.open):
            top.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 2 // 3, line // 3, line // 2, line // 2)
        layout.setSpacing(line // 6)
        layout.addLayout(top)
        layout.addWidget(self._params)
        self.show_in_table.clicked.connect(
            lambda: self.trials_requested.emit([trial.number for trial in model.best])
        )
        self.open.clicked.connect(self._open)

    def update_best(self) -> None:
        study, best = self._model.study, self._model.best
        several = study is not None and len(study.directions) > 1
        for widget in (self._copy, self.show_in_table, self.open, self._params):
            widget.setVisible(bool(best))
        self._value.setVisible(bool(best) and not several)
        if study is None or not best:
            self._title.setText("No complete trial yet")
            self._about.show_text("")
            return
        if several:
            self._show_front(best)
        else:
            self._show_one(best[0], study.directions[0])

    def _show_front(self, best: tuple[StudyTrial, ...]) -> None:
        trials = "1 trial is" if len(best) == 1 else f"{len(best)} trials are"
        self._title.setText(f"★ {trials} on the Pareto front")
        self._about.show_text("no other trial is better in all objectives")
        numbers = (f"{trial.number} ({_values(trial)})" for trial in best)
        self._params.show_text(" · ".join(numbers))
        self.open.hide()
        self._copy.hide()

    def _show_one(self, trial: StudyTrial, direction: str) -> None:
        self._title.setText(f"★ Best, trial {trial.number}")
        self._value.setText(_values(trial))
        self._about.show_text("highest value" if direction == "maximize" else "lowest value")
        pairs = (f"{name} {format_value(value)}" for name, value in trial.params.items())
        self._params.show_text(" · ".join(pairs))
        runs = self._model.runs_of(trial)
        self.open.setEnabled(bool(runs))
        self.open.setToolTip("Open the run of the best trial" if runs else _NO_RUN)

    def _open(self) -> None:
        runs = self._model.runs_of(self._model.best[0]) if self._model.best else ()
        if runs:
            self.run_requested.emit(runs[0])

    def _params_json(self) -> str:
        best = self._model.best
        return json.dumps(best[0].params, indent=2, ensure_ascii=False) if best else ""


def _values(trial: StudyTrial) -> str:
    return ", ".join(map(format_significant, trial.values))
