"""The list of runs by mouse and keys."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gym_gui.runs.view.note_editor import NoteEditor
from gym_gui.runs.view.runs_view import RunsView
from gym_gui.runs.view.tag_editor import TagEditor
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.run_states import RunState
from tests.gym_gui.conftest import PATIENCE_MS
from tests.support.daemon import DaemonUnderTest

pytestmark = pytest.mark.process


@pytest.fixture
def view(
    link: TrainerLink,
    tasks: Tasks,
    ticker: UiTicker,
    notices: Notices,
    theme: ThemeModel,
    qtbot: QtBot,
) -> Iterator[RunsView]:
    runs = RunsModel(link, tasks, ticker, notices)
    actions = RunActions(link, tasks, notices, runs)
    made = RunsView(runs, actions, theme)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    yield made
    actions.close()
    runs.close()
    assert actions.join(10)
    assert runs.join(10)


def test_open_watch_annotate_and_delete(
    qtbot: QtBot, view: RunsView, daemon: DaemonUnderTest
) -> None:
    """Enter opens a run of any state; tags and notes are written beside it; Delete asks nothing."""
    run_id = daemon.submit(steps=1_000_000, rate=300, episode_length=10)
    with qtbot.waitSignal(view.selected, timeout=PATIENCE_MS) as chosen:
        view.select(run_id)  # which is not listed yet
    assert chosen.args == [run_id]

    def state() -> RunState | None:
        runs = view.chosen_runs()
        return runs[0].state if runs else None

    qtbot.waitUntil(lambda: state() is RunState.RUNNING, timeout=PATIENCE_MS)
    assert not view.deeds["delete"].isEnabled()
    assert "stop it first" in view.deeds["delete"].toolTip()
    with qtbot.waitSignal(view.open_requested, timeout=PATIENCE_MS) as opened:
        QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert opened.args == [run_id]
    with qtbot.waitSignal(view.watch_requested, timeout=PATIENCE_MS):
        view.deeds["watch"].trigger()
    qtbot.waitUntil(lambda: view.chosen_runs()[0].digest.episodes > 0, timeout=PATIENCE_MS)
    daemon.stub.CancelRun(pb.CancelRunRequest(run_id=run_id))
    qtbot.waitUntil(lambda: state() is RunState.CANCELLED, timeout=PATIENCE_MS)
    assert not view.deeds["watch"].isEnabled()
    with qtbot.waitSignal(view.replay_requested, timeout=PATIENCE_MS):
        view.deeds["replay"].trigger()

    view.deeds["tag"].trigger()
    (tags,) = view.findChildren(TagEditor)
    QTest.keyClicks(tags.line, "paper, baseline")
    QTest.keyClick(tags.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(view.chosen_runs()[0].tags) == 2, timeout=PATIENCE_MS)
    view.deeds["note"].trigger()
    (note,) = view.findChildren(NoteEditor)
    QTest.keyClicks(note.text, "worth another look")
    QTest.keyClick(note.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: view.chosen_runs()[0].note == "worth another look", timeout=PATIENCE_MS)

    view.table.copy_requested.emit()
    assert QGuiApplication.clipboard().text() == run_id
    view.table.setFocus()
    view.deeds["delete"].trigger()
    assert view.runs.rowCount() == 0
    assert view.chosen_runs() == []
    view._actions.deletions.undo()
    assert view.runs.rowCount() == 1
