"""StudyPage without a daemon: any database and the commands of the page."""

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
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.optuna_files import add_trial, create_study


@pytest.fixture
def link(tmp_path: Path) -> TrainerLink:
    """Never opened: a study needs no daemon."""
    return TrainerLink(Home(tmp_path / "home"))


@pytest.fixture
def selected_run(services: Services) -> Iterator[SelectedRun]:
    runs = RunsModel(services)
    yield SelectedRun(services, runs)
    runs.close()
    assert runs.join(10)


@pytest.fixture
def model(services: Services, selected_run: SelectedRun) -> Iterator[StudyModel]:
    created = StudyModel(services, selected_run)
    yield created
    created.close()
    assert created.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: StudyModel, theme: ThemeModel) -> StudyPage:
    created = StudyPage(model, theme)
    qtbot.addWidget(created)
    created.resize(750, 560)
    created.show()
    return created


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Twelve trials as a MOSAIC sweep writes them."""
    path = tmp_path / "any.db"
    create_study(path, "small")
    for number in range(12):
        add_trial(
            path,
            number,
            float(number % 5),
            params={"rate": 0.001 * (number + 1), "kind": "ab"[number % 2]},
            attributes={"runs": [f"run-{number}"]} if number != 3 else None,
        )
    return path


def _visible_text(page: QWidget) -> str:
    return " | ".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def test_any_database_can_be_opened(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path
) -> None:
    """Several studies, new trials, and the way back to the run."""
    assert "No run selected" in _visible_text(page)
    assert not page.bar.back.isVisible()
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: model.trials.rowCount() == 12, timeout=TIMEOUT_MS)
    assert "Best, trial 4" in _visible_text(page)
    add_trial(study, 12, 50.0)
    qtbot.waitUntil(lambda: "Best, trial 12" in _visible_text(page), timeout=TIMEOUT_MS)
    create_study(study, "goals", ("MAXIMIZE", "MINIMIZE"))
    add_trial(study, 0, 1.0, 2.0, study=2, params={"x": 1})
    add_trial(study, 1, 2.0, 3.0, study=2, params={"x": 2})
    qtbot.waitUntil(page.bar.studies.isVisible, timeout=TIMEOUT_MS)
    assert model.names == ("small", "goals")
    page.bar.studies.textActivated.emit("goals")
    assert "2 trials are on the Pareto front" in _visible_text(page)
    assert page.charts.objective.isVisible()
    page.best.show_in_table.click()
    assert page.table.selected_rows() == [0, 1]
    page.bar.back.click()
    qtbot.waitUntil(lambda: "No run selected" in _visible_text(page), timeout=TIMEOUT_MS)


def test_commands_on_trials(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path, notices: Notices
) -> None:
    """Sort, open and compare runs, copy, export; disabled buttons have a reason."""
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: model.trials.rowCount() == 12, timeout=TIMEOUT_MS)
    header = page.table.horizontalHeader()
    point = QPoint(header.sectionViewportPosition(2) + header.sectionSize(2) // 2, 5)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert model.trials.trial(0).number == 4
    assert not page.open_run.isEnabled()
    assert "Select a trial" in page.open_run.toolTip()
    page.select_trials([3])
    assert "are unknown" in page.open_run.toolTip()
    page.select_trials([4, 9])
    with qtbot.waitSignal(page.compare_requested) as requested:
        page.compare.click()
    assert requested.args == [["run-4", "run-9"]]
    with qtbot.waitSignal(page.run_requested) as opened:
        page.best.open.click()
    assert opened.args == ["run-4"]
    page.copy.click()
    assert QApplication.clipboard().text().splitlines()[1].startswith("4\tcomplete\t4.0\t30.000")
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    page.export.click()
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    with (model.exports.folder / "small trials.csv").open() as file:
        assert list(csv.reader(file)) == model.trials.as_rows()


def test_plots_and_importance(
    qtbot: QtBot, page: StudyPage, model: StudyModel, study: Path, theme: ThemeModel
) -> None:
    """Created when visible; a point selects its trial; a bar opens the plot of its parameter."""
    page.bar.opened.emit(str(study))
    qtbot.waitUntil(lambda: page.charts.history is not None, timeout=TIMEOUT_MS)
    history = page.charts.history
    assert history is not None
    with qtbot.waitSignal(history.trial_clicked):
        history.trial_clicked.emit(7)
    assert [model.trials.trial(row).number for row in page.table.selected_rows()] == [7]
    page.charts.chart.set_current("importance")
    page.charts.update_charts()
    assert page.charts.importance.bars.isVisible()
    assert "Kruskal-Wallis" in _visible_text(page)
    page.charts.importance.bars.param_selected.emit("rate")
    assert page.charts.chart.current == "parameter"
    assert page.charts.param.currentText() == "rate"
    assert "logarithmic" in _visible_text(page)
    page.charts.show_param("kind")
    assert "by kind" in _visible_text(page)
    theme.choose("dark")
    page.grab()
    page.resize(480, 400)
    assert page.view_switch.isVisible()
    assert page.table.isVisible()
    assert not page.charts.isVisible()


def test_too_few_trials_and_broken_files(
    qtbot: QtBot, page: StudyPage, model: StudyModel, tmp_path: Path
) -> None:
    """Missing importance is explained; a broken file has an error and can be retried."""
    few = tmp_path / "few.db"
    create_study(few)
    page.bar.opened.emit(str(few))
    qtbot.waitUntil(lambda: "No complete trial yet" in _visible_text(page), timeout=TIMEOUT_MS)
    add_trial(few, 0, 1.0)
    page.charts.chart.set_current("importance")
    qtbot.waitUntil(lambda: "there is 1" in _visible_text(page), timeout=TIMEOUT_MS)
    broken = tmp_path / "broken.db"
    broken.write_text("no database")
    page.bar.opened.emit(str(broken))
    qtbot.waitUntil(lambda: "The study cannot be read" in _visible_text(page), timeout=TIMEOUT_MS)
    assert "is not a SQLite file" in _visible_text(page)
    page.empty.action_triggered.emit()
    qtbot.waitUntil(lambda: "The study cannot be read" in _visible_text(page), timeout=TIMEOUT_MS)
    broken.unlink()
    create_study(broken, "repaired")
    page.empty.action_triggered.emit()
    qtbot.waitUntil(lambda: model.names == ("repaired",), timeout=TIMEOUT_MS)


def test_a_rewritten_file_with_fewer_objectives(
    qtbot: QtBot, page: StudyPage, model: StudyModel, tmp_path: Path
) -> None:
    """The selected objective no longer exists: the first one is selected."""
    path = tmp_path / "two.db"
    create_study(path, directions=("MAXIMIZE", "MINIMIZE"))
    add_trial(path, 0, 1.0, 2.0)
    page.show()
    model.open_database(str(path))
    qtbot.waitUntil(lambda: model.study is not None, timeout=TIMEOUT_MS)
    model.set_objective(1)
    path.unlink()
    create_study(path, directions=())
    add_trial(path, 0, 1.0)
    model.retry()
    qtbot.waitUntil(
        lambda: model.study is not None and len(model.study.directions) == 1, timeout=TIMEOUT_MS
    )
    assert model.objective == 0
