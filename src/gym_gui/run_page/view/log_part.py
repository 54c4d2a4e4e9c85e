"""LogPart: what the run has written, as it writes it, searched and copied."""

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

from gym_gui.run_page.model.run_log_model import LogSource, whole
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.view.fitted_text import FittedText
from gym_gui.run_page.view.log_lines import LogLines
from gym_gui.run_page.view.search_line import SearchLine
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.icons import IconName, keep_icon
from gym_gui.widgets.segmented import SegmentedControl
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_SOURCES = (("output", "Output"), ("worker", "Worker log"), ("daemon", "Daemon"))
_TIPS = {
    "output": "All that the worker printed, errors included: its worker.log",
    "worker": "What the worker said in its log lines, each with a code",
    "daemon": "What the daemon said about this run",
}
_NOTHING = {
    "output": ("Nothing was printed", "A worker may have nothing to say; its log lines may."),
    "worker": ("No log lines", "The worker has told of nothing unusual."),
    "daemon": ("The daemon said nothing", "Its log may have been begun anew since then."),
}
_MOST_IN_FULL = 50_000
_LINES_IN_FULL = 6


class LogPart(QWidget):
    """`open_wanted` is a file to be shown by the desktop."""

    open_wanted = Signal(str)

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._log = model.log
        line = self.fontMetrics().height()
        self.source = SegmentedControl(_SOURCES, theme)
        for source, tip in _TIPS.items():
            self.source.set_tip(source, tip)
        self.search = SearchLine("Search the log (Enter: next, Shift+Enter: previous)", theme)
        self._found = QLabel()
        self._found.setProperty("role", "caption")
        self._previous = _tool("chevron-up", "Previous find", theme)
        self._next = _tool("chevron-down", "Next find", theme)
        self.following = _tool("skip-end", "Follow: stay at the newest line (End)", theme)
        self.following.setCheckable(True)
        self.following.setChecked(True)
        self._copy = _tool("copy", "Copy the chosen lines, or all when none is chosen", theme)
        self._open = _tool("external", "Open worker.log with the desktop", theme)
        self.lines = LogLines(self._log, theme)
        self.full = _LineInFull(theme)
        self._empty = EmptyState("log", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(line * 3)
        self._stack.addWidget(self.lines)
        self._stack.addWidget(self._empty)
        self._status = QLabel()
        self._status.setProperty("role", "caption")
        self.catch_up = QPushButton("Go to the end")
        self.catch_up.setProperty("role", "quiet")
        self._lay_out(line)
        self._subscribe()
        self._update()

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def copy(self) -> None:
        rows = self.lines.chosen_rows()
        text = self._log.text_of(rows) if rows else self._log.all_text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def _lay_out(self, line: int) -> None:
        searching = QWidget()
        row = QHBoxLayout(searching)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(line // 6)
        row.addWidget(self.search)
        tools = (self._found, self._previous, self._next, self.following, self._copy, self._open)
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
        below.addWidget(self.catch_up)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, line // 4)
        layout.setSpacing(line // 4)
        layout.addLayout(above)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.full)
        layout.addLayout(below)

    def _subscribe(self) -> None:
        log, lines = self._log, self.lines
        self.source.chosen.connect(lambda source: log.show(log.run_id, cast("LogSource", source)))
        self.search.textChanged.connect(log.search)
        self.search.next_wanted.connect(lambda: lines.go_to(log.next_found(self._row())))
        self.search.previous_wanted.connect(lambda: lines.go_to(log.previous_found(self._row())))
        self._next.clicked.connect(self.search.next_wanted)
        self._previous.clicked.connect(self.search.previous_wanted)
        self.following.clicked.connect(lines.follow)
        self.catch_up.clicked.connect(lambda: lines.follow(is_following=True))
        lines.following_changed.connect(self._on_following)
        lines.line_chosen.connect(self._show_line)
        self.full.closed.connect(lines.forget_choice)
        self._copy.clicked.connect(self.copy)
        self._open.clicked.connect(lambda: self.open_wanted.emit(self._model.path_of("worker.log")))
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
        """In full below, where its own row has no room for it."""
        line = self._log.line(row) if 0 <= row < self._log.rowCount() else None
        self.full.say("" if line is None or self.lines.fits(line) else whole(line))
        self._say_found()

    def _update(self) -> None:
        log = self._log
        count = log.rowCount()
        self._stack.setCurrentWidget(self.lines if count else self._empty)
        if not count:
            self._say_why_empty()
        words = [f"{log.total:,} line{'' if log.total == 1 else 's'}"]
        if log.begins_later:
            words.append("earlier ones may be in worker.log")
        run = self._model.run
        is_live = run is not None and not run.state.is_final
        if is_live and log.source != "daemon":
            words.append("follows" if self.lines.is_following else "stands still, more may come")
        text = " · ".join(words)
        if self._status.text() != text:
            self._status.setText(text)
        self.catch_up.setVisible(not self.lines.is_following and count > 0)
        has_file = bool(self._model.path_of("worker.log"))
        not_a_file = "" if log.source == "output" else "Only what the worker printed is a file."
        set_disabled_reason(self._open, not_a_file if has_file else "The run has no log file.")
        self._say_found()
        if log.text:
            self.lines.viewport().update()

    def _say_why_empty(self) -> None:
        log = self._log
        if log.problem is not None:
            self._empty.say("It cannot be read", f"{log.problem.message} {log.problem.remedy}")
        else:
            title, text = _NOTHING[log.source]
            run = self._model.run
            is_over = run is not None and run.state.is_final
            self._empty.say(title if is_over else f"{title} yet", text)

    def _say_found(self) -> None:
        log = self._log
        number, found = log.found_number(self._row()), log.found_count
        if not log.text:
            words = ""
        elif number:
            words = f"{number:,} of {found:,}"
        else:
            words = f"{found:,} found" if found else "None found"
        if self._found.text() != words:
            self._found.setText(words)
        self._found.setVisible(bool(words))
        none = "No line has these words." if log.text else "Search for something first."
        for button in (self._next, self._previous):
            set_disabled_reason(button, "" if found else none)


class _LineInFull(QWidget):
    """The whole of a line that is too long for its row."""

    closed = Signal()

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        line = self.fontMetrics().height()
        self.text = FittedText("The whole line", most_lines=_LINES_IN_FULL)
        self._caption = QLabel()
        self._caption.setProperty("role", "caption")
        close = _tool("close", "Close (Esc)", theme)
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.addWidget(self._caption, 1)
        head.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, 0, line, 0)
        layout.setSpacing(line // 6)
        layout.addLayout(head)
        layout.addWidget(self.text)
        self.hide()

    def say(self, text: str) -> None:
        self.setVisible(bool(text))
        self.text.say(text[:_MOST_IN_FULL])
        left = len(text) - _MOST_IN_FULL
        more = f", of which {left:,} are left out here; copying takes them all" if left > 0 else ""
        self._caption.setText(f"The whole line: {len(text):,} characters{more}")


def _tool(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    keep_icon(button, name, theme, "muted")
    button.setToolTip(text)
    button.setAccessibleName(text.partition(":")[0])
    return button
