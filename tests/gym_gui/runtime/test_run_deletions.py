"""Runs are deleted when the time for undo is over."""

import dataclasses
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
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process

_SHORT_UNDO_MS = 50
_LONG_UNDO_MS = 3_600_000


@pytest.fixture
def runs(services: Services, qtbot: QtBot) -> Iterator[RunsModel]:
    model = RunsModel(services)
    qtbot.waitUntil(lambda: model.is_listed, timeout=TIMEOUT_MS)
    yield model
    model.close()
    assert model.join(10)


@pytest.fixture
def posted(notices: Notices) -> list[Notice]:
    received: list[Notice] = []
    notices.posted.connect(received.append)
    return received


def _wait_for(qtbot: QtBot, runs: RunsModel, run_id: str, state: RunState) -> None:
    def has_state() -> bool:
        run = runs.by_id(run_id)
        return run is not None and run.state is state

    qtbot.waitUntil(has_state, timeout=TIMEOUT_MS)


def test_undo_restores_and_closing_deletes(
    qtbot: QtBot, runs: RunsModel, services: Services, posted: list[Notice], daemon: DaemonUnderTest
) -> None:
    """Undo restores all pending runs; closing the window deletes them at once."""
    actions = RunActions(services, runs, undo_ms=_LONG_UNDO_MS)
    table = RunsTable(runs)
    deletions = actions.deletions
    deletions.changed.connect(lambda: table.set_hidden(deletions.hidden_run_ids))
    first, second = daemon.submit(steps=10), daemon.submit(steps=10)
    for run_id in (first, second):
        _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    actions.delete([first])
    actions.delete([second])
    assert table.rowCount() == 0
    assert [notice.message for notice in posted][-1] == "Deleted 2 runs."
    assert posted[-1].topic == posted[0].topic
    assert posted[-1].run is not None
    posted[-1].run()
    assert table.rowCount() == 2

    actions.delete([second])
    actions.close()
    assert actions.join(TIMEOUT_MS / 1000)
    qtbot.waitUntil(lambda: runs.by_id(second) is None, timeout=TIMEOUT_MS)
    assert runs.by_id(first) is not None


def test_rejected_deletions_are_shown_again(
    qtbot: QtBot, runs: RunsModel, services: Services, posted: list[Notice], daemon: DaemonUnderTest
) -> None:
    """A run that the daemon rejects to delete is visible again, with a notice."""
    actions = RunActions(services, runs, undo_ms=_SHORT_UNDO_MS)
    finished, live = daemon.submit(steps=10), daemon.submit(steps=1_000_000, rate=100)
    _wait_for(qtbot, runs, finished, RunState.SUCCEEDED)
    _wait_for(qtbot, runs, live, RunState.RUNNING)
    actions.delete([finished, live])
    assert actions.deletions.hidden_run_ids == {finished, live}
    qtbot.waitUntil(lambda: runs.by_id(finished) is None, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: not actions.deletions.hidden_run_ids, timeout=TIMEOUT_MS)
    assert posted[-1].tone == "bad"
    assert live in posted[-1].message
    assert not actions.deletions.can_undo


def test_runs_are_deleted_when_the_daemon_is_back(
    qtbot: QtBot,
    runs: RunsModel,
    services: Services,
    link: TrainerLink,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """Pending deletions wait for a lost daemon, without an error."""
    actions = RunActions(services, runs, undo_ms=_SHORT_UNDO_MS)
    run_id = daemon.submit(steps=10)
    _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    daemon.kill()
    qtbot.waitUntil(lambda: link.state is LinkState.LOST, timeout=TIMEOUT_MS)
    with qtbot.waitSignal(notices.withdrawn, timeout=TIMEOUT_MS):
        actions.delete([run_id])
    assert actions.deletions.hidden_run_ids == {run_id}
    assert daemon.start().startswith("ready ")
    qtbot.waitUntil(lambda: runs.by_id(run_id) is None, timeout=TIMEOUT_MS)
    assert [notice.tone for notice in posted if notice.tone == "bad"] == []
    assert not actions.deletions.hidden_run_ids


def test_a_run_deleted_by_another_window(
    qtbot: QtBot,
    runs: RunsModel,
    services: Services,
    notices: Notices,
    posted: list[Notice],
    daemon: DaemonUnderTest,
) -> None:
    """Nothing is left to undo, and no error is posted."""
    actions = RunActions(services, runs, undo_ms=_LONG_UNDO_MS)
    run_id = daemon.submit(steps=10)
    _wait_for(qtbot, runs, run_id, RunState.SUCCEEDED)
    actions.delete([run_id])
    with qtbot.waitSignal(notices.withdrawn, timeout=TIMEOUT_MS):
        daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=run_id))
    assert not actions.deletions.can_undo
    assert not actions.deletions.hidden_run_ids
    assert [notice.message for notice in posted] == ["Deleted Echo-v0 echo s1."]


class _DelayedTasks(Tasks):
    """Delivers results when `gate` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def run(self, parent: QObject, op: Callable[[], Any], *callbacks: Any) -> None:
        def delayed() -> Any:
            outcome = op()
            assert self.gate.wait(TIMEOUT_MS / 1000)
            return outcome

        super().run(parent, delayed, *callbacks)


def test_a_late_answer_does_not_overwrite_newer_records(
    qtbot: QtBot, runs: RunsModel, services: Services, daemon: DaemonUnderTest
) -> None:
    """If two windows rename a run, the last name is shown; a deleted run stays deleted."""
    delayed = _DelayedTasks()
    actions = RunActions(dataclasses.replace(services, tasks=delayed), runs)
    run_id, other = daemon.submit(steps=10), daemon.submit(steps=10)
    for renamed in (run_id, other):
        _wait_for(qtbot, runs, renamed, RunState.SUCCEEDED)
        actions.rename(renamed, "mine")
        qtbot.waitUntil(
            lambda renamed=renamed: _name(runs, renamed) == "mine",  # type: ignore[misc]
            timeout=TIMEOUT_MS,
        )
    daemon.stub.AnnotateRun(pb.AnnotateRunRequest(run_id=run_id, name="theirs"))
    daemon.stub.DeleteRun(pb.DeleteRunRequest(run_id=other))
    qtbot.waitUntil(
        lambda: _name(runs, run_id) == "theirs" and runs.by_id(other) is None, timeout=TIMEOUT_MS
    )
    delayed.gate.set()
    qtbot.waitUntil(lambda: not delayed.is_busy, timeout=TIMEOUT_MS)
    delayed.close()
    assert delayed.join()
    assert _name(runs, run_id) == "theirs"
    assert runs.by_id(other) is None


def _name(runs: RunsModel, run_id: str) -> str:
    run = runs.by_id(run_id)
    return run.name if run else ""
