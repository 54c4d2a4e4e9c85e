"""LogTab: the log of a run, followed live, searched and copied."""

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.run_log_model import LogSource, full_text
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.view.fitted_text import FittedText
from gym_gui.run_page.view.log_lines import LogLines
from gym_gui.run_page.view.search_field import SearchField
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.styling import set_disabled_reason

_SOURCES = (("output", "Output"), ("worker", "Worker log"), ("daemon", "Daemon"))
_TIPS = {
    "output": "Standard output and errors of the worker: worker.log",
    "worker": "Log events of the worker, each with a code",
    "daemon": "Daemon log lines about this run",
}
_EMPTY_TEXT = {
    "output": ("No output", "The worker printed nothing. See its worker log."),
    "worker": ("No log lines", "No warnings or errors from the worker."),
    "daemon": ("No daemon log lines", "The daemon log may have been rotated since then."),
}
_MAX_IN_FULL = 50_000
_LINES_IN_FULL = 6


class LogTab(QWidget):
    """Shows `RunLogModel`. `open_requested`: a file to open with the desktop."""

    open_requested = Signal(str)

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._log = model.log
        line = self.fontMetrics().height()
        self.source = SegmentedControl(_SOURCES, theme)
        for source, tip in _TIPS.items():
            self.source.set_option_tool_tip(source, tip)
        self.search = SearchField("Search the log (Enter: next, Shift+Enter: previous)", theme)
        self._match_count = QLabel()
        self._match_count.setProperty("role", "caption")
        self._previous = _tool("chevron-up", "Previous match", theme)
        self._next = _tool("chevron-down", "Next match", theme)
        self.following = _tool("skip-end", "Follow: scroll to new lines (End)", theme)
        self.following.setCheckable(True)
        self.following.setChecked(True)
        self._copy = _tool("copy", "Copy selected lines, or all lines if none is selected", theme)
        self._open = _tool("external", "Open worker.log with the desktop", theme)
        self.lines = LogLines(self._log, theme)
        self.full = _FullLine(theme)
        self._empty = EmptyState("log", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(line * 3)
        self._stack.addWidget(self.lines)
        self._stack.addWidget(self._empty)
        self._status = QLabel()
        self._status.setProperty("role", "caption")
        self.go_to_end = QPushButton("Go to end")
        self.go_to_end.setProperty("role", "quiet")
        self._lay_out(line)
        self._subscribe()
        self._update()

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def copy(self) -> None:
        rows = self.lines.selected_rows()
        text = self._log.text_of(rows) if rows else self._log.all_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def _lay_out(self, line: int) -> None:
        searching = QWidget()
        row = QHBoxLayout(searching)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(line // 6)
        row.addWidget(self.search)
        tools = (
            self._match_count,
            self._previous,
            self._next,
            self.following,
            self._copy,
            self._open,
        )
        for widget in tools:
            row.addWidget(widget)
        bar = FlowLayout(gap=line * 2 // 3)
        bar.addWidget(self.source)
        bar.addWidget(searching)
        above = QVBoxLayout()
        above.setContentsMargins(line, line * 2 // 3, line, line // 3)
        above.addLayout(bar)
        below = QHBoxLayout()
        below.setContentsMargins(line, 0, line // 2, 0)
        below.addWidget(self._status, 1)
        below.addWidget(self.go_to_end)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, line // 4)
        layout.setSpacing(line // 4)
        layout.addLayout(above)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.full)
        layout.addLayout(below)

    def _subscribe(self) -> None:
        log, lines = self._log, self.lines
        self.source.activated.connect(
            lambda source: log.show(log.run_id, cast("LogSource", source))
        )
        self.search.textChanged.connect(log.search)
        self.search.next_requested.connect(lambda: lines.go_to(log.next_match(self._row())))
        self.search.previous_requested.connect(lambda: lines.go_to(log.previous_match(self._row())))
        self._next.clicked.connect(self.search.next_requested)
        self._previous.clicked.connect(self.search.previous_requested)
        self.following.clicked.connect(lines.follow)
        self.go_to_end.clicked.connect(lambda: lines.follow(is_following=True))
        lines.following_changed.connect(self._on_following)
        lines.line_selected.connect(self._show_line)
        self.full.closed.connect(lines.clear_current)
        self._copy.clicked.connect(self.copy)
        self._open.clicked.connect(
            lambda: self.open_requested.emit(self._model.path_of("worker.log"))
        )
        for keys, run in (
            (QKeySequence.StandardKey.Copy, self.copy),
            (QKeySequence.StandardKey.Find, self.focus_search),
        ):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(run)
        log.changed.connect(self._update)
        self._model.changed.connect(self._update)

    def _row(self) -> int:
        return self.lines.currentIndex().row()

    def _on_following(self, is_following: bool) -> None:
        self.following.setChecked(is_following)
        self._update()

    def _show_line(self, row: int) -> None:
        """Show the complete line below if its row is too short."""
        line = self._log.line(row) if 0 <= row < self._log.rowCount() else None
        self.full.set_text("" if line is None or self.lines.fits(line) else full_text(line))
        self._update_match_count()

    def _update(self) -> None:
        log = self._log
        count = log.rowCount()
        self._stack.setCurrentWidget(self.lines if count else self._empty)
        if not count:
            self._show_empty_reason()
        texts = [f"{log.total:,} line{'' if log.total == 1 else 's'}"]
        if log.is_truncated:
            texts.append("earlier lines may be in worker.log")
        run = self._model.run
        is_live = run is not None and not run.state.is_final
        if is_live and log.source != "daemon":
            texts.append("following" if self.lines.is_following else "not following")
        text = " · ".join(texts)
        if self._status.text() != text:
            self._status.setText(text)
        self.go_to_end.setVisible(not self.lines.is_following and count > 0)
        has_file = bool(self._model.path_of("worker.log"))
        not_a_file = "" if log.source == "output" else "Only the worker output is a file."
        set_disabled_reason(self._open, not_a_file if has_file else "The run has no log file.")
        self._update_match_count()
        if log.text:
            self.lines.viewport().update()

    def _show_empty_reason(self) -> None:
        log = self._log
        if log.problem is not None:
            self._empty.show_message(
                "Cannot read the log", f"{log.problem.message} {log.problem.remedy}"
            )
        else:
            title, text = _EMPTY_TEXT[log.source]
            run = self._model.run
            is_finished = run is not None and run.state.is_final
            self._empty.show_message(title if is_finished else f"{title} yet", text)

    def _update_match_count(self) -> None:
        log = self._log
        number, matches = log.match_number(self._row()), log.match_count
        if not log.text:
            text = ""
        elif number:
            text = f"{number:,} of {matches:,}"
        else:
            noun = "match" if matches == 1 else "matches"
            text = f"{matches:,} {noun}" if matches else "No matches"
        if self._match_count.text() != text:
            self._match_count.setText(text)
        self._match_count.setVisible(bool(text))
        none = "No line contains this text." if log.text else "Enter a search text first."
        for button in (self._next, self._previous):
            set_disabled_reason(button, "" if matches else none)


class _FullLine(QWidget):
    """The complete text of a line that is too long for its row."""

    closed = Signal()

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        line = self.fontMetrics().height()
        self.text = FittedText("Complete line", max_lines=_LINES_IN_FULL)
        self._caption = QLabel()
        self._caption.setProperty("role", "caption")
        close = _tool("close", "Close (Esc)", theme)
        close.clicked.connect(self.closed)
        header = QHBoxLayout()
        header.addWidget(self._caption, 1)
        header.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, 0, line, 0)
        layout.setSpacing(line // 6)
        layout.addLayout(header)
        layout.addWidget(self.text)
        self.hide()

    def set_text(self, text: str) -> None:
        self.setVisible(bool(text))
        self.text.set_text(text[:_MAX_IN_FULL])
        hidden = len(text) - _MAX_IN_FULL
        more = f"; {hidden:,} are not displayed but copied" if hidden > 0 else ""
        self._caption.setText(f"Complete line: {len(text):,} characters{more}")


def _tool(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    set_icon(button, name, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text.partition(":")[0])
    return button
