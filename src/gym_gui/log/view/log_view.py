"""LogView and RunLogView: log lines with filters, details of the selected line and a status line.

LogView is the Log tab; RunLogView is the log of one run on its page.
"""

from typing import cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.log.model.log_models import LogModel, RunLogModel, RunLogSource
from gym_gui.log.model.log_table_model import LogRecord, LogTableModel, Severity
from gym_gui.log.view.filter_row import FilterRow
from gym_gui.log.view.log_table import LogTable
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.styling import fixed_font, set_disabled_reason

_MIN_WIDE_LINES = 40
"""Minimum width, in line heights, for details beside the table instead of below it."""
_TABLE_PERCENT = 66
"""Share of the table if details are visible."""
_TONES: dict[Severity, Tone] = {
    Severity.DEBUG: "plain",
    Severity.INFO: "plain",
    Severity.WARNING: "warning",
    Severity.ERROR: "bad",
}


_SOURCES: dict[RunLogSource, tuple[str, str]] = {
    "output": ("Output", "Standard output and errors of the worker: worker.log"),
    "worker": ("Worker log", "Log events of the worker, each with a code"),
    "daemon": ("Daemon", "Daemon log lines about this run"),
}
"""Names and tooltips of the sources of the log of a run."""
_NO_LINES: dict[RunLogSource, tuple[str, str]] = {
    "output": ("No output", "The worker printed nothing. See its worker log."),
    "worker": ("No log lines", "No warnings or errors from the worker."),
    "daemon": ("No daemon log lines", "The daemon log may have been rotated since then."),
}
_MAX_DETAIL_CHARACTERS = 50_000


class LogPanel(QWidget):
    """Base of the views: shows a `LogTableModel`. `selector` replaces the component filter."""

    open_requested = Signal(str)
    """A file or folder to open with the desktop."""

    def __init__(
        self,
        model: LogTableModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        selector: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._filters = FilterRow(model, theme, selector=selector)
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
        self._go_to_end = QPushButton("Go to end")
        self._go_to_end.setProperty("role", "quiet")
        self._follow = self._make_follow(theme)
        self._add_actions(theme)
        footer = QHBoxLayout()
        footer.setContentsMargins(line // 2, 0, line // 2, 0)
        footer.addWidget(self._status, 1)
        footer.addWidget(self._restore)
        footer.addWidget(self._go_to_end)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, line // 4)
        layout.setSpacing(0)
        layout.addWidget(self._filters)
        layout.addWidget(self._stack, 1)
        layout.addSpacing(line // 4)
        layout.addLayout(footer)
        self._subscribe()
        self._update()

    def focus_search(self) -> None:
        """Called for Ctrl+F while the Log tab is current."""
        self._filters.focus_search()

    def copy(self) -> None:
        """Copy the selected lines."""
        _copy_to_clipboard(self._model.text_of(self._table.selected_rows()))

    def copy_with_context(self) -> None:
        """Copy the selected lines with the five lines before and after them."""
        _copy_to_clipboard(self._model.text_with_context(self._table.selected_rows()))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _MIN_WIDE_LINES
        orientation = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if self._split.orientation() != orientation:
            self._split.setOrientation(orientation)

    def _make_follow(self, theme: ThemeModel) -> QToolButton:
        follow = _tool("skip-end", "Follow: scroll to new lines (End)", theme)
        follow.setAccessibleName("Follow new lines")
        follow.setCheckable(True)
        follow.setChecked(True)
        return follow

    def _add_actions(self, theme: ThemeModel) -> None:
        self._copy = _tool("copy", "Copy the selected lines", theme)
        self._copy.clicked.connect(self.copy)
        clear = _tool("trash", "Clear the view; log files are not changed", theme)
        clear.setAccessibleName("Clear the view")
        clear.clicked.connect(self._model.clear)
        for button in (self._follow, self._copy, clear):
            self._filters.add_action(button)
        menu = QMenu(self)
        for text, keys, copy_lines in (
            ("Copy", QKeySequence(QKeySequence.StandardKey.Copy), self.copy),
            ("Copy with context", QKeySequence("Ctrl+Shift+C"), self.copy_with_context),
        ):
            action = menu.addAction(text, copy_lines)
            action.setShortcut(keys)
            shortcut = QShortcut(keys, self._table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(copy_lines)
        self._table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._table.customContextMenuRequested.connect(
            lambda position: menu.popup(self._table.viewport().mapToGlobal(position))
        )
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        find.activated.connect(self.focus_search)

    def _subscribe(self) -> None:
        self._filters.next_requested.connect(
            lambda: self._table.go_to(self._model.next_match(self._row()))
        )
        self._filters.previous_requested.connect(
            lambda: self._table.go_to(self._model.previous_match(self._row()))
        )
        self._follow.clicked.connect(self._table.follow)
        self._go_to_end.clicked.connect(lambda: self._table.follow(is_following=True))
        self._table.following_changed.connect(self._on_following_changed)
        self._table.line_selected.connect(self._show_line)
        self._details.closed.connect(self._close_details)
        self._details.copy_requested.connect(self.copy_with_context)
        self._restore.clicked.connect(self._model.restore)
        self._empty.action_triggered.connect(self._show_all)
        self._model.changed.connect(self._update)

    def empty_text(self) -> tuple[str, str]:
        """Return title and text for a log without lines."""
        raise NotImplementedError

    def status_texts(self) -> list[str]:
        """Return what the status line shows after the number of lines."""
        return [self._model.dropped_text]

    def _on_following_changed(self, is_following: bool) -> None:
        self._follow.setChecked(is_following)
        self._update()

    def _row(self) -> int:
        return self._table.currentIndex().row()

    def _show_line(self, row: int) -> None:
        was_hidden = self._details.isHidden()
        self._details.setVisible(row >= 0)
        if row >= 0 and was_hidden:
            size = max(self._split.width(), self._split.height())
            table_size = _TABLE_PERCENT * size // 100
            self._split.setSizes([table_size, size - table_size])
        if row >= 0:
            record = self._model.record(row)
            self._details.show_record(record, self._model.meaning(record.code))
        self._filters.show_match(self._model.match_number(row))

    def _close_details(self) -> None:
        self._table.clearSelection()
        self._table.setCurrentIndex(self._table.rootIndex())
        self._table.setFocus()

    def _show_all(self) -> None:
        self._filters.reset()
        self._model.restore()

    def _update(self) -> None:
        model = self._model
        self._table.delegate.needle = model.filter.text
        self._table.viewport().update()
        rows, total = model.rowCount(), model.total
        count = f"{rows:,} of {total:,} lines" if rows < total else f"{rows:,} lines"
        self._status.setText(" · ".join(filter(None, (count, *self.status_texts()))))
        self._restore.setVisible(model.cleared_count > 0)
        self._go_to_end.setVisible(not self._table.is_following and rows > 0)
        self._filters.show_match(model.match_number(self._row()))
        self._update_stack()

    def _update_stack(self) -> None:
        if self._model.rowCount():
            self._stack.setCurrentWidget(self._split)
            return
        self._stack.setCurrentWidget(self._empty)
        if self._model.stored_count:
            self._empty.show_message(
                "No lines to show", "All lines are filtered or cleared.", "Show all"
            )
        else:
            self._empty.show_message(*self.empty_text())


class LogView(LogPanel):
    """The Log tab. Shows a `LogModel`."""

    def __init__(self, model: LogModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(model, theme, parent)
        folder = _tool("folder", "Open the log folder", theme)
        folder.clicked.connect(lambda: self.open_requested.emit(str(model.logs_folder)))
        self._filters.add_action(folder)

    def empty_text(self) -> tuple[str, str]:
        return "No log lines yet", "Lines of the daemon, of runs and of this window appear here."


class RunLogView(LogPanel):
    """The log of one run on its page. Shows a `RunLogModel`."""

    def __init__(
        self, model: RunLogModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        self._log = model
        self._source = SegmentedControl(
            tuple((source, name) for source, (name, _) in _SOURCES.items()), theme
        )
        for source, (_, tip) in _SOURCES.items():
            self._source.set_option_tool_tip(source, tip)
        self._open = _tool("external", "Open worker.log with the desktop", theme)
        super().__init__(model, theme, parent, selector=self._source)
        self._source.activated.connect(
            lambda source: model.show(model.run_id, cast("RunLogSource", source))
        )
        self._open.clicked.connect(lambda: self.open_requested.emit(str(model.log_file)))
        self._filters.add_action(self._open)
        self._copy.setToolTip("Copy the selected lines, or all lines if none is selected")

    def copy(self) -> None:
        """Copy the selected lines, or all visible lines if none is selected."""
        rows = self._table.selected_rows() or range(self._log.rowCount())
        _copy_to_clipboard(self._log.text_of(rows))

    def empty_text(self) -> tuple[str, str]:
        problem = self._log.problem
        if problem is not None:
            return "Cannot read the log", f"{problem.message} {problem.remedy}"
        title, text = _NO_LINES[self._log.source]
        return f"{title} yet" if self._log.is_live else title, text

    def status_texts(self) -> list[str]:
        log = self._log
        texts = [log.dropped_text]
        if log.is_truncated and not log.dropped_text:
            texts.append("earlier lines may be in worker.log")
        if log.is_live and log.source != "daemon":
            texts.append("following" if self._table.is_following else "not following")
        return texts

    def _update(self) -> None:
        super()._update()
        log = self._log
        not_a_file = "" if log.source == "output" else "Only the worker output is a file."
        set_disabled_reason(self._open, not_a_file if log.log_file else "No run is selected.")


class DetailStrip(QWidget):
    """The selected line: code description, component, time, run, message and traceback."""

    closed = Signal()
    copy_requested = Signal()

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._severity = Badge("", "plain", theme)
        self._origin = QLabel()
        self._origin.setProperty("role", "muted")
        self._origin.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._origin.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._meaning = QLabel()
        self._meaning.setWordWrap(True)
        self._meaning.setProperty("role", "caption")
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setFont(fixed_font(self.font()))
        self._text.setAccessibleName("Complete line")
        self._text.setTabChangesFocus(True)
        copy = QToolButton()
        set_icon(copy, "copy", theme, "muted")
        copy.setToolTip("Copy with the lines before and after it")
        copy.setAccessibleName("Copy with context")
        copy.clicked.connect(self.copy_requested)
        close = QToolButton()
        set_icon(close, "close", theme, "muted")
        close.setToolTip("Close (Esc)")
        close.setAccessibleName("Close the details")
        close.clicked.connect(self.closed)
        header = QHBoxLayout()
        header.setSpacing(line // 3)
        header.addWidget(self._severity)
        header.addWidget(self._origin, 1)
        header.addWidget(copy)
        header.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 3, line // 2, line // 2)
        layout.setSpacing(line // 3)
        layout.addLayout(header)
        layout.addWidget(self._meaning)
        layout.addWidget(self._text, 1)

    def show_record(self, record: LogRecord, meaning: str) -> None:
        """Show a record. `meaning` describes its code, if known."""
        self._severity.show_text(record.severity.label, _TONES[record.severity])
        timestamp = f"{record.date_text} {record.time_text}".strip()
        run = f"run {record.run_id}" if record.run_id else ""
        number = f"line {record.number:,}" if record.number else ""
        origin = " · ".join(filter(None, (record.component, record.logger, timestamp, run, number)))
        self._origin.setText(origin)
        self._origin.setToolTip(origin)
        text = f"{record.code} {record.as_raw_text()}".strip()
        hidden = len(text) - _MAX_DETAIL_CHARACTERS
        caption = f"{record.code}: {meaning}" if meaning else ""
        if hidden > 0:
            caption = f"{len(text):,} characters; {hidden:,} are not displayed but copied"
        self._meaning.setText(caption)
        self._meaning.setVisible(bool(caption))
        self._text.setPlainText(text[:_MAX_DETAIL_CHARACTERS])

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 24, line * 9)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 12, line * 6)


def _tool(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    set_icon(button, name, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text)
    return button


def _copy_to_clipboard(text: str) -> None:
    if text:
        QGuiApplication.clipboard().setText(text)
