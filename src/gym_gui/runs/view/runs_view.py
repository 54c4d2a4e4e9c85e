"""RunsView: the list of runs, with what can be done with them."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gym_gui.runs.model.run_groups import WAYS, Grouping
from gym_gui.runs.model.run_search import completions
from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runs.model.runs_table import RunsTable
from gym_gui.runs.view.action_menu import RunActionMenu
from gym_gui.runs.view.columns_menu import ColumnsMenu, KeptSettings
from gym_gui.runs.view.note_editor import NoteEditor
from gym_gui.runs.view.runs_bar import RunsBar
from gym_gui.runs.view.runs_grid import RunsGrid
from gym_gui.runs.view.tag_editor import TagEditor
from gym_gui.runtime.models.run_actions import RunAction, fitting
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.run_text import integer, run_count
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from mosaic.contract.runs import RunRecord

_GROUPING = "runs/grouping"
_SORTING = "runs/sorting"
_MOST_TAGS = 30


class RunsView(QWidget):
    """For the dock at the bottom."""

    open_requested = Signal(str)
    """The page of this run: Enter or a double click."""
    watch_requested = Signal(str)
    replay_requested = Signal(str)
    compare_requested = Signal(list)
    """Ids of two or more runs."""
    duplicate_requested = Signal(str)
    """Its configuration as a new draft in the training form."""
    selected = Signal(str)
    """The run that the person looks at. One that is filtered away is still looked at."""

    def __init__(
        self,
        model: RunsModel,
        actions: RunActions,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        settings: KeptSettings | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._actions = actions
        self._settings = settings
        self._wanted_run = ""
        self._told_run = ""
        self.runs = RunsTable(model, self)
        self._recall_order()
        self.table = RunsGrid(self.runs, theme, self)
        self.deeds = RunActionMenu(self._do, theme, self.table)
        self.menu = self.deeds.menu(self)
        self.columns = ColumnsMenu(self.table, settings, self)
        self.bar = RunsBar(
            lambda word: completions(word, model.runs), self.deeds, self.menu, self.columns, theme
        )
        self.bar.show_grouping(self.runs.grouping)
        self.filter = self.bar.filter
        self._empty = EmptyState("runs", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def chosen_runs(self) -> list[RunRecord]:
        return self.table.chosen_runs()

    def select(self, run_id: str) -> None:
        """Show and choose a run; one that is not listed yet, as soon as it is."""
        self._wanted_run = run_id
        self._choose_wanted()

    def _subscribe(self) -> None:
        bar, table, deletions = self.bar, self.table, self._actions.deletions
        self.filter.textChanged.connect(self.runs.look_for)
        self.filter.left_downwards.connect(lambda: table.setFocus(Qt.FocusReason.TabFocusReason))
        bar.archived_toggled.connect(self.runs.show_archived)
        bar.grouping_chosen.connect(self._group_by)
        bar.folding_chosen.connect(lambda folds: self.runs.fold_all(folds=folds))
        table.customContextMenuRequested.connect(self._show_menu_at)
        header = table.horizontalHeader()
        header.customContextMenuRequested.connect(
            lambda place: self.columns.popup(header.mapToGlobal(place))
        )
        header.sortIndicatorChanged.connect(lambda *_: self._keep_order())
        table.row_activated.connect(self._on_activated)
        table.copy_requested.connect(self._copy_ids)
        table.selectionModel().currentRowChanged.connect(lambda *_: self._tell_selected())
        table.selectionModel().selectionChanged.connect(lambda *_: self._tell_selected())
        table.selectionModel().selectionChanged.connect(lambda *_: self._update())
        self._empty.acted.connect(self._on_empty_acted)
        self.runs.rename_wanted.connect(self._actions.rename)
        self.runs.updated.connect(self._update)
        self.runs.updated.connect(self._choose_wanted)
        deletions.changed.connect(self._hide_deleted)
        self._add_key(QKeySequence.StandardKey.Find, self.filter.setFocus)
        self._add_key(QKeySequence.StandardKey.Undo, deletions.undo)

    def _add_key(self, key: QKeySequence.StandardKey, do: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(do)

    # What is done with what is chosen.

    def _do(self, deed: RunAction) -> None:
        chosen = self.chosen_runs()
        run_ids = fitting(deed, chosen)
        if not run_ids:
            return
        actions, first = self._actions, run_ids[0]
        does: dict[RunAction, Callable[[], object]] = {
            "open": lambda: self.open_requested.emit(first),
            "watch": lambda: self.watch_requested.emit(first),
            "replay": lambda: self.replay_requested.emit(first),
            "pause": lambda: actions.pause(run_ids),
            "resume": lambda: actions.resume(run_ids),
            "stop": lambda: actions.stop(run_ids),
            "compare": lambda: self.compare_requested.emit(run_ids),
            "duplicate": lambda: self.duplicate_requested.emit(first),
            "rename": lambda: self._rename(first),
            "tag": lambda: self._edit_tags(chosen),
            "note": lambda: self._edit_note(chosen[0]),
            "export": lambda: actions.export(first),
            "folder": lambda: actions.open_folder(first),
            "copy": self._copy_ids,
            "archive": lambda: actions.archive(run_ids),
            "restore": lambda: actions.archive(run_ids, archived=False),
            "delete": lambda: actions.delete(run_ids),
        }
        does[deed]()

    def _on_activated(self, row: int) -> None:
        """Enter and double click."""
        run = self.runs.run_at(row)
        if run is not None:
            self.open_requested.emit(run.run_id)
        else:
            self.table.fold_or_unfold(row)

    def _rename(self, run_id: str) -> None:
        row = self.runs.row_of(run_id)
        if row is not None:
            self.table.edit(self.runs.index(row, RunColumn.RUN))

    def _edit_tags(self, runs: list[RunRecord]) -> None:
        others = sorted({tag for run in self._model.runs for tag in run.tags})[:_MOST_TAGS]
        editor = TagEditor([run.tags for run in runs], others, self)
        run_ids = [run.run_id for run in runs]
        editor.chosen.connect(lambda add, remove: self._actions.change_tags(run_ids, add, remove))
        editor.show_beside(self._place_of(runs[0]))

    def _edit_note(self, run: RunRecord) -> None:
        editor = NoteEditor(run.note, self)
        editor.written.connect(lambda note: self._actions.write_note(run.run_id, note))
        editor.show_beside(self._place_of(run))

    def _place_of(self, run: RunRecord) -> QRect:
        """On the screen."""
        row = self.runs.row_of(run.run_id) or 0
        place = self.table.visualRect(self.runs.index(row, RunColumn.RUN))
        return QRect(self.table.viewport().mapToGlobal(place.topLeft()), place.size())

    def _copy_ids(self) -> None:
        ids = "\n".join(run.run_id for run in self.chosen_runs())
        if ids:
            QGuiApplication.clipboard().setText(ids)

    def _hide_deleted(self) -> None:
        """The next row is chosen then, so that keys go on from there."""
        self.runs.hide(self._actions.deletions.out_of_sight)
        index = self.table.currentIndex()
        if index.isValid() and not self.chosen_runs():
            self.table.selectRow(index.row())

    # How it is shown.

    def _group_by(self, grouping: Grouping) -> None:
        self.runs.group_by(grouping)
        self.bar.show_grouping(grouping)
        if self._settings is not None:
            self._settings.set(_GROUPING, grouping)

    def _keep_order(self) -> None:
        if self._settings is not None:
            column, order = self.runs.sorting
            sign = "-" if order is Qt.SortOrder.DescendingOrder else "+"
            self._settings.set(_SORTING, f"{sign}{column.name.lower()}")

    def _recall_order(self) -> None:
        if self._settings is None:
            return
        grouping = self._settings.text(_GROUPING)
        self.runs.group_by(next((way for way in WAYS if way == grouping), "none"))
        kept = self._settings.text(_SORTING)
        columns = {column.name.lower(): column for column in RunColumn}
        if kept[1:] in columns:
            orders = Qt.SortOrder
            is_down = kept.startswith("-")
            self.runs.sort(
                columns[kept[1:]], orders.DescendingOrder if is_down else orders.AscendingOrder
            )

    def _tell_selected(self) -> None:
        """Of a row that goes, Qt makes the next one current; only who chooses it looks at it."""
        index = self.table.currentIndex()
        run = self.runs.run_at(index.row()) if index.isValid() else None
        if run and run.run_id != self._told_run and self.table.selectionModel().isSelected(index):
            self._told_run = run.run_id
            self.selected.emit(run.run_id)

    def _choose_wanted(self) -> None:
        row = self.runs.row_of(self._wanted_run) if self._wanted_run else None
        if row is not None:
            self._wanted_run = ""
            self.table.selectRow(row)
            self.table.scrollTo(self.runs.index(row, 0))

    def _show_menu_at(self, place: QPoint) -> None:
        if self.runs.run_at(self.table.rowAt(place.y())) is not None:
            self.menu.popup(self.table.viewport().mapToGlobal(place))

    def _on_empty_acted(self) -> None:
        if self.filter.text():
            self.filter.clear()
        else:
            self.bar.archived.setChecked(True)

    def _update(self) -> None:
        chosen = self.chosen_runs()
        self.deeds.show_chosen(chosen)
        shown, known = self.runs.run_count, self.runs.known_count
        words = run_count(known) if shown == known else f"{integer(shown)} of {run_count(known)}"
        if self.runs.archived_count:
            words += f", {integer(self.runs.archived_count)} archived"
        short = integer(shown) if shown else ""
        if len(chosen) > 1:
            short = f"{integer(len(chosen))} chosen"
            words = f"{short} · {words}"
        self.bar.say_count(words, short)
        if shown:
            self._stack.setCurrentWidget(self.table)
            return
        if not self._model.is_listed:
            self._empty.say("Looking for runs", "They appear here when the daemon answers.")
        elif self.filter.text():
            self._empty.say("No run matches", "Try fewer words.", "Clear the filter")
        elif self.runs.archived_count:
            self._empty.say("All runs are archived", "", "Show archived runs")
        else:
            self._empty.say("No runs yet", "Play an environment or train an agent to make one.")
        self._stack.setCurrentWidget(self._empty)
