"""The list of runs with a daemon: open, watch, annotate and delete."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.runs.view.run_editors import NoteEditor, TagEditor
from gym_gui.runs.view.runs_view import RunsView
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def view(services: Services, theme: ThemeModel, qtbot: QtBot) -> Iterator[RunsView]:
    runs = RunsModel(services)
    actions = RunActions(services, runs)
    runs_view = RunsView(runs, actions, theme)
    qtbot.addWidget(runs_view)
    runs_view.resize(900, 300)
    runs_view.show()
    yield runs_view
    actions.close()
    runs.close()
    assert actions.join(10)
    assert runs.join(10)


def test_run_actions(qtbot: QtBot, view: RunsView, daemon: DaemonUnderTest) -> None:
    """Enter opens a run in any state; tags and note are saved; Delete can be undone."""
    run_id = daemon.submit(steps=1_000_000, rate=300, episode_length=10)
    with qtbot.waitSignal(view.selected, timeout=TIMEOUT_MS) as selection:
        view.select(run_id)  # the run is not listed yet
    assert selection.args == [run_id]

    def state() -> RunState | None:
        runs = view.selected_runs()
        return runs[0].state if runs else None

    qtbot.waitUntil(lambda: state() is RunState.RUNNING, timeout=TIMEOUT_MS)
    assert not view.action_menu["delete"].isEnabled()
    assert "stop it first" in view.action_menu["delete"].toolTip()
    with qtbot.waitSignal(view.open_requested, timeout=TIMEOUT_MS) as opened:
        QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert opened.args == [run_id]
    with qtbot.waitSignal(view.watch_requested, timeout=TIMEOUT_MS):
        view.action_menu["watch"].trigger()
    qtbot.waitUntil(lambda: view.selected_runs()[0].digest.episodes > 0, timeout=TIMEOUT_MS)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    qtbot.waitUntil(lambda: state() is RunState.CANCELLED, timeout=TIMEOUT_MS)
    assert not view.action_menu["watch"].isEnabled()
    with qtbot.waitSignal(view.replay_requested, timeout=TIMEOUT_MS):
        view.action_menu["replay"].trigger()

    view.action_menu["tag"].trigger()
    (tags,) = view.findChildren(TagEditor)
    QTest.keyClicks(tags.new_tags, "paper, baseline")
    QTest.keyClick(tags.new_tags, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(view.selected_runs()[0].tags) == 2, timeout=TIMEOUT_MS)
    view.action_menu["note"].trigger()
    (note,) = view.findChildren(NoteEditor)
    QTest.keyClicks(note.text, "worth a second seed")
    QTest.keyClick(note.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(
        lambda: view.selected_runs()[0].note == "worth a second seed", timeout=TIMEOUT_MS
    )

    view.table.copy_requested.emit()
    assert QGuiApplication.clipboard().text() == run_id
    view.table.setFocus()
    view.action_menu["delete"].trigger()
    assert view.runs.rowCount() == 0
    assert view.selected_runs() == []
    view._actions.deletions.undo()
    assert view.runs.rowCount() == 1
