"""RunActionMenu: the actions on the selected runs, with their shortcuts.

The menu, the bar and the table share these actions, so a disabled action is disabled everywhere,
and its tooltip has the reason. Created by `RunsView`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gym_gui.runtime.models.run_actions import RunAction, disabled_reasons
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import ColourRole, IconName, set_icon
from mosaic.contract.runs import RunRecord


class _ActionStyle(NamedTuple):
    icon: IconName
    text: str
    key: str
    role: ColourRole = "muted"


_STYLES: Mapping[RunAction, _ActionStyle] = {
    "open": _ActionStyle("table", "Open", "Return"),
    "watch": _ActionStyle("live", "Watch live", "W"),
    "replay": _ActionStyle("replay", "Replay", "R"),
    "pause": _ActionStyle("pause", "Pause", "P"),
    "resume": _ActionStyle("play", "Resume", "Shift+P"),
    "stop": _ActionStyle("stop", "Stop", "S"),
    "compare": _ActionStyle("compare", "Compare", "C"),
    "duplicate": _ActionStyle("copy", "Duplicate as new draft", "D"),
    "rename": _ActionStyle("note", "Rename", "F2"),
    "tag": _ActionStyle("tag", "Tags…", "T"),
    "note": _ActionStyle("log", "Note…", "N"),
    "export": _ActionStyle("export", "Export", "E"),
    "folder": _ActionStyle("folder", "Open folder", "O"),
    "copy": _ActionStyle("link", "Copy id", "Ctrl+C"),
    "archive": _ActionStyle("archive", "Archive", "A"),
    "restore": _ActionStyle("undo", "Restore", "Shift+A"),
    "delete": _ActionStyle("trash", "Delete", "Del"),
}
_MENU: tuple[tuple[RunAction, ...], ...] = (
    ("open", "watch", "replay"),
    ("pause", "resume", "stop"),
    ("compare", "duplicate", "export"),
    ("rename", "tag", "note"),
    ("folder", "copy"),
    ("archive", "restore", "delete"),
)
_HANDLED_BY_TABLE: frozenset[RunAction] = frozenset({"open", "copy"})


class RunActionMenu(QObject):
    """Calls `do` with the triggered action."""

    def __init__(self, do: Callable[[RunAction], None], theme: ThemeModel, table: QWidget) -> None:
        super().__init__(table)
        self._actions: dict[RunAction, QAction] = {}
        for name, style in _STYLES.items():
            action = QAction(style.text, self)
            action.setShortcut(QKeySequence(style.key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.setShortcutVisibleInContextMenu(True)
            set_icon(action, style.icon, theme, style.role)
            action.triggered.connect(lambda _=False, name=name: do(name))
            self._actions[name] = action
            if name not in _HANDLED_BY_TABLE:  # the table handles these keys
                table.addAction(action)
        self.update_actions(())

    def __getitem__(self, name: RunAction) -> QAction:
        return self._actions[name]

    def update_actions(self, runs: Collection[RunRecord]) -> None:
        """Disable the actions that these runs do not allow, with the reason as tooltip."""
        for name, reason in disabled_reasons(runs).items():
            action = self._actions[name]
            label = _STYLES[name].text.removesuffix("…")
            key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setEnabled(not reason)
            action.setToolTip(f"{label}: {reason}" if reason else f"{label} ({key})")

    def menu(self, owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.setToolTipsVisible(True)
        for section in _MENU:
            if menu.actions():
                menu.addSeparator()
            menu.addActions([self._actions[name] for name in section])
        return menu
