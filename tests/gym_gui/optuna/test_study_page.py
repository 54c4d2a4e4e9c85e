"""The page of an Optuna study: any database, what a person does with it, and no daemon at all."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.optuna.model.study_model import StudyModel
from gym_gui.optuna.view.study_page import StudyPage
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.study_writing import add_trial, new_study


@pytest.fixture
def link(tmp_path: Path) -> TrainerLink:
    """Never opened: a study needs no daemon."""
    return TrainerLink(Home(tmp_path / "home"))


@pytest.fixture
def shown(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices
) -> Iterator[SelectedRun]:
    runs = RunsModel(link, tasks, pulse, notices)
    yield SelectedRun(link, tasks, runs)
    runs.close()
    assert runs.join(10)


@pytest.fixture
def model(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices, shown: SelectedRun
) -> Iterator[StudyModel]:
    made = StudyModel(link, tasks, pulse, notices, shown)
    yield made
    made.close()
    assert made.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: StudyModel, theme: ThemeModel) -> StudyPage:
    made = StudyPage(model, theme)
    qtbot.addWidget(made)
    made.resize(750, 560)
    made.show()
    return made


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Twelve trials that a sweep of ours could have made."""
    path = tmp_path / "any.db"
    new_study(path, "small")
    for number in range(12):
        add_trial(
            path,
            number,
            float(number % 5),
            params={"rate": 0.001 * (number + 1), "kind": "ab"[number % 2]},
            attributes={"runs": [f"run-{number}"]} if number != 3 else None,
        )
    return path


def _said(page: QWidget) -> str:
    return " | ".join(each.text() for each in page.findChildren(QLabel) if each.isVisible())


def test_any_database_can_be_opened(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path
) -> None:
    """Several studies to pick from; trials that come are shown; back to the run it goes."""
    assert "No run is shown" in _said(page)
    assert not page.bar.back.isVisible()
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: model.trials.rowCount() == 12, timeout=PATIENCE_MS)
    assert "Best, trial 4" in _said(page)
    add_trial(study, 12, 50.0)
    qtbot.waitUntil(lambda: "Best, trial 12" in _said(page), timeout=PATIENCE_MS)
    new_study(study, "goals", ("MAXIMIZE", "MINIMIZE"))
    add_trial(study, 0, 1.0, 2.0, study=2, params={"x": 1})
    add_trial(study, 1, 2.0, 3.0, study=2, params={"x": 2})
    qtbot.waitUntil(page.bar.studies.isVisible, timeout=PATIENCE_MS)
    assert model.names == ("small", "goals")
    page.bar.studies.textActivated.emit("goals")
    assert "2 trials are on the Pareto front" in _said(page)
    assert page.charts.objective.isVisible()
    page.best.choose.click()
    assert page.table.chosen_rows() == [0, 1]
    page.bar.back.click()
    qtbot.waitUntil(lambda: "No run is shown" in _said(page), timeout=PATIENCE_MS)


def test_what_a_person_does_with_trials(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path, notices: Notices
) -> None:
    """Sort by a heading, open and compare runs, copy, export; what cannot be done says why."""
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: model.trials.rowCount() == 12, timeout=PATIENCE_MS)
    head = page.table.horizontalHeader()
    place = QPoint(head.sectionViewportPosition(2) + head.sectionSize(2) // 2, 5)
    QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert model.trials.trial(0).number == 4
    assert not page.open_run.isEnabled()
    assert "Choose a trial" in page.open_run.toolTip()
    page.choose_trials([3])
    assert "Nothing is noted" in page.open_run.toolTip()
    page.choose_trials([4, 9])
    with qtbot.waitSignal(page.compare_wanted) as wanted:
        page.compare.click()
    assert wanted.args == [["run-4", "run-9"]]
    with qtbot.waitSignal(page.run_wanted) as opened:
        page.best.open.click()
    assert opened.args == ["run-4"]
    page.copy.click()
    assert QApplication.clipboard().text().splitlines()[1].startswith("4\tcomplete\t4.0\t30.000")
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    page.export.click()
    qtbot.waitUntil(lambda: bool(posted), timeout=PATIENCE_MS)
    with (model.exports.folder / "small trials.csv").open() as file:
        assert list(csv.reader(file)) == model.trials.as_rows()


def test_plots_and_importance(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path, theme: ThemeModel
) -> None:
    """Each is drawn when it is looked at; a point chooses its trial; a bar leads to its plot."""
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: page.charts.history is not None, timeout=PATIENCE_MS)
    history = page.charts.history
    assert history is not None
    with qtbot.waitSignal(history.picked):
        history.picked.emit(7)
    assert [model.trials.trial(row).number for row in page.table.chosen_rows()] == [7]
    page.charts.which.choose("importance")
    page.charts.update_charts()
    assert page.charts.importance.bars.isVisible()
    assert "Kruskal-Wallis" in _said(page)
    page.charts.importance.bars.param_chosen.emit("rate")
    assert page.charts.which.current == "parameter"
    assert page.charts.param.currentText() == "rate"
    assert "logarithmic" in _said(page)
    page.charts.show_param("kind")
    assert "by kind" in _said(page)
    theme.choose("dark")
    page.grab()
    page.resize(480, 400)
    assert page.turns.isVisible()
    assert page.table.isVisible()
    assert not page.charts.isVisible()


def test_too_few_trials_and_broken_files(
    qtbot: QtBot, page: StudyPage, model: StudyModel, tmp_path: Path
) -> None:
    """What cannot be said is explained; a file that is none says so, and can be tried again."""
    few = tmp_path / "few.db"
    new_study(few)
    page.bar.opened.emit(str(few))
    qtbot.waitUntil(lambda: "No trial is complete yet" in _said(page), timeout=PATIENCE_MS)
    add_trial(few, 0, 1.0)
    page.charts.which.choose("importance")
    qtbot.waitUntil(lambda: "there is 1" in _said(page), timeout=PATIENCE_MS)
    broken = tmp_path / "broken.db"
    broken.write_text("no database")
    page.bar.opened.emit(str(broken))
    qtbot.waitUntil(lambda: "The study cannot be read" in _said(page), timeout=PATIENCE_MS)
    assert "is not a SQLite file" in _said(page)
    page.empty.acted.emit()
    qtbot.waitUntil(lambda: "The study cannot be read" in _said(page), timeout=PATIENCE_MS)
    broken.unlink()
    new_study(broken, "mended")
    page.empty.acted.emit()
    qtbot.waitUntil(lambda: model.names == ("mended",), timeout=PATIENCE_MS)


def test_a_file_that_is_written_anew_with_fewer_objectives(
    qtbot: QtBot, page: StudyPage, model: StudyModel, tmp_path: Path
) -> None:
    """The objective that was chosen is no longer there: the first one is shown."""
    path = tmp_path / "two.db"
    new_study(path, directions=("MAXIMIZE", "MINIMIZE"))
    add_trial(path, 0, 1.0, 2.0)
    page.show()
    model.open_database(str(path))
    qtbot.waitUntil(lambda: model.study is not None, timeout=PATIENCE_MS)
    model.choose_objective(1)
    path.unlink()
    new_study(path, directions=())
    add_trial(path, 0, 1.0)
    model.retry()
    qtbot.waitUntil(
        lambda: model.study is not None and len(model.study.directions) == 1, timeout=PATIENCE_MS
    )
    assert model.objective == 0
