"""StudyPage: an Optuna study: its best trial, plots and all trials, while the sweep goes on."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.optuna.model.study_model import NO_STUDY, StudyModel
from gym_gui.optuna.view.study_bar import StudyBar
from gym_gui.optuna.view.study_best import StudyBest
from gym_gui.optuna.view.study_charts import StudyCharts
from gym_gui.optuna.view.trial_table import TrialTable
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, keep_icon
from gym_gui.widgets.segmented import SegmentedControl

_TALL_LINES = 30
"""Below so many lines of text table and plots take turns."""
_MOST_COMPARED = 20


class StudyPage(QWidget):
    """The file is looked at only while it is in sight."""

    run_wanted = Signal(str)
    compare_wanted = Signal(list)
    """Ids of runs."""

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.bar = StudyBar(model, theme)
        self.banner = Banner(theme)
        self.best = StudyBest(model, theme)
        self.charts = StudyCharts(model, theme)
        self.table = TrialTable(model.trials, theme)
        self.empty = EmptyState("table", "", "", theme)
        self.turns = SegmentedControl((("trials", "Trials"), ("plots", "Plots")), theme)
        self.chosen = ElidedLabel("muted")
        self.open_run = QPushButton("Open run")
        self.compare = QPushButton("Compare")
        self.copy = _tool("copy", "Copy the chosen trials (Ctrl+C)", theme)
        self.export = _tool("export", "Export all trials as CSV to the folder exports", theme)
        self._trials = QWidget()
        trials = QVBoxLayout(self._trials)
        trials.setContentsMargins(0, 0, 0, 0)
        trials.setSpacing(0)
        trials.addWidget(self.table, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.charts)
        self._splitter.addWidget(self._trials)
        self._splitter.setSizes([1000, 1000])  # half each, of whatever there is
        full = QWidget()
        inside = QVBoxLayout(full)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        card = QHBoxLayout()
        card.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, line // 3)
        card.addWidget(self.best)
        inside.addLayout(card)
        inside.addWidget(self._splitter, 1)
        inside.addLayout(self._foot(line))
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(full)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self.banner)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def _foot(self, line: int) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setContentsMargins(line * 3 // 4, line // 3, line * 3 // 4, line // 3)
        foot.setSpacing(line // 2)
        foot.addWidget(self.turns)
        foot.addWidget(self.chosen, 1)
        for widget in (self.open_run, self.compare, self.copy, self.export):
            foot.addWidget(widget)
        return foot

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        self.bar.opened.connect(model.open_database)
        self.best.run_wanted.connect(self.run_wanted)
        self.best.trials_wanted.connect(self.choose_trials)
        self.charts.picked.connect(lambda number: self.choose_trials([number]))
        self.turns.chosen.connect(lambda _: self._take_turns())
        self.table.chosen_changed.connect(self._update_chosen)
        self.table.trial_activated.connect(self._open_row)
        self.table.copy_wanted.connect(self._copy)
        self.open_run.clicked.connect(self._open_chosen)
        self.compare.clicked.connect(lambda: self.compare_wanted.emit(self._chosen_runs()))
        self.copy.clicked.connect(self._copy)
        self.export.clicked.connect(model.export)
        self.empty.acted.connect(model.retry)

    # What a person does.

    def choose_trials(self, numbers: list[int]) -> None:
        rows = [row for each in numbers if (row := self._model.trials.row_of(each)) is not None]
        self.table.choose_rows(rows)

    def _chosen_runs(self) -> list[str]:
        trials = [self._model.trials.trial(row) for row in self.table.chosen_rows()]
        return [run for trial in trials for run in self._model.runs_of(trial)]

    def _open_row(self, row: int) -> None:
        runs = self._model.runs_of(self._model.trials.trial(row))
        if runs:
            self.run_wanted.emit(runs[0])

    def _open_chosen(self) -> None:
        runs = self._chosen_runs()
        if runs:
            self.run_wanted.emit(runs[0])

    def _copy(self) -> None:
        rows = self._model.trials.as_rows(self.table.chosen_rows() or None)
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    # What it shows.

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_in_sight(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_in_sight(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._take_turns()

    def _take_turns(self) -> None:
        is_tall = self.height() >= self.fontMetrics().height() * _TALL_LINES
        shows_plots = self.turns.current == "plots"
        self.turns.setVisible(not is_tall)
        self._trials.setVisible(is_tall or not shows_plots)
        self.charts.setVisible(is_tall or shows_plots)

    def _update(self) -> None:
        model, is_ready = self._model, self._model.phase == "ready"
        self.bar.update_bar()
        if is_ready:
            self.best.update_best()
            self.charts.update_charts()
            self._update_chosen()
        else:
            self.empty.say(*self._words())
        self._stack.setCurrentIndex(1 if is_ready else 0)
        problem = model.problem if is_ready else None
        if problem is None:
            self.banner.clear()
        elif problem.message not in self.banner.message:
            said = f"{problem.message} The trials are as they were read last."
            self.banner.say(said, "warning", [("Try again", model.retry)])

    def _update_chosen(self) -> None:
        rows, runs = self.table.chosen_rows(), self._chosen_runs()
        count = self._model.trials.rowCount()
        self.chosen.say(f"{len(rows)} of {count} chosen" if rows else f"{count} trials")
        self.charts.mark(frozenset(self._model.trials.trial(row).number for row in rows))
        none = "Choose a trial first" if not rows else "Nothing is noted of the runs that tried it"
        self.open_run.setEnabled(bool(runs))
        self.open_run.setToolTip("Open the run of the first chosen trial" if runs else none)
        can_compare = 2 <= len(runs) <= _MOST_COMPARED
        self.compare.setEnabled(can_compare)
        too_many = len(runs) > _MOST_COMPARED
        why = (
            f"At most {_MOST_COMPARED} runs can be compared"
            if too_many
            else ("Choose two or more trials whose runs are known")
        )
        self.compare.setToolTip("Draw the curves of these runs together" if can_compare else why)

    def _words(self) -> tuple[str, str, str]:
        model = self._model
        match model.phase:
            case "none":
                return ("No run is shown", "Choose a sweep in the list, or open a database.", "")
            case "loading":
                return ("Reading the study", "", "")
            case "waiting":
                return ("No study yet", "It appears as soon as the sweep has begun one.", "")
            case "failed":
                said = f"{model.problem.message} {model.problem.remedy}" if model.problem else ""
                return ("The study cannot be read", said, "Try again")
        return (
            NO_STUDY,
            "Sweeps are started with the command “mosaic sweep”. Or open a database of Optuna.",
            "",
        )


def _tool(icon: IconName, tip: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    keep_icon(button, icon, theme, "muted")
    return button
