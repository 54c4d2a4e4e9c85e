"""Runs are deleted for good only when it can no longer be undone."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.models.notices import Notice, Notices
from gym_gui.models.run_actions import RunActions
from gym_gui.models.runs_model import RunsModel
from gym_gui.models.runs_table import RunsTable
from gym_gui.services.pulse import Pulse
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.trainer.conftest import DaemonUnderTest

pytestmark = pytest.mark.process

_SOON_MS = 50
_LATE_MS = 3_600_000


@pytest.fixture
def runs(
    link: TrainerLink, tasks: Tasks, pulse: Pulse, notices: Notices, qtbot: QtBot
) -> Iterator[RunsModel]:
    made = RunsModel(link, tasks, pulse, notices)
    qtbot.waitUntil(lambda: made.is_listed, timeout=PATIENCE_MS)
    yield made
    made.close()
    assert made.join(10)


@pytest.fixture
def posted(notices: Notices) -> list[Notice]:
    found: list[Notice] = []
    notices.posted.connect(found.append)
    return found


def _wait_for(qtbot: QtBot, runs: RunsModel, run_id: str, state: RunState) -> None:
    def is_there() -> bool:
        run = runs.by_id(run_id)
        return run is not None and run.state is state

    qtbot.waitUntil(is_there, timeout=PATIENCE_MS)


def test_undo_and_closing(
    qtbot: QtBot,
    runs: RunsModel,
    link: TrainerLink,
    tasks: Tasks,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """Undo brings all back; who closes the window means what was deleted last."""
    actions = RunActions(link, tasks, notices, runs, undo_ms=_LATE_MS)
    shown = RunsTable(runs)
    deletions = actions.deletions
    deletions.changed.connect(lambda: shown.hide(deletions.out_of_sight))
    first, second = daemon.submit(steps=10), daemon.submit(steps=10)
    for run_id in (first, second):
        _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    actions.delete([first])
    actions.delete([second])
    assert shown.rowCount() == 0
    assert [notice.message for notice in posted][-1] == "Deleted 2 runs."
    assert posted[-1].topic == posted[0].topic
    assert posted[-1].run is not None
    posted[-1].run()
    assert shown.rowCount() == 2

    actions.delete([second])
    actions.close()
    assert actions.join(PATIENCE_MS / 1000)
    qtbot.waitUntil(lambda: runs.by_id(second) is None, timeout=PATIENCE_MS)
    assert runs.by_id(first) is not None


def test_the_daemon_has_the_last_word(
    qtbot: QtBot,
    runs: RunsModel,
    link: TrainerLink,
    tasks: Tasks,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """What it deletes is gone; what it keeps comes back, with the reason."""
    actions = RunActions(link, tasks, notices, runs, undo_ms=_SOON_MS)
    over, live = daemon.submit(steps=10), daemon.submit(steps=1_000_000, rate=100)
    _wait_for(qtbot, runs, over, RunState.SUCCEEDED)
    _wait_for(qtbot, runs, live, RunState.RUNNING)
    actions.delete([over, live])
    assert actions.deletions.out_of_sight == {over, live}
    qtbot.waitUntil(lambda: runs.by_id(over) is None, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not actions.deletions.out_of_sight, timeout=PATIENCE_MS)
    assert posted[-1].tone == "bad"
    assert live in posted[-1].message
    assert not actions.deletions.can_undo
