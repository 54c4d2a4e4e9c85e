"""The list of runs: always what the daemon knows, also after it was away."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gym_gui.models.notices import Notice, Notices
from gym_gui.models.run_actions import RunActions
from gym_gui.models.runs_filter import RunsFilter
from gym_gui.models.runs_model import LINE_ROLE, RunColumn, RunsModel
from gym_gui.services.pulse import Pulse
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.trainer.conftest import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def runs(
    link: TrainerLink, tasks: Tasks, pulse: Pulse, notices: Notices, qtbot: QtBot
) -> Iterator[RunsModel]:
    made = RunsModel(link, tasks, pulse, notices)
    qtbot.waitUntil(lambda: made.is_listed, timeout=PATIENCE_MS)
    yield made
    made.close()
    assert made.join(10)


def _state(runs: RunsModel, run_id: str) -> RunState | None:
    run = runs.by_id(run_id)
    return run.state if run else None


def test_a_run_from_its_start_to_its_end(
    qtbot: QtBot, runs: RunsModel, tasks: Tasks, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """It appears, its figures come, its name changes, it is put away, brought back and deleted."""
    notices = Notices()
    posted: list[Notice] = []
    notices.posted.connect(posted.append)
    actions = RunActions(link, tasks, notices, runs)
    run_id = daemon.submit(steps=3000, episode_length=10)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.SUCCEEDED, timeout=PATIENCE_MS)
    assert runs.rowCount() == 1
    run = runs.run(0)
    assert run.digest.steps == 3000
    assert not actions.can_stop(run)
    assert runs.running_count == 0
    trend = runs.index(0, RunColumn.TREND)
    qtbot.waitUntil(lambda: len(trend.data(LINE_ROLE)) > 10, timeout=PATIENCE_MS)

    assert runs.setData(runs.index(0, RunColumn.RUN), "  my run ")
    qtbot.waitUntil(lambda: runs.run(0).name == "my run", timeout=PATIENCE_MS)
    actions.set_tags(run_id, ["paper", "", "baseline "])
    qtbot.waitUntil(lambda: set(runs.run(0).tags) == {"paper", "baseline"}, timeout=PATIENCE_MS)

    actions.export(run_id)
    qtbot.waitUntil(lambda: len(posted) == 2, timeout=PATIENCE_MS)
    (file,) = (link.home.path / "exports").iterdir()
    assert file.name == f"my run {run_id[-6:]}.tar.gz"
    assert file.name in posted[1].message
    posted.clear()

    shown = RunsFilter(runs)
    actions.archive([run_id])
    qtbot.waitUntil(lambda: shown.rowCount() == 0 and bool(posted), timeout=PATIENCE_MS)
    assert posted[0].action == "Undo"
    assert posted[0].run is not None
    posted[0].run()
    qtbot.waitUntil(lambda: shown.rowCount() == 1, timeout=PATIENCE_MS)
    actions.delete([run_id])
    qtbot.waitUntil(lambda: runs.rowCount() == 0, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "deleted" in posted[-1].message, timeout=PATIENCE_MS)


def test_filter_and_order(qtbot: QtBot, runs: RunsModel, daemon: DaemonUnderTest) -> None:
    """Newest first; words of any column find a run; a failed one says why."""
    first = daemon.submit(steps=10)
    second = daemon.submit(steps=10, exit_code=3)
    qtbot.waitUntil(lambda: _state(runs, first) is RunState.SUCCEEDED, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: _state(runs, second) is RunState.FAILED, timeout=PATIENCE_MS)
    shown = RunsFilter(runs)

    def ids() -> list[str]:
        rows = (shown.mapToSource(shown.index(row, 0)).row() for row in range(shown.rowCount()))
        return [runs.run(row).run_id for row in rows]

    assert ids() == [second, first]
    shown.look_for("echo FAILED")
    assert ids() == [second]
    failed = runs.by_id(second)
    assert failed is not None
    row = next(row for row in range(2) if runs.run(row) is failed)
    assert failed.reason in runs.index(row, RunColumn.STATE).data()
    assert failed.remedy in runs.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)
    shown.look_for("nothing like it")
    assert ids() == []
    shown.look_for("")
    shown.sort(RunColumn.STATE, Qt.SortOrder.AscendingOrder)
    assert len(ids()) == 2


def test_a_daemon_that_dies_and_comes_back(
    qtbot: QtBot, runs: RunsModel, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """The list goes on, with what happened meanwhile."""
    run_id = daemon.submit(steps=1_000_000, rate=200)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.RUNNING, timeout=PATIENCE_MS)
    daemon.kill()
    assert daemon.start().startswith("ready ")
    link.client.cancel(run_id)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.CANCELLED, timeout=PATIENCE_MS)
    assert runs.rowCount() == 1
