"""Comparison of runs: the run picker, the curves and two synchronized replays."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.charts_page import ChartsPage
from gym_gui.charts.view.score_panel import ScorePanel
from gym_gui.compare.model.compare_model import CompareModel
from gym_gui.compare.view.compare_page import ComparePage
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.rpc import trainer_pb2 as pb
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def charts(services: Services) -> ChartsModel:
    return ChartsModel(services)


@pytest.fixture
def model(services: Services, charts: ChartsModel) -> Iterator[CompareModel]:
    runs = RunsModel(services)
    model = CompareModel(services, runs, charts)
    yield model
    model.close()
    runs.close()
    assert model.join(10)
    assert runs.join(10)


@pytest.fixture
def page(
    model: CompareModel, charts: ChartsModel, theme: ThemeModel, qtbot: QtBot
) -> Iterator[ComparePage]:
    curves = ChartsPage(charts, theme, has_scores=False)
    page = ComparePage(model, curves, ScorePanel(charts, theme), theme)
    qtbot.addWidget(page)
    page.resize(740, 560)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.hide()


@pytest.fixture
def wait(qtbot: QtBot) -> Callable[[Callable[[], object]], None]:
    return lambda condition: qtbot.waitUntil(lambda: bool(condition()), timeout=TIMEOUT_MS)


def test_two_synchronized_episodes_with_the_same_seed(
    page: ComparePage,
    model: CompareModel,
    charts: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """One playhead moves both, the shorter stays at its end, J goes to the first difference, and
    different seeds are reported."""
    short, long = (daemon.submit(steps=240, episode_length=length) for length in (10, 12))
    daemon.until(short)
    daemon.until(long)
    model.show([short, long])
    wait(lambda: len(charts.run_infos) == 2)
    replays = model.replays
    assert replays.left.phase == "empty", "fetched before the replays are visible"
    page.show_tab("replays")
    wait(lambda: replays.is_searched)
    pairs = model.pairs or ()
    assert len(pairs) == 20
    model.choose_pair(pairs[-1])
    wait(lambda: replays.is_searched and replays.left.episode == 0)
    assert page.replays.start.text().startswith("same seed")
    assert (replays.left.steps, replays.right.steps) == (10, 12)
    divergence = replays.divergence
    assert divergence is not None
    assert (divergence.step, divergence.what) == (9, "end")

    page.replays.setFocus()
    QTest.keyClick(page.replays, Qt.Key.Key_J)
    assert replays.playhead == 10
    QTest.keyClick(page.replays, Qt.Key.Key_End)
    assert (replays.left.playhead, replays.right.playhead) == (10, 12)
    QTest.keyClick(page.replays, Qt.Key.Key_Space)
    wait(lambda: replays.playback.is_at_end and not replays.playback.is_playing)
    wait(lambda: replays.left.return_so_far is not None)
    assert replays.left.return_so_far != replays.right.return_so_far

    page.replays.left.episode.setValue(3)
    wait(lambda: replays.left.episode == 3 and replays.is_searched)
    assert model.selection == "chosen"
    assert replays.has_same_start is False
    assert "seeds differ" in page.replays.start.text()

    model.choose_best()
    wait(lambda: model.selection == "best" and replays.is_ready)
    model.swap()
    wait(lambda: replays.is_searched and replays.left.run_id == long)


def test_identical_runs_have_no_difference(
    page: ComparePage,
    model: CompareModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Two runs with the same seed and settings are identical, and the page reports that."""
    runs = [daemon.submit(steps=60, episode_length=20) for _ in range(2)]
    for run_id in runs:
        daemon.until(run_id)
    model.show(runs)
    page.show_tab("replays")
    wait(lambda: model.replays.is_searched)
    assert model.replays.divergence is None
    assert not page.replays.jump.isEnabled()
    assert "identical" in page.replays.jump.toolTip()


def test_choose_runs_in_the_list(
    page: ComparePage,
    model: CompareModel,
    charts: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Two check boxes and a button; with one run, a second is required."""
    first, second = (daemon.submit(steps=20, episode_length=10) for _ in range(2))
    daemon.until(first)
    daemon.until(second)
    model.show([first])
    assert model.phase == "one"
    wait(lambda: model.choice.rowCount() == 2)
    assert not page.picker.compare.isEnabled()
    row = next(row for row in range(2) if model.choice.run_id(row) == second)
    box = model.choice.index(row, 0)
    assert model.choice.setData(box, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    page.picker.compare.click()
    assert model.run_ids == (first, second)
    wait(lambda: len(charts.run_infos) == 2)
    page.picker.search.setText("no such run")
    assert model.choice.rowCount() == 0 or not page.picker.isVisible()


def test_a_deleted_run_is_no_longer_compared(
    page: ComparePage,
    model: CompareModel,
    charts: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """The others stay, and no error is reported."""
    first, second = daemon.submit(steps=20), daemon.submit(steps=20)
    for run_id in (first, second):
        daemon.until(run_id)
    wait(lambda: model.runs.by_id(second) is not None)
    model.show([first, second])
    wait(lambda: len(charts.run_infos) == 2)
    assert page.isVisible()
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=first))
    wait(lambda: model.run_ids == (second,))
    assert charts.run_ids == (second,)
    assert charts.problem == ""
