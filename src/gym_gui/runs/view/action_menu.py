"""RunActionMenu: everything that can be done with the chosen runs, as actions with keys.

The menu, the bar and the keys of the table all use the same ones, so each is greyed everywhere at
once, and says why. Made by `RunsView`.
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gym_gui.runtime.models.run_actions import RunAction, reasons
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import ColourRole, IconName, keep_icon
from mosaic.contract.runs import RunRecord


class _Look(NamedTuple):
    icon: IconName
    text: str
    key: str
    role: ColourRole = "muted"


_LOOKS: Mapping[RunAction, _Look] = {
    "open": _Look("table", "Open", "Return"),
    "watch": _Look("live", "Watch live", "W"),
    "replay": _Look("replay", "Replay", "R"),
    "pause": _Look("pause", "Pause", "P"),
    "resume": _Look("play", "Resume", "Shift+P"),
    "stop": _Look("stop", "Stop", "S"),
    "compare": _Look("compare", "Compare", "C"),
    "duplicate": _Look("copy", "Duplicate as new draft", "D"),
    "rename": _Look("note", "Rename", "F2"),
    "tag": _Look("tag", "Tags…", "T"),
    "note": _Look("log", "Note…", "N"),
    "export": _Look("export", "Export", "E"),
    "folder": _Look("folder", "Open folder", "O"),
    "copy": _Look("link", "Copy id", "Ctrl+C"),
    "archive": _Look("archive", "Archive", "A"),
    "restore": _Look("undo", "Bring back", "Shift+A"),
    "delete": _Look("trash", "Delete", "Del"),
}
_MENU: tuple[tuple[RunAction, ...], ...] = (
    ("open", "watch", "replay"),
    ("pause", "resume", "stop"),
    ("compare", "duplicate", "export"),
    ("rename", "tag", "note"),
    ("folder", "copy"),
    ("archive", "restore", "delete"),
)
_KEYS_OF_THE_TABLE: frozenset[RunAction] = frozenset({"open", "copy"})


class RunActionMenu(QObject):
    """`do` carries out a deed with what is chosen."""

    def __init__(self, do: Callable[[RunAction], None], theme: ThemeModel, table: QWidget) -> None:
        super().__init__(table)
        self._actions: dict[RunAction, QAction] = {}
        for deed, look in _LOOKS.items():
            action = QAction(look.text, self)
            action.setShortcut(QKeySequence(look.key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.setShortcutVisibleInContextMenu(True)
            keep_icon(action, look.icon, theme, look.role)
            action.triggered.connect(lambda _=False, deed=deed: do(deed))
            self._actions[deed] = action
            if deed not in _KEYS_OF_THE_TABLE:  # it has these keys by itself
                table.addAction(action)
        self.show_chosen(())

    def __getitem__(self, deed: RunAction) -> QAction:
        return self._actions[deed]

    def show_chosen(self, runs: Collection[RunRecord]) -> None:
        """Grey what does not fit the chosen runs, with the reason."""
        for deed, reason in reasons(runs).items():
            action = self._actions[deed]
            name = _LOOKS[deed].text.removesuffix("…")
            key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setEnabled(not reason)
            action.setToolTip(f"{name}: {reason}" if reason else f"{name} ({key})")

    def menu(self, owner: QWidget) -> QMenu:
        menu = QMenu(owner)
        menu.setToolTipsVisible(True)
        for part in _MENU:
            if menu.actions():
                menu.addSeparator()
            menu.addActions([self._actions[deed] for deed in part])
        return menu
