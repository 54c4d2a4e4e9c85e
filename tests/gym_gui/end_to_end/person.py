"""Person: somebody before the whole window, who presses keys and clicks, and looks at it."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.app.start_up import Wishes
from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import Workbench
from gym_gui.models.theme_model import ThemeChoice
from gym_gui.views.play.play_bar import PlayBar
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
        self.bench = Workbench(home)
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
        self.bench.open(Wishes(starts_daemon=False))

    def leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self.window.close()
            self.bench.close()
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
            lambda: play.is_playing and play.state.run_id != before and play.moment.episode_id
        )
        return play.state.run_id

    def walk(self, path: Sequence[str] = TO_THE_GOAL) -> None:
        """Key by key, each when the one before has been obeyed."""
        for step, key in enumerate(path):
            self.press(ARROWS[key])
            self.wait(partial(self._has_stepped, step))

    def _has_stepped(self, step: int) -> bool:
        return self.models.play.moment.step >= step

    # What they see.

    def wait(self, condition: Callable[[], object]) -> None:
        self._qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

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
