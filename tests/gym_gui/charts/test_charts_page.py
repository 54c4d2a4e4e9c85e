"""The charts of real runs, from the daemon to the plot and exported files."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.charts_page import ChartsPage
from gym_gui.charts.view.score_panel import ScorePanel
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.analytics.event_files import EventFileWriter
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_RETURN = MetricKey("episode_return")


@pytest.fixture
def model(services: Services) -> ChartsModel:
    return ChartsModel(services)


@pytest.fixture
def page(model: ChartsModel, theme: ThemeModel, qtbot: QtBot) -> Iterator[ChartsPage]:
    page = ChartsPage(model, theme)
    qtbot.addWidget(page)
    page.resize(740, 560)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.hide()


@pytest.fixture
def wait(qtbot: QtBot) -> Callable[[Callable[[], object]], None]:
    return lambda condition: qtbot.waitUntil(lambda: bool(condition()), timeout=TIMEOUT_MS)


def _is_rendered(page: ChartsPage, model: ChartsModel, runs: int) -> bool:
    card, plot_data = page.board.card(_RETURN), model.plot_data(_RETURN)
    return bool(card and card.plot and plot_data and len(plot_data.runs) == runs)


def test_two_runs_in_one_chart(
    page: ChartsPage,
    model: ChartsModel,
    daemon: DaemonUnderTest,
    notices: Notices,
    qtbot: QtBot,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Two runs, one hidden, zoom, a click that opens a step, the scores and exported files."""
    first, second = (daemon.submit(steps=2_000, episode_length=10) for _ in range(2))
    daemon.until(first)
    daemon.until(second)
    model.set_group_by("")
    model.set_smoothing(0.0)
    model.show([first, second])
    wait(lambda: _is_rendered(page, model, 2))
    assert page.board.cards[0].key == _RETURN
    wait(lambda: all(model.scores.score(run_id) for run_id in (first, second)))
    score = model.scores.score(first)
    assert score is not None
    assert score.counted == 100

    model.set_hidden([second], True)
    wait(lambda: _is_rendered(page, model, 1))
    card = page.board.card(_RETURN)
    assert card is not None
    assert card.plot is not None
    plot = card.plot
    plot.set_visible_range(500.0, 600.0)
    assert plot.visible_range == (500.0, 600.0)

    def is_fetched() -> bool:
        plot_data = model.plot_data(_RETURN)
        return (
            plot_data is not None and plot_data.x_range is not None and plot_data.x_range[0] > 400
        )

    wait(is_fetched)
    plot_data = model.plot_data(_RETURN)
    assert plot_data is not None
    box = plot.getPlotItem().getViewBox()
    position = box.mapViewToScene(QPointF(plot_data.runs[0].x[8], plot_data.runs[0].y[8]))
    at = plot.mapFromScene(position)
    with qtbot.waitSignal(page.episode_requested, timeout=TIMEOUT_MS) as requested:
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(at))
    # Episodes have ten steps, and each return has the step at which its episode ended.
    assert requested.args == [first, round(plot_data.runs[0].x[8]) // 10 - 1, 10]

    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    for number, kind in enumerate(("png", "svg", "csv", "scores"), start=1):
        page.bar.export_requested.emit(kind)
        wait(lambda number=number: len(posted) == number)  # type: ignore[misc]
    assert all(notice.action == "Show" for notice in posted)
    points = next(model.exports.folder.glob("*metrics.csv")).read_text().splitlines()
    assert len([line for line in points if ",episode_return," in line]) == 200
    assert (next(model.exports.folder.glob("*.svg"))).read_text().count("<path") > 0
    assert Path(model.exports.folder / "final scores.csv").exists()


def test_metrics_of_event_files_are_added(
    page: ChartsPage,
    model: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """A scalar that is only in event files is shown and marked; of duplicates the run's is used."""
    run_id = daemon.submit(steps=400, rate=400, episode_length=10)
    with EventFileWriter(daemon.run(run_id).path / "runs" / "echo", 1.0) as file:
        for step in range(50):
            file.add(10.0 + step, step, {"losses/entropy": step / 50, "reward": 7.0})
    daemon.until(run_id)
    model.show([run_id])
    entropy, reward = MetricKey("losses/entropy"), MetricKey("reward")
    wait(lambda: model.is_from_events(entropy))
    assert not model.is_from_events(reward)
    wait(lambda: entropy in {card.key for card in page.board.cards})
    model.subscribe(entropy, None, 1.0, 320)
    wait(lambda: model.plot_data(entropy))
    plot_data = model.plot_data(entropy)
    assert plot_data is not None
    assert plot_data.x_range == (0.0, 49.0)


def test_groups_have_a_mean_and_a_confidence_interval(
    page: ChartsPage,
    model: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Three equal runs are one row of scores; it can be copied, and the group can be hidden."""
    runs = [daemon.submit(steps=100, episode_length=10) for _ in range(3)]
    for run_id in runs:
        daemon.until(run_id)
    model.show(runs)
    scores = model.group_scores
    wait(lambda: scores.rowCount() == 1 and scores.as_rows()[1][1] == "3")
    _, row = scores.as_rows()
    # Runs with the same seed have the same result, so the interval is empty.
    assert float(row[3]) == pytest.approx(float(row[4]))
    assert " ± 0.00" in str(scores.data(scores.index(0, 2)))
    panel = page.board.findChild(ScorePanel)
    assert isinstance(panel, ScorePanel)
    panel.copy_all()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[0].startswith("group\truns\tmean\tci95_low")
    assert len(copied) == 2 + 1 + 1 + 3
    model.set_hidden(runs, True)

    def is_empty() -> bool:
        plot_data = model.plot_data(_RETURN)
        return plot_data is not None and not plot_data.runs

    wait(is_empty)


def test_a_running_run(
    page: ChartsPage,
    model: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Its curve grows; a killed daemon is reported, and the curve grows after its restart."""
    run_id = daemon.submit(steps=1_000_000, rate=400, episode_length=10)
    model.show([run_id])
    wait(lambda: _is_rendered(page, model, 1))

    def points() -> int:
        plot_data = model.plot_data(_RETURN)
        return plot_data.points if plot_data else 0

    before = points()
    wait(lambda: points() > before + 2)
    daemon.kill()
    wait(lambda: "does not answer" in page.banner.message)
    assert daemon.start().startswith("ready ")
    before = points()
    wait(lambda: points() > before + 2 and not page.banner.message)


def test_every_axis(
    page: ChartsPage,
    model: ChartsModel,
    daemon: DaemonUnderTest,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Steps, episodes and time, and the step of a position."""
    run_id = daemon.submit(steps=1_000, episode_length=10)
    daemon.until(run_id)
    model.show([run_id])
    wait(lambda: _is_rendered(page, model, 1))
    model.set_axis("episode")
    wait(lambda: _is_rendered(page, model, 1))
    plot_data = model.plot_data(_RETURN)
    assert plot_data is not None
    assert plot_data.x_range == (1.0, 100.0)
    step = model.step_at(run_id, 50.0)
    assert step is not None
    assert 490 <= step <= 500
    model.set_axis("time")
    wait(lambda: _is_rendered(page, model, 1))
    plot_data = model.plot_data(_RETURN)
    assert plot_data is not None
    assert plot_data.x_range is not None
    assert 0 <= plot_data.x_range[0] <= plot_data.x_range[1] < 3_600


def test_empty_and_failed_states(
    page: ChartsPage,
    model: ChartsModel,
    qtbot: QtBot,
    wait: Callable[[Callable[[], object]], None],
) -> None:
    """Without a run one can be chosen; an unknown run is reported."""
    assert model.phase == "empty"
    with qtbot.waitSignal(page.run_requested, timeout=TIMEOUT_MS):
        page.empty.action_triggered.emit()
    model.show(["01HZZZZZZZZZZZZZZZZZZZZZZZ"])
    wait(lambda: model.phase == "failed")
    assert model.problem
