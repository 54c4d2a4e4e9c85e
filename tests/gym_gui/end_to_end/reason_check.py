"""What is greyed without saying why, found by walking the window."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollBar,
    QTabBar,
    QToolButton,
    QWidget,
)

from tests.gym_gui.end_to_end.access_check import describe

_CONTROLS = (QAbstractButton, QComboBox, QAbstractSpinBox, QLineEdit, QAbstractSlider)
_OWNERS = (QLineEdit, QTabBar, QDockWidget, QComboBox, QAbstractSpinBox)
"""What Qt puts into these is their own affair."""


class ReasonWalk:
    """Looks at one screen after the other; `faults` are of all that it has seen.

    A tip says why when it is another one than that of the same control while it can be used.
    """

    def __init__(self) -> None:
        self._greyed: dict[str, dict[str, str]] = defaultdict(dict)
        """Control, its tip, and where it was seen."""
        self._usable: dict[str, set[str]] = defaultdict(set)

    def look(self, screen: str, window: QWidget, *menus: QMenu) -> None:
        for name, tip, is_enabled in (*_controls(window), *_tabs(window), *_entries(window, menus)):
            if is_enabled:
                self._usable[name].add(tip)
            else:
                self._greyed[name].setdefault(tip, screen)

    @property
    def greyed(self) -> int:
        """How many controls were greyed on some screen: none would prove nothing."""
        return len(self._greyed)

    def faults(self) -> list[str]:
        found = []
        for name, tips in self._greyed.items():
            for tip, screen in tips.items():
                if not tip:
                    found.append(f"{screen}: {name} is greyed without a word")
                elif tip in self._usable[name]:
                    found.append(f"{screen}: {name} is greyed, and its tip is as always: {tip!r}")
        return sorted(found)


_Seen = tuple[str, str, bool]


def _controls(window: QWidget) -> Iterator[_Seen]:
    for control in window.findChildren(QWidget):
        is_one = isinstance(control, _CONTROLS) and not isinstance(control, QScrollBar)
        if is_one and control.isVisible() and not isinstance(control.parent(), _OWNERS):
            yield describe(control), _tip(control), control.isEnabled()


def _tip(control: QWidget) -> str:
    """As it appears: that of what holds it where it has none of its own."""
    holder: QWidget | None = control
    while holder is not None and not holder.toolTip() and holder.isEnabled() == control.isEnabled():
        holder = holder.parentWidget()
    return holder.toolTip() if holder is not None and not holder.isWindow() else ""


def _tabs(window: QWidget) -> Iterator[_Seen]:
    for bar in window.findChildren(QTabBar):
        for index in range(bar.count()) if bar.isVisible() else ():
            if bar.isTabVisible(index):
                text = bar.tabText(index)
                tip = bar.tabToolTip(index)
                yield f"tab {text!r}", "" if tip == text else tip, bar.isTabEnabled(index)


def _entries(window: QWidget, menus: Iterable[QMenu]) -> Iterator[_Seen]:
    """Of menus that buttons open, and of others."""
    tools = [each.menu() for each in window.findChildren(QToolButton) if each.isVisible()]
    buttons = [each.menu() for each in window.findChildren(QPushButton) if each.isVisible()]
    for menu in (*menus, *tools, *buttons):
        if isinstance(menu, QMenu):
            yield from _entries_of(menu)


def _entries_of(menu: QMenu) -> Iterator[_Seen]:
    for action in menu.actions():
        below = action.menu()
        if isinstance(below, QMenu):
            yield from _entries_of(below)
        elif not action.isSeparator():
            yield f"menu entry {action.text()!r}", _said(action, menu), action.isEnabled()


def _said(action: QAction, menu: QMenu) -> str:
    """Without a tip of its own Qt gives the text; a menu shows tips only when it is told to."""
    tip = action.toolTip()
    is_own = tip not in ("", action.text().replace("&", "").removesuffix("…"))
    return tip if is_own and menu.toolTipsVisible() else ""
