"""RunsModel: the records of all runs, also after a restart of the daemon."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runs.model.runs_table import TREND_ROLE, RunsTable
from gym_gui.runtime.models.notices import Notice
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.trainer_link import TrainerLink
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def runs(services: Services, qtbot: QtBot) -> Iterator[RunsModel]:
    model = RunsModel(services)
    qtbot.waitUntil(lambda: model.is_listed, timeout=TIMEOUT_MS)
    yield model
    model.close()
    assert model.join(10)


def _state(runs: RunsModel, run_id: str) -> RunState | None:
    run = runs.by_id(run_id)
    return run.state if run else None


def test_the_life_of_a_run(
    qtbot: QtBot, runs: RunsModel, services: Services, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """It is listed with its stats, renamed, tagged, exported, archived and restored."""
    posted: list[Notice] = []
    services.notices.posted.connect(posted.append)
    actions = RunActions(services, runs)
    run_id = daemon.submit(steps=3000, episode_length=10)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.SUCCEEDED, timeout=TIMEOUT_MS)

    def run() -> RunRecord:
        (record,) = runs.runs
        return record

    assert run().digest.steps == 3000
    assert run().digest.disk_bytes
    assert not actions.can_stop(run())
    assert runs.running_count == 0
    table = RunsTable(runs)
    trend = table.index(0, RunColumn.TREND)
    qtbot.waitUntil(lambda: len(trend.data(TREND_ROLE)) > 10, timeout=TIMEOUT_MS)
    assert table.index(0, RunColumn.DISK).data().endswith("B")

    table.rename_requested.connect(actions.rename)
    assert table.setData(table.index(0, RunColumn.RUN), "  my run ")
    qtbot.waitUntil(lambda: run().name == "my run", timeout=TIMEOUT_MS)
    actions.change_tags([run_id], ["paper", "baseline"])
    qtbot.waitUntil(lambda: set(run().tags) == {"paper", "baseline"}, timeout=TIMEOUT_MS)
    actions.change_tags([run_id], ["new"], ["paper"])
    qtbot.waitUntil(lambda: set(run().tags) == {"new", "baseline"}, timeout=TIMEOUT_MS)
    actions.write_note(run_id, "first line\nsecond line ")
    qtbot.waitUntil(lambda: run().note == "first line\nsecond line", timeout=TIMEOUT_MS)
    assert table.index(0, RunColumn.NOTE).data() == "first line"

    actions.export(run_id)
    qtbot.waitUntil(lambda: len(posted) == 2, timeout=TIMEOUT_MS)
    (file,) = (link.home.path / "exports").iterdir()
    assert file.name == f"my run {run_id[-6:]}.tar.gz"
    assert file.name in posted[1].message
    posted.clear()

    actions.archive([run_id])
    qtbot.waitUntil(lambda: table.rowCount() == 0 and bool(posted), timeout=TIMEOUT_MS)
    assert posted[0].action == "Undo"
    assert posted[0].run is not None
    posted[0].run()
    qtbot.waitUntil(lambda: table.rowCount() == 1, timeout=TIMEOUT_MS)


def test_a_failed_run_has_a_reason(qtbot: QtBot, runs: RunsModel, daemon: DaemonUnderTest) -> None:
    """The reason is in its row, and the remedy in the tool tip."""
    run_id = daemon.submit(steps=10, exit_code=3)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.FAILED, timeout=TIMEOUT_MS)
    failed = runs.by_id(run_id)
    assert failed is not None
    table = RunsTable(runs)
    assert failed.reason in table.index(0, RunColumn.STATE).data()
    assert failed.remedy in table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_a_restarted_daemon(
    qtbot: QtBot, runs: RunsModel, link: TrainerLink, daemon: DaemonUnderTest
) -> None:
    """The list continues, including missed changes."""
    run_id = daemon.submit(steps=1_000_000, rate=200)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.RUNNING, timeout=TIMEOUT_MS)
    daemon.kill()
    assert daemon.start().startswith("ready ")
    link.client.cancel(run_id)
    qtbot.waitUntil(lambda: _state(runs, run_id) is RunState.CANCELLED, timeout=TIMEOUT_MS)
    assert len(runs.runs) == 1
