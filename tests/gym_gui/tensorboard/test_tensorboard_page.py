"""The TensorBoard page on a real daemon with a real TensorBoard."""

import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
from gym_gui.tensorboard.view.tensorboard_page import TensorBoardPage
from mosaic.analytics.event_files import EventFileWriter
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def model(services: Services) -> Iterator[TensorBoardModel]:
    runs = RunsModel(services)
    selected = SelectedRun(services, runs)
    created = TensorBoardModel(services, selected, runs)
    yield created
    created.close()
    runs.close()
    assert created.join(30)
    assert runs.join(10)


@pytest.fixture
def page(qtbot: QtBot, model: TensorBoardModel, theme: ThemeModel) -> TensorBoardPage:
    created = TensorBoardPage(model, theme)
    qtbot.addWidget(created)
    created.resize(750, 560)
    created.show()
    return created


def _button(page: QWidget, text: str) -> QPushButton:
    buttons = page.findChildren(QPushButton)
    visible = [button for button in buttons if button.text() == text and button.isVisible()]
    assert len(visible) == 1, [button.text() for button in buttons]
    return visible[0]


def _displays(page: QWidget, text: str) -> bool:
    return any(text in label.text() for label in page.findChildren(QLabel) if label.isVisible())


def _finished(qtbot: QtBot, model: TensorBoardModel, daemon: DaemonUnderTest) -> str:
    run_id = daemon.submit(steps=200, episode_length=20)

    def is_finished() -> bool:
        run = model.runs.by_id(run_id)
        return run is not None and run.ended_at is not None and run.digest.episodes > 0

    qtbot.waitUntil(is_finished, timeout=TIMEOUT_MS)
    return run_id


def test_export_and_open_a_run_without_event_files(
    qtbot: QtBot,
    model: TensorBoardModel,
    page: TensorBoardPage,
    daemon: DaemonUnderTest,
    give_bundles: Callable[..., None],
) -> None:
    """Export, list the newest values, open the page; Stop ends the server."""
    give_bundles(daemon.home, "cleanrl_worker")
    assert _displays(page, "No run selected")
    run_id = _finished(qtbot, model, daemon)
    model.selected.select(run_id)
    qtbot.waitUntil(lambda: _displays(page, "has written no event files"), timeout=TIMEOUT_MS)
    start = _button(page, "Start TensorBoard")
    assert not start.isEnabled()
    assert "no event files" in start.toolTip()
    _button(page, "Export as event files").click()
    qtbot.waitUntil(lambda: model.events.summary is not None, timeout=TIMEOUT_MS)
    tags = model.events.tags
    rows = {tags.index(row, 0).data(): tags.index(row, 1).data() for row in range(tags.rowCount())}
    assert rows["episodes/return"] == "10"
    qtbot.waitUntil(start.isEnabled, timeout=TIMEOUT_MS)
    with qtbot.waitSignal(model.address_ready, timeout=TIMEOUT_MS) as opened:
        start.click()
    (address,) = opened.args
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=30) as answer:
        assert b"<title>TensorBoard</title>" in answer.read()
    with qtbot.waitSignal(model.address_ready, timeout=TIMEOUT_MS) as again:
        _button(page, "Open TensorBoard").click()
    assert again.args == [address]
    with qtbot.waitSignal(page.charts_requested, timeout=TIMEOUT_MS) as requested:
        _button(page, "Show in charts").click()
    assert requested.args == [run_id]
    server = model.servers[0].server
    _button(page, "Stop").click()
    qtbot.waitUntil(lambda: not server.is_alive, timeout=TIMEOUT_MS)
    assert model.servers == ()
    assert _button(page, "Start TensorBoard").isEnabled()


def test_several_runs_and_a_failure(
    qtbot: QtBot,
    model: TensorBoardModel,
    page: TensorBoardPage,
    daemon: DaemonUnderTest,
    give_bundles: Callable[..., None],
    tmp_path: Path,
) -> None:
    """Two runs in one server; a removed folder fails with a reason and Retry."""
    give_bundles(daemon.home, "cleanrl_worker")
    first, second = _finished(qtbot, model, daemon), _finished(qtbot, model, daemon)
    with qtbot.waitSignal(model.address_ready, timeout=TIMEOUT_MS):
        model.open_runs([first, second])
    assert len(model.servers[0].server.folders) == 2
    model.stop(model.servers[0].server)
    folder = tmp_path / "elsewhere"
    with EventFileWriter(folder, 1.0) as file:
        file.add(1.0, 1, {"loss": 1.0})
    with qtbot.waitSignal(model.address_ready, timeout=TIMEOUT_MS):
        model.open_folder(folder)
    broken = model.servers[0].server
    model.stop(broken)
    file.path.unlink()
    folder.rmdir()
    model.retry(broken)
    qtbot.waitUntil(lambda: _displays(page, "does not exist"), timeout=TIMEOUT_MS)
    assert _button(page, "Retry").isEnabled()
    _button(page, "Dismiss").click()
    assert model.servers == ()


def test_disabled_buttons_have_a_reason(
    qtbot: QtBot,
    model: TensorBoardModel,
    page: TensorBoardPage,
    daemon: DaemonUnderTest,
    notices: Notices,
    tmp_path: Path,
) -> None:
    """No TensorBoard anywhere, no WebEngine, a folder without event files."""
    daemon.home.venvs.unlink()
    model.find_program()
    qtbot.waitUntil(lambda: model.missing_program is not None, timeout=TIMEOUT_MS)
    assert "CleanRL" in _button(page, "Start TensorBoard").toolTip()
    for text in ("Several runs…", "Folder…"):
        button = _button(page, text)
        assert not button.isEnabled()
        assert "not installed" in button.toolTip()
    (embedded,) = page.findChildren(QCheckBox)
    assert embedded.isEnabled() or "mosaic-workbench[web]" in embedded.toolTip()
    (tmp_path / "empty").mkdir()
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.open_folder(tmp_path / "empty")
    qtbot.waitUntil(lambda: bool(posted), timeout=TIMEOUT_MS)
    assert "has no event files" in posted[0].message
