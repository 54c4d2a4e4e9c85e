"""WindowDriver: controls the complete window with keys and clicks, and reads its contents."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.screens import CENTRE_GROUPS, CENTRE_TITLES, GROUP_TITLES, CentreTab
from gym_gui.app.start_up import StartupOptions
from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from gym_gui.play.view.play_bar import PlayBar
from gym_gui.runs.model.runs_columns import RunColumn
from gym_gui.runtime.models.theme_model import ThemeChoice
from mosaic.contract.layout import Home
from tests.gym_gui.conftest import TIMEOUT_MS
from tests.gym_gui.end_to_end.screens import is_complete

ARROWS = {
    "left": Qt.Key.Key_Left,
    "right": Qt.Key.Key_Right,
    "up": Qt.Key.Key_Up,
    "down": Qt.Key.Key_Down,
}
PATH_TO_GOAL = ("down", "down", "right", "right", "down", "right")
"""For FrozenLake's default map with `is_slippery=False`."""

TRAINING_TIMEOUT_MS = 2 * TIMEOUT_MS
"""For a training run on a busy machine."""
_EVENT_ROUNDS = 5
"""Iterations of the event loop until a layout is complete."""


class WindowDriver:
    """Owns one window. `close` closes it like its close button."""

    def __init__(self, home: Home, app: QApplication, qtbot: QtBot) -> None:
        self._app = app
        self._qtbot = qtbot
        self._is_closed = False
        self.active_timers: list[str] = []
        """Timers that were still active after everything was closed."""
        self._idle_timer = QTimer()
        self._idle_timer.setSingleShot(True)
        self.context = AppContext(home)
        apply_theme(app, self.context.theme, self.context.window)
        self.window = self.context.window
        self.models = self.context.models
        self.centre = self.window.centre
        bar = self.window.findChild(PlayBar)
        assert isinstance(bar, PlayBar)
        self.play_bar = bar
        self.notices: list[str] = []
        """Messages of the posted notices."""
        self.context.notices.posted.connect(lambda notice: self.notices.append(notice.message))
        self.window.show()
        self.window.activateWindow()
        self.context.open(StartupOptions(starts_daemon=False))

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self.window.close()
            self.context.close()
            QApplication.processEvents()  # runs the timers that are due
            self.active_timers = [
                f"{type(timer.parent()).__name__} every {timer.interval()} ms"
                for owner in (self.context, self.window)
                for timer in owner.findChildren(QTimer)
                if timer.isActive()
            ]
            self.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if not any(widget.isVisible() for widget in self._app.topLevelWidgets()):
                self._app.setStyleSheet("")  # replacing a style sheet is slow

    # Actions.

    def press(self, *keys: Qt.Key) -> None:
        """Press the keys in the focused widget."""
        for key in keys:
            QTest.keyClick(QApplication.focusWidget() or self.window, key)

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())

    def click_on(self, text: str, within: QWidget | None = None) -> None:
        """Click the button with this text."""
        self.click(self.button(text, within))

    def write(self, text: str, field: QWidget) -> None:
        """Replace the text of a field."""
        QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(field, text)

    def open_tab(self, tab: CentreTab) -> None:
        """Click on the group and on the tab; wait until the page is created."""
        centre = self.centre
        centre.show_tabs()
        if tab not in CENTRE_GROUPS[centre.group]:
            other = next(group for group, tabs in CENTRE_GROUPS.items() if tab in tabs)
            self.click_on(GROUP_TITLES[other], centre.groups)
        index = list(CENTRE_TITLES).index(tab)
        bar = centre.tabs.tabBar()
        assert centre.tabs.isTabEnabled(index), centre.tab_reason(tab)
        self.click(bar, bar.tabRect(index).center())
        self.wait_idle()
        assert centre.current == tab

    def select_run(self, run_id: str) -> None:
        """Click on the run's row; wait until its metadata is known."""
        view = self.context.runs_view
        self.wait(lambda: view.runs.row_of(run_id) is not None)
        view.table.scrollTo(self._cell(run_id, RunColumn.RUN))
        position = view.table.visualRect(self._cell(run_id, RunColumn.RUN)).center()
        self.click(view.table.viewport(), position)
        selected = self.context.analysis.selected_run
        self.wait(lambda: selected.run_id == run_id and selected.is_known)

    def open_run(self, run_id: str) -> None:
        """Select the run and press Enter."""
        self.select_run(run_id)
        QTest.keyClick(self.context.runs_view.table, Qt.Key.Key_Return)
        self.wait_idle()

    def command(self, command_id: str) -> None:
        """Trigger a command of a menu."""
        self.context.commands.update()
        action = self.context.commands.actions[command_id]
        assert action.isEnabled(), action.toolTip()
        action.trigger()

    def set_theme_and_size(self, theme: ThemeChoice, size: QSize) -> None:
        """Change theme and size, and process the events."""
        self.context.theme.choose(theme)
        self.window.resize(size)
        for _ in range(_EVENT_ROUNDS):
            QApplication.processEvents()

    def play(self, env_id: str, *, mode: str = "human", actor: str = "", **values: object) -> str:
        """Start a session; return the id of its run."""
        panel, play = self.models.session_panel, self.models.play
        panel.set_mode(mode)
        panel.choice.choose(env_id)
        panel.choice.set_values(values)
        if actor:
            self.wait(lambda: panel.actors.find(actor) is not None)
            panel.choose_actor(actor)
        before = play.state.run_id
        self.command("session.play")
        self.wait(
            lambda: play.is_playing and play.state.run_id != before and play.step_view.episode_id
        )
        return play.state.run_id

    def walk(self, path: Sequence[str] = PATH_TO_GOAL) -> None:
        """Press the arrow keys; wait for the step after each."""
        for step, key in enumerate(path):
            self.press(ARROWS[key])
            self.wait(partial(self._has_stepped, step))

    def _has_stepped(self, step: int) -> bool:
        return self.models.play.step_view.step >= step

    # Contents.

    def cell_text(self, run_id: str, column: RunColumn) -> str:
        """The text of a cell in the list of runs; empty if the run is not listed."""
        if self.context.runs_view.runs.row_of(run_id) is None:
            return ""
        return str(self._cell(run_id, column).data() or "")

    def _cell(self, run_id: str, column: RunColumn) -> QModelIndex:
        runs = self.context.runs_view.runs
        row = runs.row_of(run_id)
        assert row is not None
        return runs.index(row, column)

    def texts(self, within: QWidget) -> list[str]:
        """The texts of the visible labels."""
        return [label.text() for label in within.findChildren(QLabel) if label.isVisible()]

    def wait(self, condition: Callable[[], object], timeout_ms: int = TIMEOUT_MS) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=timeout_ms)

    def wait_idle(self) -> None:
        """Wait until all visible pages are created and laid out."""
        self.wait(lambda: is_complete(self.window))
        for _ in range(_EVENT_ROUNDS):
            with self._qtbot.waitSignal(self._idle_timer.timeout, timeout=TIMEOUT_MS):
                self._idle_timer.start(0)

    def button(self, text: str, within: QWidget | None = None) -> QAbstractButton:
        buttons = [
            button
            for button in (within or self.window).findChildren(QAbstractButton)
            if text in (button.text().replace("&", ""), button.accessibleName())
            and button.isVisible()
        ]
        assert len(buttons) == 1, f"{len(buttons)} visible buttons with the text {text!r}"
        return buttons[0]
