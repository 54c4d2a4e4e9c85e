"""The page of a run, on runs of a real daemon: failure, log, usage and comparison."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gym_gui.log.model.log_models import RunLogModel
from gym_gui.log.view.log_view import RunLogView
from gym_gui.run_page.model.run_page_model import RunPageModel, RunPageTab
from gym_gui.run_page.view.artifacts_tab import ArtifactsTab
from gym_gui.run_page.view.checkpoints_tab import CheckpointsTab
from gym_gui.run_page.view.configuration_tab import ConfigurationTab
from gym_gui.run_page.view.overview_tab import OverviewTab
from gym_gui.run_page.view.reproduce_tab import ReproduceTab
from gym_gui.run_page.view.run_page_view import TABS, RunPageView
from gym_gui.run_page.view.system_tab import SystemTab
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_PLAYED = {
    "worker": "session_worker",
    "mode": "play",
    "algo": "random",
    "actor": "random",
    "env_id": "CartPole-v1",
    "episodes": 1,
    "params": {"speed": 0.0},
}

Tab = TypeVar("Tab", bound=QWidget)
Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def wait(qtbot: QtBot) -> Wait:
    return lambda condition: qtbot.waitUntil(lambda: bool(condition()), timeout=TIMEOUT_MS)


@pytest.fixture
def model(services: Services) -> Iterator[RunPageModel]:
    runs = RunsModel(services)
    actions = RunActions(services, runs)
    selected = SelectedRun(services, runs)
    log = RunLogModel(services, runs)
    created = RunPageModel(services, selected, runs, actions, log)
    yield created
    created.close()
    actions.close()
    runs.close()
    assert created.join(10)
    assert runs.join(10)


@pytest.fixture
def page(model: RunPageModel, theme: ThemeModel, qtbot: QtBot) -> Iterator[RunPageView]:
    log = model.log
    assert isinstance(log, RunLogModel)
    created = RunPageView(model, theme, lambda: RunLogView(log, theme))
    qtbot.addWidget(created)
    created.resize(750, 560)
    with qtbot.waitExposed(created):
        created.show()
    yield created
    created.hide()


def _tab(page: RunPageView, name: RunPageTab, kind: type[Tab]) -> Tab:
    page.show_tab(name)
    tab = page.tab(name)
    assert isinstance(tab, kind)
    return tab


def _show(model: RunPageModel, run_id: str, wait: Wait) -> None:
    wait(lambda: model.runs.by_id(run_id))
    model.selected.select(run_id)
    wait(lambda: model.selected.is_known)


def test_failed_run(
    page: RunPageView,
    model: RunPageModel,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    wait: Wait,
    qtbot: QtBot,
) -> None:
    """Reason, remedy and last lines; unavailable actions have a reason."""
    assert page.empty.isVisible()
    run_id = link.client.submit({**_PLAYED, "env_id": "NoSuchWorld-v0"}).run_id
    daemon.until(run_id, RunState.FAILED)
    _show(model, run_id, wait)
    overview = _tab(page, "overview", OverviewTab)
    wait(lambda: overview.status.message)
    run = model.run
    assert run is not None
    assert run.reason
    assert run.remedy
    assert run.reason in overview.status.message
    assert run.remedy in overview.status.message
    details = model.selected.details
    assert details is not None
    assert details.output_tail
    assert overview.last_lines.text.toPlainText() == "\n".join(details.output_tail)
    assert overview.about.text_of("Run id") == run_id
    for action, button in page.header.buttons.items():
        assert button.isEnabled() or button.toolTip() == model.why_not(action)
    assert not page.header.buttons["stop"].isEnabled()
    with qtbot.waitSignal(page.log_requested):
        overview.log_requested.emit()
    assert page.current == "log"
    lines = model.log
    assert isinstance(lines, RunLogModel)
    wait(lambda: lines.rowCount() >= len(details.output_tail))
    assert lines.text_of([lines.rowCount() - 1]) == details.output_tail[-1]
    for name in TABS:
        page.show_tab(name)
    row = next(
        row for row in _tab(page, "artifacts", ArtifactsTab).rows if row.row.kind == "videos"
    )
    assert "switch them on" in row.row.reason


def test_usage_name_and_tags(
    page: RunPageView, model: RunPageModel, daemon: DaemonUnderTest, wait: Wait
) -> None:
    """Memory, CPU time and threads from the heartbeats; name and tags are saved."""
    run_id = daemon.submit(steps=1_000_000, rate=20)
    daemon.until(run_id, RunState.RUNNING)
    _show(model, run_id, wait)
    system = _tab(page, "system", SystemTab)
    wait(lambda: model.usage.has_samples)
    wait(lambda: system.stat("memory now").endswith("MB"))
    assert int(system.stat("threads")) >= 2
    assert system.stat("processes") == "1"
    wait(lambda: "CPU" in model.usage.machine_text)
    page.header.title.setText("a better name")
    QTest.keyClick(page.header.title, Qt.Key.Key_Return)
    wait(lambda: model.run is not None and model.run.name == "a better name")
    overview = _tab(page, "overview", OverviewTab)
    overview.tags.setText("one, two")
    QTest.keyClick(overview.tags, Qt.Key.Key_Return)
    wait(lambda: model.run is not None and set(model.run.tags) == {"one", "two"})
    page.header.buttons["pause"].click()
    wait(page.header.buttons["resume"].isVisible)
    assert "paused" in overview.status.message
    page.header.buttons["stop"].click()
    wait(lambda: model.run is not None and model.run.state.is_final)
    assert model.why_not("stop") == page.header.buttons["stop"].toolTip() != ""


def test_compare_two_runs(
    page: RunPageView,
    model: RunPageModel,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    notices: Notices,
    wait: Wait,
    qtbot: QtBot,
) -> None:
    """Differing settings and packages; checkpoints, commands and files to reproduce a run."""
    here = daemon.submit(steps=50, episode_length=5)
    there = link.client.submit(_PLAYED).run_id
    for run_id in (here, there):
        daemon.until(run_id, RunState.SUCCEEDED)
    _show(model, here, wait)
    tab = _tab(page, "configuration", ConfigurationTab)
    tab.only.setChecked(True)
    assert {row.name for row in model.configuration.displayed} == {"steps", "episode_length"}
    tab.against._segments["run"].click()
    tab.picker.activated.emit(tab.picker.findData(there))
    wait(lambda: model.other)
    differing = {row.name: (row.value, row.other) for row in model.configuration.displayed}
    assert differing["env_id"] == ("Echo-v0", "CartPole-v1")
    assert differing["steps"] == ("50", "")
    assert "seed" not in differing
    reproduce = _tab(page, "reproduce", ReproduceTab)
    reproduce.packages.only.setChecked(True)
    packages = {row.name: (row.here, row.there) for row in model.packages.rows}
    assert packages["gymnasium"][0] == ""
    assert packages["gymnasium"][1]
    assert reproduce.command.text.toPlainText().startswith("mosaic train echo_worker --algo echo")
    assert "-m echo_worker" in reproduce.worker_command.text.toPlainText()
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    model.export_json()
    wait(lambda: posted)
    assert (link.home.path / "exports" / "Echo-v0 echo s1 reproduce.json").is_file()
    checkpoints = _tab(page, "checkpoints", CheckpointsTab)
    wait(lambda: model.checkpoints.rowCount() == 1)
    row = checkpoints.selected_row()
    assert row is not None
    assert row.step == 50
    assert not checkpoints.play.isEnabled()
    assert "cannot play" in checkpoints.play.toolTip()
    model.export_checkpoint(row)
    wait((link.home.path / "exports" / "Echo-v0 echo s1 step 50.json").is_file)
    with qtbot.waitSignal(page.compare_requested) as requested:
        page.header.buttons["compare"].click()
    assert requested.args == [[here, there]]
    with qtbot.waitSignal(page.duplicate_requested) as duplicated:
        page.header.buttons["duplicate"].click()
    assert duplicated.args == [here]
    model.selected.select("")
    assert page.empty.isVisible()
