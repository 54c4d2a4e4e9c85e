"""The list of runs by mouse and keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from gym_gui.models.notices import Notices
from gym_gui.models.run_actions import RunActions
from gym_gui.models.runs_model import RunsModel
from gym_gui.models.theme_model import ThemeModel
from gym_gui.services.pulse import Pulse
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink
from gym_gui.views.runs.runs_view import RunsView
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.trainer.conftest import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def view(
    link: TrainerLink,
    tasks: Tasks,
    pulse: Pulse,
    notices: Notices,
    theme: ThemeModel,
    qtbot: QtBot,
) -> Iterator[RunsView]:
    runs = RunsModel(link, tasks, pulse, notices)
    made = RunsView(runs, RunActions(link, tasks, notices, runs), theme)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    yield made
    runs.close()
    assert runs.join(10)


def test_choose_watch_replay_and_delete(
    qtbot: QtBot, view: RunsView, daemon: DaemonUnderTest
) -> None:
    """Enter watches what goes on and replays what is over; Delete asks first."""
    run_id = daemon.submit(steps=1_000_000, rate=300, episode_length=10)
    with qtbot.waitSignal(view.selected, timeout=PATIENCE_MS) as chosen:
        view.select(run_id)  # which is not listed yet
    assert chosen.args == [run_id]

    def state() -> RunState | None:
        runs = view.chosen_runs()
        return runs[0].state if runs else None

    qtbot.waitUntil(lambda: state() is RunState.RUNNING, timeout=PATIENCE_MS)
    with qtbot.waitSignal(view.watch_requested, timeout=PATIENCE_MS) as watched:
        QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert watched.args == [run_id]
    qtbot.waitUntil(lambda: view.chosen_runs()[0].digest.episodes > 0, timeout=PATIENCE_MS)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    qtbot.waitUntil(lambda: state() is RunState.CANCELLED, timeout=PATIENCE_MS)
    with qtbot.waitSignal(view.replay_requested, timeout=PATIENCE_MS):
        QTest.keyClick(view.table, Qt.Key.Key_Return)
    view.table.copy_asked.emit()
    assert QGuiApplication.clipboard().text() == run_id
    deletion = next(action for action in view.menu.actions() if action.text() == "Delete…")
    deletion.trigger()
    (box,) = view.findChildren(QMessageBox)
    yes = next(button for button in box.buttons() if button.text() == "Delete")
    QTest.mouseClick(yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not view.chosen_runs(), timeout=PATIENCE_MS)
