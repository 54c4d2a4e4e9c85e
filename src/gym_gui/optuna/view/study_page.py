"""StudyPage: the Optuna tab: best trial, plots and all trials of a study."""

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.optuna.model.study_model import NO_STUDY, ReadStudy, StudyModel, StudyTrial
from gym_gui.optuna.model.trials_table import TrialState
from gym_gui.optuna.view.study_charts import StudyCharts
from gym_gui.optuna.view.trial_table import TrialTable
from gym_gui.runtime.models.formatting import format_integer, format_significant, format_value
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.buttons import CopyButton, SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel

_STATES: tuple[TrialState, ...] = ("complete", "running", "waiting", "pruned", "failed", "stopped")
_NO_RUN = "The run of this trial is unknown"
_OPEN = "Open database…"
_WIDE_BAR_LINES = 40
_FILES = "Optuna databases (*.db *.sqlite *.sqlite3);;All files (*)"


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


class StudyBar(QWidget):
    """Name, direction and counts of the study; opens databases. Shows `StudyModel`."""

    opened = Signal(str)

    def __init__(self, model: StudyModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.name = ElidedLabel("heading")
        self.studies = QComboBox()
        self.studies.setAccessibleName("Study")
        self.studies.setToolTip("Studies in this file")
        self.studies.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.studies.setMinimumContentsLength(10)
        self.direction = Badge("", "plain", theme)
        self.counts = ElidedLabel("muted")
        self.back = QPushButton("Back to run")
        self.back.setToolTip("Show the study of the selected run")
        self.open = QPushButton(_OPEN)
        self.open.setAccessibleName("Open database")
        self.open.setToolTip("Open an Optuna database: any SQLite file such as optuna.db")
        set_icon(self.open, "folder", theme, "muted")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 3)
        layout.setSpacing(line // 2)
        layout.addWidget(self.name, 2)
        layout.addWidget(self.studies, 2)
        layout.addWidget(self.direction)
        layout.addWidget(self.counts, 3)
        layout.addWidget(self.back)
        layout.addWidget(self.open)
        self.studies.textActivated.connect(model.select_study)
        self.back.clicked.connect(model.close_database)
        self.open.clicked.connect(self._select_file)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """In a narrow bar the button has no text."""
        super().resizeEvent(event)
        is_narrow = self.width() < self.fontMetrics().height() * _WIDE_BAR_LINES
        self.open.setText("" if is_narrow else _OPEN)

    def update_bar(self) -> None:
        model, read = self._model, self._model.read
        study = read.study if read else None
        names = list(model.names)
        if names != [self.studies.itemText(index) for index in range(self.studies.count())]:
            self.studies.clear()
            self.studies.addItems(names)
        self.studies.setVisible(len(names) > 1)
        self.name.setVisible(len(names) <= 1)
        self.direction.setVisible(study is not None)
        self.back.setVisible(model.is_opened)
        if read is None or study is None:
            self.name.show_text(
                model.path.name if model.is_opened and model.path else "Optuna trials"
            )
            self.counts.show_text("")
            return
        self.name.show_text(study.name)
        self.studies.setCurrentText(study.name)
        directions = " · ".join(study.directions) or "no objective"
        self.direction.show_text(directions)
        self.direction.setToolTip(directions)
        counts = _counted(read)
        self.counts.show_text(counts)
        self.counts.setToolTip(f"{counts}\n{model.path}")

    def _select_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open Optuna database", "", _FILES)
        if path:
            self.opened.emit(path)


def _counted(read: ReadStudy) -> str:
    """`50 complete · 3 failed`."""
    known = [(state, read.counts.get(state, 0)) for state in _STATES]
    return (
        " · ".join(f"{format_integer(count)} {state}" for state, count in known if count)
        or "no trials"
    )


_TALL_LINES = 30
"""Minimum height, in lines, to show table and plots together."""
_MAX_COMPARED = 20


class StudyPage(QWidget):
    """Shows `StudyModel`. The file is polled only while the page is visible."""

    run_requested = Signal(str)
    compare_requested = Signal(list)
    """Run ids."""

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
        self.view_switch = SegmentedControl((("trials", "Trials"), ("plots", "Plots")), theme)
        self.selection = ElidedLabel("muted")
        self.open_run = QPushButton("Open run")
        self.compare = QPushButton("Compare")
        self.copy = _tool("copy", "Copy selected trials (Ctrl+C)", theme)
        self.export = _tool("export", "Export all trials as CSV", theme)
        self._trials = QWidget()
        trials = QVBoxLayout(self._trials)
        trials.setContentsMargins(0, 0, 0, 0)
        trials.setSpacing(0)
        trials.addWidget(self.table, 1)
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.charts)
        self._splitter.addWidget(self._trials)
        self._splitter.setSizes([1000, 1000])  # equal halves
        full = QWidget()
        inside = QVBoxLayout(full)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(0)
        card = QHBoxLayout()
        card.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, line // 3)
        card.addWidget(self.best)
        inside.addLayout(card)
        inside.addWidget(self._splitter, 1)
        inside.addLayout(self._make_footer(line))
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

    def _make_footer(self, line: int) -> QHBoxLayout:
        footer = QHBoxLayout()
        footer.setContentsMargins(line * 3 // 4, line // 3, line * 3 // 4, line // 3)
        footer.setSpacing(line // 2)
        footer.addWidget(self.view_switch)
        footer.addWidget(self.selection, 1)
        for widget in (self.open_run, self.compare, self.copy, self.export):
            footer.addWidget(widget)
        return footer

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        self.bar.opened.connect(model.open_database)
        self.best.run_requested.connect(self.run_requested)
        self.best.trials_requested.connect(self.select_trials)
        self.charts.trial_clicked.connect(lambda number: self.select_trials([number]))
        self.view_switch.activated.connect(lambda _: self._update_layout())
        self.table.row_selection_changed.connect(self._update_selection)
        self.table.trial_activated.connect(self._open_row)
        self.table.copy_requested.connect(self._copy)
        self.open_run.clicked.connect(self._open_selected)
        self.compare.clicked.connect(lambda: self.compare_requested.emit(self._selected_runs()))
        self.copy.clicked.connect(self._copy)
        self.export.clicked.connect(model.export)
        self.empty.action_triggered.connect(model.retry)

    # Commands.

    def select_trials(self, numbers: list[int]) -> None:
        rows = [row for number in numbers if (row := self._model.trials.row_of(number)) is not None]
        self.table.select_rows(rows)

    def _selected_runs(self) -> list[str]:
        trials = [self._model.trials.trial(row) for row in self.table.selected_rows()]
        return [run for trial in trials for run in self._model.runs_of(trial)]

    def _open_row(self, row: int) -> None:
        runs = self._model.runs_of(self._model.trials.trial(row))
        if runs:
            self.run_requested.emit(runs[0])

    def _open_selected(self) -> None:
        runs = self._selected_runs()
        if runs:
            self.run_requested.emit(runs[0])

    def _copy(self) -> None:
        rows = self._model.trials.as_rows(self.table.selected_rows() or None)
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    # Display.

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_page_visible(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_page_visible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._update_layout()

    def _update_layout(self) -> None:
        is_tall = self.height() >= self.fontMetrics().height() * _TALL_LINES
        shows_plots = self.view_switch.current == "plots"
        self.view_switch.setVisible(not is_tall)
        self._trials.setVisible(is_tall or not shows_plots)
        self.charts.setVisible(is_tall or shows_plots)

    def _update(self) -> None:
        model, is_ready = self._model, self._model.phase == "ready"
        self.bar.update_bar()
        if is_ready:
            self.best.update_best()
            self.charts.update_charts()
            self._update_selection()
        else:
            self.empty.show_message(*self._empty_text())
        self._stack.setCurrentIndex(1 if is_ready else 0)
        problem = model.problem if is_ready else None
        if problem is None:
            self.banner.clear()
        elif problem.message not in self.banner.message:
            message = f"{problem.message} Showing the last trials that were read."
            self.banner.show_message(message, "warning", [("Try again", model.retry)])

    def _update_selection(self) -> None:
        rows, runs = self.table.selected_rows(), self._selected_runs()
        count = self._model.trials.rowCount()
        self.selection.show_text(f"{len(rows)} of {count} selected" if rows else f"{count} trials")
        self.charts.mark(frozenset(self._model.trials.trial(row).number for row in rows))
        reason_without_run = (
            "Select a trial first" if not rows else "The runs of these trials are unknown"
        )
        self.open_run.setEnabled(bool(runs))
        self.open_run.setToolTip(
            "Open the run of the first selected trial" if runs else reason_without_run
        )
        can_compare = 2 <= len(runs) <= _MAX_COMPARED
        self.compare.setEnabled(can_compare)
        too_many = len(runs) > _MAX_COMPARED
        reason = (
            f"At most {_MAX_COMPARED} runs can be compared"
            if too_many
            else "Select two or more trials with known runs"
        )
        self.compare.setToolTip("Compare the curves of these runs" if can_compare else reason)

    def _empty_text(self) -> tuple[str, str, str]:
        model = self._model
        match model.phase:
            case "none":
                return (
                    "No run selected",
                    "Select a sweep in the run list, or open a database.",
                    "",
                )
            case "loading":
                return ("Reading the study", "", "")
            case "waiting":
                return ("No study yet", "It appears when the sweep creates one.", "")
            case "failed":
                message = f"{model.problem.message} {model.problem.remedy}" if model.problem else ""
                return ("The study cannot be read", message, "Try again")
        return (
            NO_STUDY,
            "Start sweeps with “mosaic sweep”, or open an Optuna database.",
            "",
        )


def _tool(icon: IconName, tip: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    set_icon(button, icon, theme, "muted")
    return button
