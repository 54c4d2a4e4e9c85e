"""Runs are deleted for good only when it can no longer be undone."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runs.model.runs_table import RunsTable
from gym_gui.runtime.models.notices import Notice, Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_SOON_MS = 50
_LATE_MS = 3_600_000


@pytest.fixture
def runs(
    link: TrainerLink, tasks: Tasks, ticker: UiTicker, notices: Notices, qtbot: QtBot
) -> Iterator[RunsModel]:
    made = RunsModel(link, tasks, ticker, notices)
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
    deletions.changed.connect(lambda: shown.set_hidden(deletions.out_of_sight))
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


def test_a_daemon_that_is_away_is_waited_for(
    qtbot: QtBot,
    runs: RunsModel,
    link: TrainerLink,
    tasks: Tasks,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """What can no longer be undone is deleted when the daemon is back, and nothing is said."""
    actions = RunActions(link, tasks, notices, runs, undo_ms=_SOON_MS)
    run_id = daemon.submit(steps=10)
    _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    daemon.kill()
    qtbot.waitUntil(lambda: link.state is LinkState.LOST, timeout=PATIENCE_MS)
    with qtbot.waitSignal(notices.withdrawn, timeout=PATIENCE_MS):
        actions.delete([run_id])
    assert actions.deletions.out_of_sight == {run_id}
    assert daemon.start().startswith("ready ")
    qtbot.waitUntil(lambda: runs.by_id(run_id) is None, timeout=PATIENCE_MS)
    assert [notice.tone for notice in posted if notice.tone == "bad"] == []
    assert not actions.deletions.out_of_sight


def test_another_window_deletes_the_same(
    qtbot: QtBot,
    runs: RunsModel,
    link: TrainerLink,
    tasks: Tasks,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """Nothing is left to undo, and nobody is told that it failed."""
    actions = RunActions(link, tasks, notices, runs, undo_ms=_LATE_MS)
    run_id = daemon.submit(steps=10)
    _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    actions.delete([run_id])
    with qtbot.waitSignal(notices.withdrawn, timeout=PATIENCE_MS):
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    assert not actions.deletions.can_undo
    assert not actions.deletions.out_of_sight
    assert [notice.message for notice in posted] == ["Deleted Echo-v0 echo s1."]


class _HeldTasks(Tasks):
    """Answers are there, and wait to be told until `gate` is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def run(self, parent: QObject, op: Callable[[], Any], *told: Any) -> None:
        def held() -> Any:
            outcome = op()
            assert self.gate.wait(PATIENCE_MS / 1000)
            return outcome

        super().run(parent, held, *told)


def test_a_late_answer_does_not_undo_what_others_did(
    qtbot: QtBot, runs: RunsModel, link: TrainerLink, notices: Notices, daemon: DaemonUnderTest
) -> None:
    """Two windows rename a run: both show the name that came last; a deleted run stays away."""
    late = _HeldTasks()
    actions = RunActions(link, late, notices, runs)
    run_id, other = daemon.submit(steps=10), daemon.submit(steps=10)
    for each in (run_id, other):
        _wait_for(qtbot, runs, each, RunState.SUCCEEDED)
        actions.rename(each, "mine")
        qtbot.waitUntil(lambda each=each: _name(runs, each) == "mine", timeout=PATIENCE_MS)  # type: ignore[misc]
    daemon.stub.AnnotateRun(pb.AnnotateRunRequest(run_id=run_id, name="theirs"))
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=other))
    qtbot.waitUntil(
        lambda: _name(runs, run_id) == "theirs" and runs.by_id(other) is None, timeout=PATIENCE_MS
    )
    late.gate.set()
    qtbot.waitUntil(lambda: not late.is_busy, timeout=PATIENCE_MS)
    late.close()
    assert late.join()
    assert _name(runs, run_id) == "theirs"
    assert runs.by_id(other) is None


def _name(runs: RunsModel, run_id: str) -> str:
    run = runs.by_id(run_id)
    return run.name if run else ""
