"""The list of runs without a daemon: what is chosen, grouped, folded, filtered and remembered."""

from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from gym_gui.runs.model.runs_columns import RunColumn
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
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats

_USUAL = RunRecord(
    run_id="",
    worker="cleanrl_worker",
    mode="train",
    algo="ppo",
    env_id="CartPole-v1",
    seed=1,
    state=RunState.SUCCEEDED,
    created_at=0.0,
    digest=RunStats(steps=10, episodes=2, mean_return=1.0),
)


class _Settings:
    """Kept in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def text(self, key: str, default: str = "") -> str:
        return self.kept.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.kept[key] = value


class _Made:
    def __init__(self, home: Path, tasks: Tasks, ticker: UiTicker, theme: ThemeModel) -> None:
        notices, link = Notices(), TrainerLink(Home(home))
        self.settings = _Settings()
        self.theme = theme
        self.runs = RunsModel(link, tasks, ticker, notices)
        self.runs.is_listed = True
        self.actions = RunActions(link, tasks, notices, self.runs)

    def put(self, *records: RunRecord) -> None:
        for number, record in enumerate(records):
            run_id, created_at = f"run{number}", 1e9 - number
            self.runs.apply(msgspec.structs.replace(record, run_id=run_id, created_at=created_at))

    def view(self, qtbot: QtBot) -> RunsView:
        view = RunsView(self.runs, self.actions, self.theme, settings=self.settings)
        qtbot.addWidget(view)
        view.resize(1400, 400)
        view.show()
        return view


@pytest.fixture
def made(tmp_path: Path, tasks: Tasks, ticker: UiTicker, theme: ThemeModel) -> _Made:
    return _Made(tmp_path, tasks, ticker, theme)


def _of(state: RunState, *tags: str, archived: bool = False) -> RunRecord:
    return msgspec.structs.replace(_USUAL, state=state, tags=tags, archived=archived)


def test_every_greyed_action_says_why(qtbot: QtBot, made: _Made) -> None:
    """With nothing, one run of any state, or several chosen."""
    made.put(*(_of(state) for state in RunState), _of(RunState.SUCCEEDED, archived=True))
    view = made.view(qtbot)
    view.bar.archived.setChecked(True)
    choices = [[], *([row] for row in range(view.runs.rowCount())), [0, 1], [5, 6, 7]]
    for rows in choices:
        view.table.choose(rows)
        for action in view.menu.actions():
            if action.text() and not action.isEnabled():
                assert action.toolTip().endswith("."), action.text()
        assert view.bar.buttons["pause"].isHidden() != view.bar.buttons["resume"].isHidden()
    view.table.choose([0, 1])
    assert view.deeds["compare"].isEnabled()
    with qtbot.waitSignal(view.compare_requested) as compared:
        view.deeds["compare"].trigger()
    assert compared.args == [["run0", "run1"]]
    view.table.choose([5])
    with qtbot.waitSignal(view.duplicate_requested) as doubled:
        view.deeds["duplicate"].trigger()
    assert doubled.args == ["run5"]


def test_headings_by_keys(qtbot: QtBot, made: _Made) -> None:
    """Left folds or goes to the heading, Right unfolds, Enter does either."""
    made.put(_of(RunState.RUNNING), _of(RunState.FAILED), _of(RunState.FAILED))
    view = made.view(qtbot)
    view.bar.grouping_chosen.emit("state")
    assert view.runs.rowCount() == 5
    view.table.selectRow(4)
    QTest.keyClick(view.table, Qt.Key.Key_Left)
    assert view.table.currentIndex().row() == 2
    assert view.chosen_runs() == []
    QTest.keyClick(view.table, Qt.Key.Key_Left)
    assert view.runs.rowCount() == 3
    QTest.keyClick(view.table, Qt.Key.Key_Right)
    assert view.runs.rowCount() == 5
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert view.runs.rowCount() == 3
    place = view.table.visualRect(view.runs.index(2, 0)).center()
    QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.runs.rowCount() == 5


def test_the_choice_stays(qtbot: QtBot, made: _Made) -> None:
    """However rows are filtered, grouped and put in order."""
    made.put(*(_of(state) for state in (*RunState, *RunState, *RunState)))
    view = made.view(qtbot)
    view.table.choose([2, 11])

    def chosen() -> set[str]:
        return {run.run_id for run in view.chosen_runs()}

    assert chosen() == {"run2", "run11"}
    view.table.sortByColumn(RunColumn.STATE, Qt.SortOrder.AscendingOrder)
    view.bar.grouping_chosen.emit("state")
    assert chosen() == {"run2", "run11"}
    view.filter.setText("state:running")
    assert chosen() == {"run2", "run11"}
    view.filter.setText("")
    assert chosen() == {"run2", "run11"}


def test_only_the_person_chooses_what_is_looked_at(qtbot: QtBot, made: _Made) -> None:
    """Not a filter, nor a run that goes out of it; after a deletion the next one is chosen."""
    made.put(_of(RunState.RUNNING), _of(RunState.RUNNING), _of(RunState.FAILED))
    view = made.view(qtbot)
    seen: list[str] = []
    view.selected.connect(seen.append)
    view.filter.setText("state:running")
    view.table.selectRow(0)
    made.put(_of(RunState.SUCCEEDED))
    assert view.runs.rowCount() == 1
    view.filter.setText("")
    assert seen == ["run0"]
    view.table.selectRow(1)
    view.table.selectRow(0)
    view.deeds["delete"].trigger()
    assert seen == ["run0", "run1", "run0", "run1"]
    assert [run.run_id for run in view.chosen_runs()] == ["run1"]
    view._actions.deletions.undo()
    assert view.runs.rowCount() == 3


def test_columns_order_and_groups_are_remembered(qtbot: QtBot, made: _Made) -> None:
    """From one window to the next."""
    made.put(_USUAL)
    view = made.view(qtbot)
    (note,) = (box for box in view.columns.actions() if box.text() == "Note")
    note.trigger()
    assert view.table.isColumnHidden(RunColumn.NOTE)
    view.table.sortByColumn(RunColumn.DISK, Qt.SortOrder.DescendingOrder)
    view.bar.grouping_chosen.emit("environment")
    again = made.view(qtbot)
    assert again.table.isColumnHidden(RunColumn.NOTE)
    assert not again.table.isColumnHidden(RunColumn.DISK)
    assert again.runs.sorting == (RunColumn.DISK, Qt.SortOrder.DescendingOrder)
    assert again.runs.grouping == "environment"


def test_the_filter_offers_what_there_is(qtbot: QtBot, made: _Made) -> None:
    """The name of a field, then its values; Escape clears."""
    made.put(_of(RunState.FAILED), _of(RunState.RUNNING))
    view = made.view(qtbot)
    QTest.keyClicks(view.filter, "sta")
    view.filter._completer.activated.emit("state:")
    assert view.filter.text() == "state:"
    assert view.filter._offered.stringList() == ["state:failed", "state:running"]
    view.filter._completer.activated.emit("state:failed")
    assert view.filter.text() == "state:failed "
    assert [run.run_id for run in made.runs.runs if view.runs.row_of(run.run_id) == 0] == ["run0"]
    QTest.keyClick(view.filter, Qt.Key.Key_Escape)
    assert view.filter.text() == ""
    assert view.runs.rowCount() == 2


def test_tags_of_several_runs(qtbot: QtBot, made: _Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only some have is half checked, and stays as it is unless it is touched."""
    made.put(_of(RunState.FAILED, "both", "one"), _of(RunState.LOST, "both"), _of(RunState.LOST))
    view = made.view(qtbot)
    changes: list[tuple[object, ...]] = []
    monkeypatch.setattr(made.actions, "change_tags", lambda *change: changes.append(change))
    view.table.choose([0, 1])
    view.deeds["tag"].trigger()
    (editor,) = view.findChildren(TagEditor)
    states = {tag: box.checkState() for tag, box in editor.boxes.items()}
    assert states == {"both": Qt.CheckState.Checked, "one": Qt.CheckState.PartiallyChecked}
    both: QCheckBox = editor.boxes["both"]
    both.click()
    QTest.keyClicks(editor.line, "new")
    QTest.keyClick(editor.line, Qt.Key.Key_Return)
    assert changes == [(["run0", "run1"], ("new",), ("both",))]


def test_a_note_is_dropped_by_escape_alone(
    qtbot: QtBot, made: _Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A click elsewhere keeps what was written."""
    made.put(_USUAL)
    view = made.view(qtbot)
    notes: list[tuple[str, str]] = []
    monkeypatch.setattr(made.actions, "write_note", lambda *note: notes.append(note))
    for end in (lambda editor: QTest.keyClick(editor.text, Qt.Key.Key_Escape), NoteEditor.close):
        view.table.choose([0])
        view.deeds["note"].trigger()
        (editor,) = (each for each in view.findChildren(NoteEditor) if each.isVisible())
        QTest.keyClicks(editor.text, "seen")
        end(editor)
    assert notes == [("run0", "seen")]


def test_all_archived(qtbot: QtBot, made: _Made) -> None:
    """Where there is nothing to show, it says what to do."""
    made.put(_of(RunState.SUCCEEDED, archived=True))
    view = made.view(qtbot)
    assert view.bar.count.text() == "0 runs, 1 archived"
    view._empty.acted.emit()
    assert view.runs.rowCount() == 1
