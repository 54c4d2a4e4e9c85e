"""Charts of a folder with TensorBoard event files, without a daemon."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.services import Services
from mosaic.analytics.event_files import EventFileWriter
from tests.gym_gui.conftest import TIMEOUT_MS

_RETURN = MetricKey("charts/episodic_return")


@pytest.fixture
def model(offline_services: Services) -> ChartsModel:
    return ChartsModel(offline_services)


def _write(folder: Path, values: list[float]) -> None:
    with EventFileWriter(folder, 1.0) as file:
        for number, value in enumerate(values):
            file.add(1_000.0 + number, number * 10, {_RETURN.name: value})


def test_each_subfolder_is_shown_like_a_run(
    model: ChartsModel, tmp_path: Path, qtbot: QtBot
) -> None:
    """By step and by time, with scores and exported points, without a daemon."""
    _write(tmp_path / "logs" / "a", [1.0, 2.0, 3.0])
    _write(tmp_path / "logs" / "b", [5.0, 5.0])
    model.set_smoothing(0.0)
    model.show_folder(tmp_path / "logs")
    qtbot.waitUntil(
        lambda: sorted(model.titles.values()) == ["a", "b"], timeout=TIMEOUT_MS
    )  # each folder is read by its own request
    qtbot.waitUntil(lambda: model.phase == "ready", timeout=TIMEOUT_MS)  # set on the next tick
    model.subscribe(_RETURN, None, 1.0, 320)

    def has_two_curves() -> bool:
        plot_data = model.plot_data(_RETURN)
        return plot_data is not None and len(plot_data.runs) == 2

    qtbot.waitUntil(has_two_curves, timeout=TIMEOUT_MS)
    qtbot.waitUntil(
        lambda: all(model.scores.score(run_id) for run_id in model.run_ids), timeout=TIMEOUT_MS
    )
    first = model.scores.score(model.run_ids[0])
    assert first is not None
    assert (first.last, first.best, first.step) == (2.0, 3.0, 20)
    model.set_axis("time")
    model.subscribe(_RETURN, None, 1.0, 320)
    qtbot.waitUntil(has_two_curves, timeout=TIMEOUT_MS)
    plot_data = model.plot_data(_RETURN)
    assert plot_data is not None
    assert plot_data.x_range == (0.0, 2.0)
    model.save_points("points", [_RETURN])
    qtbot.waitUntil(lambda: not model.exports.is_running, timeout=TIMEOUT_MS)
    assert len((model.exports.folder / "points.csv").read_text().splitlines()) == 1 + 5


def test_a_folder_without_event_files_is_reported(
    model: ChartsModel, tmp_path: Path, notices: Notices, qtbot: QtBot
) -> None:
    """The charts stay unchanged."""
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.show_folder(tmp_path)
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    assert "no event files" in posted[0].message
    assert model.phase == "empty"
