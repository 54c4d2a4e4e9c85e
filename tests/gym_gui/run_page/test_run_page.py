"""The page of a run, on runs of a real daemon: what went wrong, what it writes, how it differs."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gym_gui.run_page.model.run_log_model import Severity
from gym_gui.run_page.model.run_page_model import RunPageModel, RunPart
from gym_gui.run_page.view.artifacts_part import ArtifactsPart
from gym_gui.run_page.view.checkpoints_part import CheckpointsPart
from gym_gui.run_page.view.configuration_part import ConfigurationPart
from gym_gui.run_page.view.log_part import LogPart
from gym_gui.run_page.view.overview_part import OverviewPart
from gym_gui.run_page.view.reproduce_part import ReproducePart
from gym_gui.run_page.view.run_page import PARTS, RunPage
from gym_gui.run_page.view.system_part import SystemPart
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
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

Part = TypeVar("Part", bound=QWidget)
Wait = Callable[[Callable[[], object]], None]


@pytest.fixture
def wait(qtbot: QtBot) -> Wait:
    return lambda condition: qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)


@pytest.fixture
def model(
    link: TrainerLink, tasks: Tasks, pulse: UiTicker, notices: Notices
) -> Iterator[RunPageModel]:
    runs = RunsModel(link, tasks, pulse, notices)
    actions = RunActions(link, tasks, notices, runs)
    shown = SelectedRun(link, tasks, runs)
    made = RunPageModel(link, tasks, pulse, notices, shown, runs, actions)
    yield made
    made.close()
    actions.close()
    runs.close()
    assert made.join(10)
    assert runs.join(10)


@pytest.fixture
def page(model: RunPageModel, theme: ThemeModel, qtbot: QtBot) -> Iterator[RunPage]:
    made = RunPage(model, theme)
    qtbot.addWidget(made)
    made.resize(750, 560)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.hide()


def _part(page: RunPage, name: RunPart, kind: type[Part]) -> Part:
    page.show_part(name)
    part = page.part(name)
    assert isinstance(part, kind)
    return part


def _show(model: RunPageModel, run_id: str, wait: Wait) -> None:
    wait(lambda: model.runs.by_id(run_id))
    model.shown.show(run_id)
    wait(lambda: model.shown.is_known)


def test_a_run_that_failed(
    page: RunPage,
    model: RunPageModel,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    wait: Wait,
    qtbot: QtBot,
) -> None:
    """Why, what to do, its last lines; what cannot be done has a reason."""
    assert page.empty.isVisible()
    run_id = link.client.submit({**_PLAYED, "env_id": "NoSuchWorld-v0"}).run_id
    daemon.until(run_id, RunState.FAILED)
    _show(model, run_id, wait)
    overview = _part(page, "overview", OverviewPart)
    wait(lambda: overview.verdict.message)
    run = model.run
    assert run is not None
    assert run.reason
    assert run.remedy
    assert run.reason in overview.verdict.message
    assert run.remedy in overview.verdict.message
    details = model.shown.details
    assert details is not None
    assert details.output_tail
    assert overview.last_lines.text.toPlainText() == "\n".join(details.output_tail)
    assert overview.about.text_of("Run id") == run_id
    for action, button in page.head.buttons.items():
        assert button.isEnabled() or button.toolTip() == model.why_not(action)
    assert not page.head.buttons["stop"].isEnabled()
    with qtbot.waitSignal(page.log_wanted):
        overview.log_wanted.emit()
    assert page.current == "log"
    lines = model.log
    wait(lambda: lines.rowCount() >= len(details.output_tail))
    assert lines.text_of([lines.rowCount() - 1]) == details.output_tail[-1]
    for name in PARTS:
        page.show_part(name)
    row = next(
        row for row in _part(page, "artifacts", ArtifactsPart).rows if row.row.kind == "videos"
    )
    assert "switch them on" in row.row.reason


def test_the_log_of_a_run_that_goes_on(
    page: RunPage, model: RunPageModel, daemon: DaemonUnderTest, link: TrainerLink, wait: Wait
) -> None:
    """Of 20,000 lines none is lost; it follows, stands still when scrolled up, and is searched."""
    run_id = daemon.submit(steps=1_000_000, rate=20)
    daemon.until(run_id, RunState.RUNNING)
    log = daemon.run(run_id).worker_log
    with log.open("a") as file:
        file.writelines(f"line {number}\n" for number in range(20_000))
        file.write(
            "Traceback (most recent call last):\n  File x\nValueError: no\n\x1b[31mred\x1b[0m\n"
        )
        file.write("0%\r50%\r100%\n" + "x" * 300_000 + "\n")
    _show(model, run_id, wait)
    part = _part(page, "log", LogPart)
    lines = model.log
    wait(lambda: lines.rowCount() == 20_006)
    assert [lines.line(at).text for at in range(20_000)] == [f"line {at}" for at in range(20_000)]
    assert [lines.line(at).severity for at in range(20_000, 20_003)] == [Severity.ERROR] * 3
    assert lines.line(20_003).text == "red"
    assert lines.line(20_004).text == "100%"
    part.lines.go_to(20_005)
    assert part.full.isVisible()
    assert len(part.full.text.toPlainText()) == 50_000
    part.copy()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("x" * 64_000)
    assert copied.endswith("(300,000 characters; the log file has them all)")
    part.lines.follow(is_following=True)
    with log.open("a") as file:
        file.write("one more\n")
    wait(lambda: lines.rowCount() == 20_007)
    bar = part.lines.verticalScrollBar()
    assert bar.value() == bar.maximum()
    QTest.keyClick(part.lines, Qt.Key.Key_Home)
    assert not part.following.isChecked()
    with log.open("a") as file:
        file.write("and one\n")
    wait(lambda: lines.rowCount() == 20_008)
    assert bar.value() == 0
    part.search.setText("LINE 19999")
    assert lines.found_count == 1
    QTest.keyClick(part.search, Qt.Key.Key_Return)
    assert part.lines.currentIndex().row() == 19_999
    link.client.control(run_id, {"cmd": "checkpoint"})
    part.source._segments["worker"].click()
    wait(lambda: any("W202" in lines.line(at).text for at in range(lines.rowCount())))
    part.source._segments["daemon"].click()
    wait(lambda: any("started" in lines.line(at).text for at in range(lines.rowCount())))
    assert all(run_id in lines.line(at).text for at in range(lines.rowCount()))


def test_what_a_run_takes_of_the_machine(
    page: RunPage, model: RunPageModel, daemon: DaemonUnderTest, wait: Wait
) -> None:
    """Memory, processor time and threads from the heartbeats; a person's words are kept."""
    run_id = daemon.submit(steps=1_000_000, rate=20)
    daemon.until(run_id, RunState.RUNNING)
    _show(model, run_id, wait)
    system = _part(page, "system", SystemPart)
    wait(lambda: model.usage.has_samples)
    wait(lambda: system.figure("memory now").endswith("MB"))
    assert int(system.figure("threads")) >= 2
    assert system.figure("processes") == "1"
    wait(lambda: "CPU" in model.usage.machine_words)
    page.head.title.setText("a better name")
    QTest.keyClick(page.head.title, Qt.Key.Key_Return)
    wait(lambda: model.run is not None and model.run.name == "a better name")
    overview = _part(page, "overview", OverviewPart)
    overview.tags.setText("one, two")
    QTest.keyClick(overview.tags, Qt.Key.Key_Return)
    wait(lambda: model.run is not None and set(model.run.tags) == {"one", "two"})
    page.head.buttons["pause"].click()
    wait(page.head.buttons["resume"].isVisible)
    assert "paused" in overview.verdict.message
    page.head.buttons["stop"].click()
    wait(lambda: model.run is not None and model.run.state.is_final)
    assert model.why_not("stop") == page.head.buttons["stop"].toolTip() != ""


def test_two_runs_told_apart(
    page: RunPage,
    model: RunPageModel,
    daemon: DaemonUnderTest,
    link: TrainerLink,
    notices: Notices,
    wait: Wait,
    qtbot: QtBot,
) -> None:
    """Settings and packages that differ; checkpoints, commands and files to make it again."""
    here = daemon.submit(steps=50, episode_length=5)
    there = link.client.submit(_PLAYED).run_id
    for run_id in (here, there):
        daemon.until(run_id, RunState.SUCCEEDED)
    _show(model, here, wait)
    part = _part(page, "configuration", ConfigurationPart)
    part.only.setChecked(True)
    assert {row.name for row in model.configuration.shown} == {"steps", "episode_length"}
    part.against._segments["run"].click()
    part.picker.activated.emit(part.picker.findData(there))
    wait(lambda: model.other)
    differing = {row.name: (row.value, row.other) for row in model.configuration.shown}
    assert differing["env_id"] == ("Echo-v0", "CartPole-v1")
    assert differing["steps"] == ("50", "")
    assert "seed" not in differing
    reproduce = _part(page, "reproduce", ReproducePart)
    reproduce.packages.only.setChecked(True)
    packages = {row.name: (row.here, row.there) for row in model.packages.rows}
    assert packages["gymnasium"][0] == ""
    assert packages["gymnasium"][1]
    assert reproduce.command.text.toPlainText().startswith("mosaic train echo_worker --algo echo")
    assert "-m echo_worker" in reproduce.worker_command.text.toPlainText()
    said: list[Notice] = []
    notices.posted.connect(said.append)
    model.export_json()
    wait(lambda: said)
    assert (link.home.path / "exports" / "Echo-v0 echo s1 reproduce.json").is_file()
    checkpoints = _part(page, "checkpoints", CheckpointsPart)
    wait(lambda: model.checkpoints.rowCount() == 1)
    row = checkpoints.chosen()
    assert row is not None
    assert row.step == 50
    assert not checkpoints.play.isEnabled()
    assert "does not play" in checkpoints.play.toolTip()
    model.export_checkpoint(row)
    wait((link.home.path / "exports" / "Echo-v0 echo s1 step 50.json").is_file)
    with qtbot.waitSignal(page.compare_wanted) as asked:
        page.head.buttons["compare"].click()
    assert asked.args == [[here, there]]
    with qtbot.waitSignal(page.duplicate_wanted) as duplicated:
        page.head.buttons["duplicate"].click()
    assert duplicated.args == [here]
    model.shown.show("")
    assert page.empty.isVisible()
