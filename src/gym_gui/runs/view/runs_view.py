"""RunsView: the list of runs and the actions on the selected ones."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gym_gui.runs.model.run_groups import GROUPINGS, Grouping
from gym_gui.runs.model.run_search import completions
from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runs.model.runs_table import RunsTable
from gym_gui.runs.view.action_menu import RunActionMenu
from gym_gui.runs.view.run_editors import NoteEditor, TagEditor
from gym_gui.runs.view.runs_bar import RunsBar
from gym_gui.runs.view.runs_grid import ColumnsMenu, RunsGrid, ViewSettings
from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.run_actions import RunAction, applicable_ids
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.run_text import run_count
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from mosaic.contract.runs import RunRecord

_GROUPING_KEY = "runs/grouping"
_SORTING_KEY = "runs/sorting"
_MAX_TAGS = 30


class RunsView(QWidget):
    """Shows `RunsModel`, in the dock at the bottom."""

    open_requested = Signal(str)
    """Open the page of this run: Enter or a double click."""
    watch_requested = Signal(str)
    replay_requested = Signal(str)
    compare_requested = Signal(list)
    """Ids of two or more runs."""
    duplicate_requested = Signal(str)
    """Open the run's configuration as a new draft in the training form."""
    selected = Signal(str)
    """Emitted when the user selects another run; not when a filter hides the selected one."""

    def __init__(
        self,
        model: RunsModel,
        actions: RunActions,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        settings: ViewSettings | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._actions = actions
        self._settings = settings
        self._pending_run = ""
        self._last_selected = ""
        self.runs = RunsTable(model, self)
        self._restore_order()
        self.table = RunsGrid(self.runs, theme, self)
        self.action_menu = RunActionMenu(self._do, theme, self.table)
        self.menu = self.action_menu.menu(self)
        self.columns = ColumnsMenu(self.table, settings, self)
        self.bar = RunsBar(
            lambda word: completions(word, model.runs),
            self.action_menu,
            self.menu,
            self.columns,
            theme,
        )
        self.bar.set_grouping(self.runs.grouping)
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

    def selected_runs(self) -> list[RunRecord]:
        return self.table.selected_runs()

    def select(self, run_id: str) -> None:
        """Select a run and scroll to it, as soon as it is listed."""
        self._pending_run = run_id
        self._select_pending()

    def _subscribe(self) -> None:
        bar, table, deletions = self.bar, self.table, self._actions.deletions
        self.filter.textChanged.connect(self.runs.set_filter)
        self.filter.list_requested.connect(lambda: table.setFocus(Qt.FocusReason.TabFocusReason))
        bar.archived_toggled.connect(self.runs.show_archived)
        bar.grouping_selected.connect(self._group_by)
        bar.collapse_all_requested.connect(self.runs.set_all_collapsed)
        table.customContextMenuRequested.connect(self._show_menu_at)
        header = table.horizontalHeader()
        header.customContextMenuRequested.connect(
            lambda position: self.columns.popup(header.mapToGlobal(position))
        )
        header.sortIndicatorChanged.connect(lambda *_: self._save_order())
        table.row_activated.connect(self._on_activated)
        table.copy_requested.connect(self._copy_ids)
        table.selectionModel().currentRowChanged.connect(lambda *_: self._emit_selected())
        table.selectionModel().selectionChanged.connect(lambda *_: self._emit_selected())
        table.selectionModel().selectionChanged.connect(lambda *_: self._update())
        self._empty.action_triggered.connect(self._on_empty_acted)
        self.runs.rename_requested.connect(self._actions.rename)
        self.runs.updated.connect(self._update)
        self.runs.updated.connect(self._select_pending)
        deletions.changed.connect(self._hide_deleted)
        self._add_key(QKeySequence.StandardKey.Find, self.filter.setFocus)
        self._add_key(QKeySequence.StandardKey.Undo, deletions.undo)

    def _add_key(self, key: QKeySequence.StandardKey, do: Callable[[], None]) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(do)

    # Actions.

    def _do(self, action: RunAction) -> None:
        selected = self.selected_runs()
        run_ids = applicable_ids(action, selected)
        if not run_ids:
            return
        actions, first = self._actions, run_ids[0]
        handlers: dict[RunAction, Callable[[], object]] = {
            "open": lambda: self.open_requested.emit(first),
            "watch": lambda: self.watch_requested.emit(first),
            "replay": lambda: self.replay_requested.emit(first),
            "pause": lambda: actions.pause(run_ids),
            "resume": lambda: actions.resume(run_ids),
            "stop": lambda: actions.stop(run_ids),
            "compare": lambda: self.compare_requested.emit(run_ids),
            "duplicate": lambda: self.duplicate_requested.emit(first),
            "rename": lambda: self._rename(first),
            "tag": lambda: self._edit_tags(selected),
            "note": lambda: self._edit_note(selected[0]),
            "export": lambda: actions.export(first),
            "folder": lambda: actions.open_folder(first),
            "copy": self._copy_ids,
            "archive": lambda: actions.archive(run_ids),
            "restore": lambda: actions.archive(run_ids, archived=False),
            "delete": lambda: actions.delete(run_ids),
        }
        handlers[action]()

    def _on_activated(self, row: int) -> None:
        """Enter and double click."""
        run = self.runs.run_at(row)
        if run is not None:
            self.open_requested.emit(run.run_id)
        else:
            self.table.toggle_group(row)

    def _rename(self, run_id: str) -> None:
        row = self.runs.row_of(run_id)
        if row is not None:
            self.table.edit(self.runs.index(row, RunColumn.RUN))

    def _edit_tags(self, runs: list[RunRecord]) -> None:
        others = sorted({tag for run in self._model.runs for tag in run.tags})[:_MAX_TAGS]
        editor = TagEditor([run.tags for run in runs], others, self)
        run_ids = [run.run_id for run in runs]
        editor.saved.connect(lambda add, remove: self._actions.change_tags(run_ids, add, remove))
        editor.show_beside(self._screen_rect(runs[0]))

    def _edit_note(self, run: RunRecord) -> None:
        editor = NoteEditor(run.note, self)
        editor.saved.connect(lambda note: self._actions.write_note(run.run_id, note))
        editor.show_beside(self._screen_rect(run))

    def _screen_rect(self, run: RunRecord) -> QRect:
        """The rectangle of the run's name, in screen coordinates."""
        row = self.runs.row_of(run.run_id) or 0
        rect = self.table.visualRect(self.runs.index(row, RunColumn.RUN))
        return QRect(self.table.viewport().mapToGlobal(rect.topLeft()), rect.size())

    def _copy_ids(self) -> None:
        ids = "\n".join(run.run_id for run in self.selected_runs())
        if ids:
            QGuiApplication.clipboard().setText(ids)

    def _hide_deleted(self) -> None:
        """Hide deleted runs and select the next row, so that the keyboard stays usable."""
        self.runs.set_hidden(self._actions.deletions.hidden_run_ids)
        index = self.table.currentIndex()
        if index.isValid() and not self.selected_runs():
            self.table.selectRow(index.row())

    # Order and selection.

    def _group_by(self, grouping: Grouping) -> None:
        self.runs.group_by(grouping)
        self.bar.set_grouping(grouping)
        if self._settings is not None:
            self._settings.set(_GROUPING_KEY, grouping)

    def _save_order(self) -> None:
        if self._settings is not None:
            column, order = self.runs.sorting
            sign = "-" if order is Qt.SortOrder.DescendingOrder else "+"
            self._settings.set(_SORTING_KEY, f"{sign}{column.name.lower()}")

    def _restore_order(self) -> None:
        if self._settings is None:
            return
        grouping = self._settings.text(_GROUPING_KEY)
        self.runs.group_by(next((known for known in GROUPINGS if known == grouping), "none"))
        saved = self._settings.text(_SORTING_KEY)
        columns = {column.name.lower(): column for column in RunColumn}
        if saved[1:] in columns:
            orders = Qt.SortOrder
            is_descending = saved.startswith("-")
            self.runs.sort(
                columns[saved[1:]],
                orders.DescendingOrder if is_descending else orders.AscendingOrder,
            )

    def _emit_selected(self) -> None:
        """Ignore the row that Qt makes current after a removal: it is not selected."""
        index = self.table.currentIndex()
        run = self.runs.run_at(index.row()) if index.isValid() else None
        if (
            run
            and run.run_id != self._last_selected
            and self.table.selectionModel().isSelected(index)
        ):
            self._last_selected = run.run_id
            self.selected.emit(run.run_id)

    def _select_pending(self) -> None:
        row = self.runs.row_of(self._pending_run) if self._pending_run else None
        if row is not None:
            self._pending_run = ""
            self.table.selectRow(row)
            self.table.scrollTo(self.runs.index(row, 0))

    def _show_menu_at(self, position: QPoint) -> None:
        if self.runs.run_at(self.table.rowAt(position.y())) is not None:
            self.menu.popup(self.table.viewport().mapToGlobal(position))

    def _on_empty_acted(self) -> None:
        if self.filter.text():
            self.filter.clear()
        else:
            self.bar.archived.setChecked(True)

    def _update(self) -> None:
        selected = self.selected_runs()
        self.action_menu.update_actions(selected)
        matching, known = self.runs.run_count, self.runs.known_count
        is_filtered = matching != known
        text = (
            f"{format_integer(matching)} of {run_count(known)}" if is_filtered else run_count(known)
        )
        if self.runs.archived_count:
            text += f", {format_integer(self.runs.archived_count)} archived"
        short = format_integer(matching) if matching else ""
        if len(selected) > 1:
            short = f"{format_integer(len(selected))} selected"
            text = f"{short} · {text}"
        self.bar.set_count(text, short)
        if matching:
            self._stack.setCurrentWidget(self.table)
            return
        if not self._model.is_listed:
            self._empty.show_message("Loading runs", "They appear when the daemon answers.")
        elif self.filter.text():
            self._empty.show_message(
                "No matching runs", "Try a shorter filter.", "Clear the filter"
            )
        elif self.runs.archived_count:
            self._empty.show_message("All runs are archived", "", "Show archived runs")
        else:
            self._empty.show_message(
                "No runs yet", "Play an environment or train an agent to start one."
            )
        self._stack.setCurrentWidget(self._empty)
