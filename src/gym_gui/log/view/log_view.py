"""LogView: filter row, table, details, and one line that says how much there is."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.log.model.log_model import LogModel
from gym_gui.log.view.detail_strip import DetailStrip
from gym_gui.log.view.filter_row import FilterRow
from gym_gui.log.view.log_table import LogTable
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, keep_icon

_DETAILS_BESIDE_FROM = 40
"""Font heights of width, from which the details stand beside the table: a dock is low and wide."""

_TABLE_SHARE = 66
"""Percent of the room, beside the details."""


class LogView(QWidget):
    """`open_wanted` is for the wiring: a folder to be shown by the desktop."""

    open_wanted = Signal(str)

    def __init__(self, model: LogModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._filters = FilterRow(model, theme)
        self._table = LogTable(model, theme)
        self._details = DetailStrip(theme)
        self._details.hide()
        self._empty = EmptyState("log", "", "", theme)
        self._stack = QStackedWidget()
        self._split = QSplitter()
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._table)
        self._split.addWidget(self._details)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 2)
        self._stack.addWidget(self._split)
        self._stack.addWidget(self._empty)
        self._status = QLabel()
        self._status.setProperty("role", "caption")
        self._restore = QPushButton("Show cleared lines")
        self._restore.setProperty("role", "quiet")
        self._follow = self._make_follow(theme)
        self._add_actions(theme)
        below = QHBoxLayout()
        below.setContentsMargins(line // 2, 0, line // 2, 0)
        below.addWidget(self._status, 1)
        below.addWidget(self._restore)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, line // 4)
        layout.setSpacing(0)
        layout.addWidget(self._filters)
        layout.addWidget(self._stack, 1)
        layout.addSpacing(line // 4)
        layout.addLayout(below)
        self._subscribe()
        self._show_counts()

    def focus_search(self) -> None:
        """For Ctrl+F while the log is what the person looks at."""
        self._filters.focus_search()

    def copy(self) -> None:
        """The chosen lines, whole."""
        _to_clipboard(self._model.text_of(self._table.chosen_rows()))

    def copy_with_context(self) -> None:
        """With the five lines before and after, codes and run ids: what a report needs."""
        _to_clipboard(self._model.text_with_context(self._table.chosen_rows()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _DETAILS_BESIDE_FROM
        wanted = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if self._split.orientation() != wanted:
            self._split.setOrientation(wanted)

    def _make_follow(self, theme: ThemeModel) -> QToolButton:
        follow = _tool("skip-end", "Follow: stay at the newest line (End)", theme)
        follow.setAccessibleName("Follow the newest line")
        follow.setCheckable(True)
        follow.setChecked(True)
        return follow

    def _add_actions(self, theme: ThemeModel) -> None:
        copy = _tool("copy", "Copy the chosen lines", theme)
        copy.clicked.connect(self.copy)
        clear = _tool("trash", "Clear the view; the log files stay as they are", theme)
        clear.setAccessibleName("Clear the view")
        clear.clicked.connect(self._model.clear)
        folder = _tool("folder", "Open the log folder", theme)
        folder.clicked.connect(lambda: self.open_wanted.emit(str(self._model.logs_folder)))
        for button in (self._follow, copy, clear, folder):
            self._filters.add_action(button)
        menu = QMenu(self)
        for text, keys, run in (
            ("Copy", QKeySequence(QKeySequence.StandardKey.Copy), self.copy),
            ("Copy with context", QKeySequence("Ctrl+Shift+C"), self.copy_with_context),
        ):
            action = menu.addAction(text, run)
            action.setShortcut(keys)
            shortcut = QShortcut(keys, self._table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(run)
        self._table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._table.customContextMenuRequested.connect(
            lambda at: menu.popup(self._table.viewport().mapToGlobal(at))
        )
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.focus_search)

    def _subscribe(self) -> None:
        self._filters.next_wanted.connect(
            lambda: self._table.go_to(self._model.next_found(self._row()))
        )
        self._filters.previous_wanted.connect(
            lambda: self._table.go_to(self._model.previous_found(self._row()))
        )
        self._follow.clicked.connect(self._table.follow)
        self._table.following_changed.connect(self._follow.setChecked)
        self._table.line_chosen.connect(self._show_line)
        self._details.closed.connect(self._close_details)
        self._details.copy_wanted.connect(self.copy_with_context)
        self._restore.clicked.connect(self._model.restore)
        self._empty.acted.connect(self._show_everything)
        self._model.changed.connect(self._show_counts)

    def _row(self) -> int:
        return self._table.currentIndex().row()

    def _show_line(self, row: int) -> None:
        was_shown = not self._details.isHidden()
        self._details.setVisible(row >= 0)
        if row >= 0 and not was_shown:
            room = max(self._split.width(), self._split.height())
            share = _TABLE_SHARE * room // 100
            self._split.setSizes([share, room - share])
        if row >= 0:
            record = self._model.record(row)
            self._details.show_record(record, self._model.meaning(record.code))
        self._filters.show_found(self._model.found_number(row))

    def _close_details(self) -> None:
        self._table.clearSelection()
        self._table.setCurrentIndex(self._table.rootIndex())
        self._table.setFocus()

    def _show_everything(self) -> None:
        self._filters.forget()
        self._model.restore()

    def _show_counts(self) -> None:
        model = self._model
        self._table.lines.needle = model.filter.text
        self._table.viewport().update()
        shown = model.rowCount()
        count = f"{shown:,} of {model.total:,} lines" if shown < model.total else f"{shown:,} lines"
        self._status.setText(" · ".join(part for part in (count, model.dropped_text) if part))
        self._restore.setVisible(model.hidden_by_clearing > 0)
        self._filters.show_found(model.found_number(self._row()))
        self._show_emptiness(shown)

    def _show_emptiness(self, shown: int) -> None:
        if shown:
            self._stack.setCurrentWidget(self._split)
            return
        self._stack.setCurrentWidget(self._empty)
        if self._model.total:
            self._empty.say(
                "No line to show", "The filter hides all lines, or they were cleared.", "Show all"
            )
        else:
            self._empty.say(
                "Nothing in the log yet", "What the daemon, runs and this window say appears here."
            )


def _tool(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    keep_icon(button, name, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text)
    return button


def _to_clipboard(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text)
