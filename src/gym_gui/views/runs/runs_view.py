"""RunsView: the list of runs, with what can be done with them."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMessageBox,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.models.run_actions import RunActions
from gym_gui.models.run_words import title_of, whole
from gym_gui.models.runs_filter import RunsFilter
from gym_gui.models.runs_model import RIGHT_COLUMNS, RunColumn, RunsModel
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.elements.empty_state import EmptyState
from gym_gui.views.elements.icons import keep_icon
from gym_gui.views.runs.run_delegate import RunDelegate
from gym_gui.views.runs.run_menu import RunDeeds, RunMenu
from gym_gui.views.runs.tag_editor import TagEditor
from gym_gui.views.tables.data_table import DataTable
from mosaic.contract.runs import RunRecord

_WIDTHS = (-20, 11, -11, -18, 11, 9, 11, 13, 9)
_DISPENSABLE = (
    *(RunColumn.WORKER, RunColumn.ENVIRONMENT, RunColumn.TREND, RunColumn.ELAPSED),
    *(RunColumn.SPS, RunColumn.PROGRESS),
)


class RunsView(QWidget):
    """For the dock at the bottom."""

    watch_requested = Signal(str)
    replay_requested = Signal(str)
    selected = Signal(str)
    """The run that the person looks at; empty: none."""

    def __init__(
        self,
        model: RunsModel,
        actions: RunActions,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._actions = actions
        self._shown = RunsFilter(model, self)
        self._wanted_run = ""
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter runs")
        self.filter.setToolTip("By name, worker, environment, tag or state")
        self.filter.setAccessibleName("Filter runs")
        self.filter.setClearButtonEnabled(True)
        self._count = QLabel()
        self._count.setProperty("role", "muted")
        self._archived = QToolButton()
        self._archived.setProperty("role", "quiet")
        self._archived.setText("Archived")
        self._archived.setCheckable(True)
        self._archived.setToolTip("Show archived runs too")
        self._more = QToolButton()
        self._more.setProperty("role", "quiet")
        self._more.setToolTip("What can be done with the chosen runs")
        self._more.setAccessibleName("Actions")
        keep_icon(self._more, "more", theme, "muted")
        self.table = DataTable(
            self._shown,
            RunDelegate(theme, self),
            _WIDTHS,
            theme,
            numbers=RIGHT_COLUMNS,
            dispensable=_DISPENSABLE,
        )
        self.table.setAccessibleName("Runs")
        header = self.table.horizontalHeader()
        header.setSortIndicator(RunColumn.RUN, Qt.SortOrder.DescendingOrder)
        self.table.setSortingEnabled(True)
        header.setSortIndicatorShown(False)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._empty = EmptyState("runs", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._empty)
        self._lay_out()
        self.menu = RunMenu(self, actions, self.chosen_runs, self._deeds(), theme)
        for action in self.menu.actions():
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            is_table_key = action.shortcut() == QKeySequence("Return")
            if action.text() and not is_table_key:
                self.table.addAction(action)
        self._subscribe()
        self._update()

    def chosen_runs(self) -> list[RunRecord]:
        return [self._run_at(row) for row in self.table.chosen_rows()]

    def select(self, run_id: str) -> None:
        """Show and choose a run; one that is not listed yet, as soon as it is."""
        self._wanted_run = run_id
        self._choose_wanted()

    def _lay_out(self) -> None:
        line = self.fontMetrics().height()
        bar = QHBoxLayout()
        bar.setContentsMargins(line // 2, line // 3, line // 2, line // 3)
        bar.setSpacing(line // 2)
        bar.addWidget(self.filter, 1)
        bar.addWidget(self._count)
        bar.addStretch(1)
        bar.addWidget(self._archived)
        bar.addWidget(self._more)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)

    def _subscribe(self) -> None:
        self.filter.textChanged.connect(self._shown.look_for)
        self.filter.textChanged.connect(lambda _: self._update())
        self._archived.toggled.connect(self._shown.show_archived)
        self._archived.toggled.connect(lambda _: self._update())
        self._more.clicked.connect(self._show_menu_below)
        self.table.customContextMenuRequested.connect(self._show_menu_at)
        self.table.row_activated.connect(self._on_activated)
        self.table.copy_asked.connect(self._copy_ids)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._tell_selected())
        self._empty.acted.connect(self.filter.clear)
        self._model.runs_changed.connect(self._update)
        self._model.runs_changed.connect(self._choose_wanted)

    def _deeds(self) -> RunDeeds:
        return RunDeeds(
            watch=lambda: self._for_current(self.watch_requested.emit),
            replay=lambda: self._for_current(self.replay_requested.emit),
            rename=self._rename,
            edit_tags=self._edit_tags,
            delete=self._ask_to_delete,
            export=lambda: self._for_current(self._actions.export),
            copy_ids=self._copy_ids,
        )

    def _run_at(self, row: int) -> RunRecord:
        source = self._shown.mapToSource(self._shown.index(row, 0))
        return self._model.run(source.row())

    def _for_current(self, do: Callable[[str], None]) -> None:
        chosen = self.chosen_runs()
        if len(chosen) == 1:
            do(chosen[0].run_id)

    def _on_activated(self, row: int) -> None:
        """Enter and double click: watch what goes on, replay what is over."""
        run = self._run_at(row)
        signal = self.watch_requested if self._actions.can_watch(run) else self.replay_requested
        if self._actions.can_watch(run) or self._actions.can_replay(run):
            signal.emit(run.run_id)

    def _tell_selected(self) -> None:
        index = self.table.currentIndex()
        self.selected.emit(self._run_at(index.row()).run_id if index.isValid() else "")

    def _choose_wanted(self) -> None:
        if not self._wanted_run:
            return
        for row in range(self._shown.rowCount()):
            if self._run_at(row).run_id == self._wanted_run:
                self._wanted_run = ""
                self.table.selectRow(row)
                self.table.scrollTo(self._shown.index(row, 0))
                return

    def _rename(self) -> None:
        rows = self.table.chosen_rows()
        if rows:
            self.table.edit(self._shown.index(rows[0], RunColumn.RUN))

    def _edit_tags(self) -> None:
        chosen = self.chosen_runs()
        if not chosen:
            return
        run = chosen[0]
        editor = TagEditor(run.tags, self)
        editor.chosen.connect(lambda tags: self._actions.set_tags(run.run_id, tags))
        row = self.table.chosen_rows()[0]
        place = self.table.visualRect(self._shown.index(row, RunColumn.RUN)).bottomLeft()
        editor.show_at(self.table.viewport().mapToGlobal(place))

    def _copy_ids(self) -> None:
        ids = "\n".join(run.run_id for run in self.chosen_runs())
        if ids:
            QGuiApplication.clipboard().setText(ids)

    def _ask_to_delete(self) -> None:
        chosen = [run for run in self.chosen_runs() if self._actions.can_delete(run)]
        what = title_of(chosen[0]) if len(chosen) == 1 else f"{len(chosen)} runs"
        box = QMessageBox(self)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Delete")
        box.setText(f"Delete {what}?")
        box.setInformativeText(
            "Telemetry, videos and checkpoints go with it. This cannot be undone;"
            " to only clear the list, archive instead."
        )
        delete = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        delete.setProperty("role", "danger")
        box.setDefaultButton(box.addButton("Keep", QMessageBox.ButtonRole.RejectRole))

        def answered() -> None:
            if box.clickedButton() is delete:
                self._actions.delete([run.run_id for run in chosen])

        box.finished.connect(answered)
        box.finished.connect(box.deleteLater)
        box.open()

    def _show_menu_at(self, place: QPoint) -> None:
        if self.table.indexAt(place).isValid():
            self.menu.popup(self.table.viewport().mapToGlobal(place))

    def _show_menu_below(self) -> None:
        self.menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))

    def _update(self) -> None:
        shown, known = self._shown.rowCount(), self._model.rowCount()
        if shown == known:
            self._count.setText(f"{whole(known)} run{'' if known == 1 else 's'}" if known else "")
        else:
            self._count.setText(f"{whole(shown)} of {whole(known)} runs")
        if shown:
            self._stack.setCurrentWidget(self.table)
            return
        if not self._model.is_listed:
            self._empty.say("Looking for runs", "They appear here when the daemon answers.")
        elif self.filter.text():
            self._empty.say("No run matches", "Try fewer words.", "Clear the filter")
        elif known:
            self._empty.say("All runs are archived", "Switch Archived on to see them.")
        else:
            self._empty.say("No runs yet", "Play an environment or train an agent to make one.")
        self._stack.setCurrentWidget(self._empty)
