"""Commands: the table as actions of the window, in its menus, with what each does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gym_gui.app.command_table import COMMANDS, MENUS, Command
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import set_icon


@dataclass(frozen=True, slots=True)
class Binding:
    """What a command does. `why_not` says in words why it cannot be used now, or nothing."""

    run: Callable[[], None]
    why_not: Callable[[], str] = lambda: ""
    is_checked: Callable[[], bool] | None = None


class Commands:
    """Made once, by the main window, with a binding for each command of the table."""

    def __init__(
        self, window: QMainWindow, bindings: Mapping[str, Binding], theme: ThemeModel
    ) -> None:
        self._bindings = bindings
        self._theme = theme
        self.actions = {command.id: self._action(window, command) for command in COMMANDS}
        for title in MENUS:
            menu = window.menuBar().addMenu(title)
            menu.setToolTipsVisible(True)
            menu.aboutToShow.connect(self.update)
            self._fill(menu, [command for command in COMMANDS if command.menu == title])

    def update(self) -> None:
        """What can be used now, and why the rest cannot: menus and palette ask before they show."""
        for command in COMMANDS:
            action, binding = self.actions[command.id], self._bindings[command.id]
            why_not = binding.why_not()
            action.setEnabled(not why_not)
            action.setToolTip(why_not or command.tip)
            if binding.is_checked is not None:
                action.setChecked(binding.is_checked())

    def shortcuts(self) -> list[tuple[str, str]]:
        """Words and keys of those commands that have keys."""
        return [(command.text, command.shortcut) for command in COMMANDS if command.shortcut]

    def _action(self, window: QMainWindow, command: Command) -> QAction:
        binding = self._bindings[command.id]
        action = QAction(command.text, window)
        action.setObjectName(command.id)
        action.setToolTip(command.tip)
        action.setStatusTip(command.tip)
        if command.shortcut:
            action.setShortcut(QKeySequence(command.shortcut))
        if command.icon is not None:
            set_icon(action, command.icon, self._theme)
        action.setCheckable(binding.is_checked is not None)
        action.triggered.connect(lambda: self._run(command))
        window.addAction(action)
        return action

    def _run(self, command: Command) -> None:
        """By shortcut the state may be one that no menu has asked for yet."""
        binding = self._bindings[command.id]
        if not binding.why_not():
            binding.run()
        self.update()

    def _fill(self, menu: QMenu, commands: list[Command]) -> None:
        for command in commands:
            if command.begins_group:
                menu.addSeparator()
            menu.addAction(self.actions[command.id])
