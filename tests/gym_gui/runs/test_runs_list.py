"""The list of runs without a daemon: selection, groups, filter and saved settings."""

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox
from pytestqt.qtbot import QtBot

from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runs.view.run_editors import NoteEditor, TagEditor
from gym_gui.runs.view.runs_view import RunsView
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats

_RUN = RunRecord(
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
    """In-memory settings."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def text(self, key: str, default: str = "") -> str:
        return self.values.get(key, default)

    def set(self, key: str, value: str) -> None:
        self.values[key] = value


class _Setup:
    def __init__(self, services: Services, theme: ThemeModel) -> None:
        self.settings = _Settings()
        self.theme = theme
        self.runs = RunsModel(services)
        self.runs.is_listed = True
        self.actions = RunActions(services, self.runs)

    def add_runs(self, *records: RunRecord) -> None:
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
def setup(offline_services: Services, theme: ThemeModel) -> _Setup:
    return _Setup(offline_services, theme)


def _run(state: RunState, *tags: str, archived: bool = False) -> RunRecord:
    return msgspec.structs.replace(_RUN, state=state, tags=tags, archived=archived)


def test_every_disabled_action_has_a_reason(qtbot: QtBot, setup: _Setup) -> None:
    """With no run, one run of any state, or several runs selected."""
    setup.add_runs(*(_run(state) for state in RunState), _run(RunState.SUCCEEDED, archived=True))
    view = setup.view(qtbot)
    view.bar.archived.setChecked(True)
    selections = [[], *([row] for row in range(view.runs.rowCount())), [0, 1], [5, 6, 7]]
    for rows in selections:
        view.table.select_rows(rows)
        for action in view.menu.actions():
            if action.text() and not action.isEnabled():
                assert action.toolTip().endswith("."), action.text()
        assert view.bar.buttons["pause"].isHidden() != view.bar.buttons["resume"].isHidden()
    view.table.select_rows([0, 1])
    assert view.action_menu["compare"].isEnabled()
    with qtbot.waitSignal(view.compare_requested) as compared:
        view.action_menu["compare"].trigger()
    assert compared.args == [["run0", "run1"]]
    view.table.select_rows([5])
    with qtbot.waitSignal(view.duplicate_requested) as duplicated:
        view.action_menu["duplicate"].trigger()
    assert duplicated.args == ["run5"]


def test_keys_collapse_and_expand_groups(qtbot: QtBot, setup: _Setup) -> None:
    """Left collapses a group or selects its heading, Right expands it, Enter toggles it."""
    setup.add_runs(_run(RunState.RUNNING), _run(RunState.FAILED), _run(RunState.FAILED))
    view = setup.view(qtbot)
    view.bar.grouping_selected.emit("state")
    assert view.runs.rowCount() == 5
    view.table.selectRow(4)
    QTest.keyClick(view.table, Qt.Key.Key_Left)
    assert view.table.currentIndex().row() == 2
    assert view.selected_runs() == []
    QTest.keyClick(view.table, Qt.Key.Key_Left)
    assert view.runs.rowCount() == 3
    QTest.keyClick(view.table, Qt.Key.Key_Right)
    assert view.runs.rowCount() == 5
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert view.runs.rowCount() == 3
    position = view.table.visualRect(view.runs.index(2, 0)).center()
    QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert view.runs.rowCount() == 5


def test_selection_is_preserved(qtbot: QtBot, setup: _Setup) -> None:
    """Filter, groups and sort order do not change the selected runs."""
    setup.add_runs(*(_run(state) for state in (*RunState, *RunState, *RunState)))
    view = setup.view(qtbot)
    view.table.select_rows([2, 11])

    def selected_ids() -> set[str]:
        return {run.run_id for run in view.selected_runs()}

    assert selected_ids() == {"run2", "run11"}
    view.table.sortByColumn(RunColumn.STATE, Qt.SortOrder.AscendingOrder)
    view.bar.grouping_selected.emit("state")
    assert selected_ids() == {"run2", "run11"}
    view.filter.setText("state:running")
    assert selected_ids() == {"run2", "run11"}
    view.filter.setText("")
    assert selected_ids() == {"run2", "run11"}


def test_only_the_user_changes_the_selected_run(qtbot: QtBot, setup: _Setup) -> None:
    """A filter does not; after a deletion the next run is selected."""
    setup.add_runs(_run(RunState.RUNNING), _run(RunState.RUNNING), _run(RunState.FAILED))
    view = setup.view(qtbot)
    selected: list[str] = []
    view.selected.connect(selected.append)
    view.filter.setText("state:running")
    view.table.selectRow(0)
    setup.add_runs(_run(RunState.SUCCEEDED))
    assert view.runs.rowCount() == 1
    view.filter.setText("")
    assert selected == ["run0"]
    view.table.selectRow(1)
    view.table.selectRow(0)
    view.action_menu["delete"].trigger()
    assert selected == ["run0", "run1", "run0", "run1"]
    assert [run.run_id for run in view.selected_runs()] == ["run1"]
    view._actions.deletions.undo()
    assert view.runs.rowCount() == 3


def test_columns_order_and_groups_are_saved(qtbot: QtBot, setup: _Setup) -> None:
    """A second view restores the columns, the sort order and the grouping."""
    setup.add_runs(_RUN)
    view = setup.view(qtbot)
    (note,) = (box for box in view.columns.actions() if box.text() == "Note")
    note.trigger()
    assert view.table.isColumnHidden(RunColumn.NOTE)
    view.table.sortByColumn(RunColumn.DISK, Qt.SortOrder.DescendingOrder)
    view.bar.grouping_selected.emit("environment")
    restored = setup.view(qtbot)
    assert restored.table.isColumnHidden(RunColumn.NOTE)
    assert not restored.table.isColumnHidden(RunColumn.DISK)
    assert restored.runs.sorting == (RunColumn.DISK, Qt.SortOrder.DescendingOrder)
    assert restored.runs.grouping == "environment"


def test_filter_completions(qtbot: QtBot, setup: _Setup) -> None:
    """Field names are completed, then values; Escape clears the filter."""
    setup.add_runs(_run(RunState.FAILED), _run(RunState.RUNNING))
    view = setup.view(qtbot)
    QTest.keyClicks(view.filter, "sta")
    view.filter._completer.activated.emit("state:")
    assert view.filter.text() == "state:"
    assert view.filter._completion_list.stringList() == ["state:failed", "state:running"]
    view.filter._completer.activated.emit("state:failed")
    assert view.filter.text() == "state:failed "
    assert [run.run_id for run in setup.runs.runs if view.runs.row_of(run.run_id) == 0] == ["run0"]
    QTest.keyClick(view.filter, Qt.Key.Key_Escape)
    assert view.filter.text() == ""
    assert view.runs.rowCount() == 2


def test_edit_tags_of_several_runs(
    qtbot: QtBot, setup: _Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag of some runs is partially checked, and unchanged unless it is clicked."""
    setup.add_runs(
        _run(RunState.FAILED, "both", "one"), _run(RunState.LOST, "both"), _run(RunState.LOST)
    )
    view = setup.view(qtbot)
    changes: list[tuple[object, ...]] = []
    monkeypatch.setattr(setup.actions, "change_tags", lambda *change: changes.append(change))
    view.table.select_rows([0, 1])
    view.action_menu["tag"].trigger()
    (editor,) = view.findChildren(TagEditor)
    states = {tag: box.checkState() for tag, box in editor.boxes.items()}
    assert states == {"both": Qt.CheckState.Checked, "one": Qt.CheckState.PartiallyChecked}
    both: QCheckBox = editor.boxes["both"]
    both.click()
    QTest.keyClicks(editor.new_tags, "new")
    QTest.keyClick(editor.new_tags, Qt.Key.Key_Return)
    assert changes == [(["run0", "run1"], ("new",), ("both",))]


def test_only_escape_discards_a_note(
    qtbot: QtBot, setup: _Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing the editor saves the note."""
    setup.add_runs(_RUN)
    view = setup.view(qtbot)
    notes: list[tuple[str, str]] = []
    monkeypatch.setattr(setup.actions, "write_note", lambda *note: notes.append(note))
    for close in (lambda editor: QTest.keyClick(editor.text, Qt.Key.Key_Escape), NoteEditor.close):
        view.table.select_rows([0])
        view.action_menu["note"].trigger()
        (editor,) = (editor for editor in view.findChildren(NoteEditor) if editor.isVisible())
        QTest.keyClicks(editor.text, "seen")
        close(editor)
    assert notes == [("run0", "seen")]


def test_all_runs_archived(qtbot: QtBot, setup: _Setup) -> None:
    """The empty state offers to show archived runs."""
    setup.add_runs(_run(RunState.SUCCEEDED, archived=True))
    view = setup.view(qtbot)
    assert view.bar.count.text() == "0 runs, 1 archived"
    view._empty.action_triggered.emit()
    assert view.runs.rowCount() == 1
