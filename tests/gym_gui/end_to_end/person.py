"""Person: somebody before the whole window, who presses keys and clicks, and looks at it."""

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
from tests.gym_gui.conftest import PATIENCE_MS
from tests.gym_gui.end_to_end.screens import is_complete

ARROWS = {
    "left": Qt.Key.Key_Left,
    "right": Qt.Key.Key_Right,
    "up": Qt.Key.Key_Up,
    "down": Qt.Key.Key_Down,
}
TO_THE_GOAL = ("down", "down", "right", "right", "down", "right")
"""Of FrozenLake's usual map, where the ice is not slippery."""

LEARNS_MS = 2 * PATIENCE_MS
"""What a run that learns may take on a busy machine."""
_TURNS = 5
"""Of the event loop. What is laid out anew asks for more of it, but not for long."""


class Person:
    """Has one window. `leave` closes it as its close button does."""

    def __init__(self, home: Home, app: QApplication, qtbot: QtBot) -> None:
        self._app = app
        self._qtbot = qtbot
        self._has_left = False
        self.timers_left: list[str] = []
        """Those that still went on when everything was closed."""
        self._turn = QTimer()
        self._turn.setSingleShot(True)
        self.bench = AppContext(home)
        apply_theme(app, self.bench.theme, self.bench.window)
        self.window = self.bench.window
        self.models = self.bench.models
        self.centre = self.window.centre
        bar = self.window.findChild(PlayBar)
        assert isinstance(bar, PlayBar)
        self.play_bar = bar
        self.told: list[str] = []
        """What was said in passing."""
        self.bench.notices.posted.connect(lambda notice: self.told.append(notice.message))
        self.window.show()
        self.window.activateWindow()
        self.bench.open(StartupOptions(starts_daemon=False))

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self.window.close()
            self.bench.close()
            QApplication.processEvents()  # a timer that was due now is not left behind
            self.timers_left = [
                f"{type(timer.parent()).__name__} every {timer.interval()} ms"
                for owner in (self.bench, self.window)
                for timer in owner.findChildren(QTimer)
                if timer.isActive()
            ]
            self.window.deleteLater()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            if not any(each.isVisible() for each in self._app.topLevelWidgets()):
                self._app.setStyleSheet("")  # one in place of another would take its time

    # What they do.

    def press(self, *keys: Qt.Key) -> None:
        """One after the other, wherever the focus is."""
        for key in keys:
            QTest.keyClick(QApplication.focusWidget() or self.window, key)

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at or widget.rect().center())

    def click_on(self, text: str, within: QWidget | None = None) -> None:
        """On the button that says so."""
        self.click(self.button(text, within))

    def write(self, text: str, field: QWidget) -> None:
        """Over what is there."""
        QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(field, text)

    def look_at(self, tab: CentreTab) -> None:
        """By its tab, and its group where that is not in front; the page is built when it is."""
        centre = self.centre
        centre.show_tabs()
        if tab not in CENTRE_GROUPS[centre.group]:
            other = next(group for group, tabs in CENTRE_GROUPS.items() if tab in tabs)
            self.click_on(GROUP_TITLES[other], centre.groups)
        index = list(CENTRE_TITLES).index(tab)
        bar = centre.tabs.tabBar()
        assert centre.tabs.isTabEnabled(index), centre.tab_reason(tab)
        self.click(bar, bar.tabRect(index).center())
        self.settle()
        assert centre.current == tab

    def choose_run(self, run_id: str) -> None:
        """By its row in the list of runs; until the window knows all about it."""
        view = self.bench.runs_view
        self.wait(lambda: view.runs.row_of(run_id) is not None)
        view.table.scrollTo(self._cell(run_id, RunColumn.RUN))
        place = view.table.visualRect(self._cell(run_id, RunColumn.RUN)).center()
        self.click(view.table.viewport(), place)
        shown = self.bench.analysis.shown
        self.wait(lambda: shown.run_id == run_id and shown.is_known)

    def open_run(self, run_id: str) -> None:
        """By Enter, on its row."""
        self.choose_run(run_id)
        QTest.keyClick(self.bench.runs_view.table, Qt.Key.Key_Return)
        self.settle()

    def command(self, command_id: str) -> None:
        """From a menu."""
        self.bench.commands.update()
        action = self.bench.commands.actions[command_id]
        assert action.isEnabled(), action.toolTip()
        action.trigger()

    def look_through(self, theme: ThemeChoice, size: QSize) -> None:
        """Another theme and size. All of Qt's widgets are styled anew, which takes its time."""
        self.bench.theme.choose(theme)
        self.window.resize(size)
        for _ in range(_TURNS):
            QApplication.processEvents()

    def play(self, env_id: str, *, mode: str = "human", actor: str = "", **values: object) -> str:
        """Choose and start a session in the panel; the id of its run."""
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

    def walk(self, path: Sequence[str] = TO_THE_GOAL) -> None:
        """Key by key, each when the one before has been obeyed."""
        for step, key in enumerate(path):
            self.press(ARROWS[key])
            self.wait(partial(self._has_stepped, step))

    def _has_stepped(self, step: int) -> bool:
        return self.models.play.step_view.step >= step

    # What they see.

    def listed(self, run_id: str, column: RunColumn) -> str:
        """What the list of runs says of it; nothing as long as it is not there."""
        if self.bench.runs_view.runs.row_of(run_id) is None:
            return ""
        return str(self._cell(run_id, column).data() or "")

    def _cell(self, run_id: str, column: RunColumn) -> QModelIndex:
        runs = self.bench.runs_view.runs
        row = runs.row_of(run_id)
        assert row is not None
        return runs.index(row, column)

    def words(self, within: QWidget) -> list[str]:
        """What labels say there."""
        return [label.text() for label in within.findChildren(QLabel) if label.isVisible()]

    def wait(self, condition: Callable[[], object], patience_ms: int = PATIENCE_MS) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=patience_ms)

    def settle(self) -> None:
        """Until everything that was asked for by events has been built, laid out and drawn."""
        self.wait(lambda: is_complete(self.window))
        for _ in range(_TURNS):
            with self._qtbot.waitSignal(self._turn.timeout, timeout=PATIENCE_MS):
                self._turn.start(0)

    def button(self, text: str, within: QWidget | None = None) -> QAbstractButton:
        found = [
            button
            for button in (within or self.window).findChildren(QAbstractButton)
            if text in (button.text().replace("&", ""), button.accessibleName())
            and button.isVisible()
        ]
        assert len(found) == 1, f"{len(found)} visible buttons say {text!r}"
        return found[0]
