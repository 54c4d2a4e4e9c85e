"""Finds disabled controls without a reason."""

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
"""Their child widgets are Qt's own and are skipped."""


class DisabledReasonCheck:
    """Inspects one screen after the other; `faults` returns those of all screens.

    A tooltip counts as a reason if it differs from that of the same control while enabled.
    """

    def __init__(self) -> None:
        self._disabled: dict[str, dict[str, str]] = defaultdict(dict)
        """For each control: its tooltips, and the screen of each."""
        self._enabled: dict[str, set[str]] = defaultdict(set)

    def inspect(self, screen: str, window: QWidget, *menus: QMenu) -> None:
        for name, tip, is_enabled in (*_controls(window), *_tabs(window), *_entries(window, menus)):
            if is_enabled:
                self._enabled[name].add(tip)
            else:
                self._disabled[name].setdefault(tip, screen)

    @property
    def disabled_count(self) -> int:
        """Number of controls that were disabled on some screen."""
        return len(self._disabled)

    def faults(self) -> list[str]:
        faults = []
        for name, tips in self._disabled.items():
            for tip, screen in tips.items():
                if not tip:
                    faults.append(f"{screen}: {name} is disabled without a tooltip")
                elif tip in self._enabled[name]:
                    faults.append(
                        f"{screen}: {name} is disabled with its ordinary tooltip: {tip!r}"
                    )
        return sorted(faults)


_ControlState = tuple[str, str, bool]


def _controls(window: QWidget) -> Iterator[_ControlState]:
    for control in window.findChildren(QWidget):
        is_control = isinstance(control, _CONTROLS) and not isinstance(control, QScrollBar)
        if is_control and control.isVisible() and not isinstance(control.parent(), _OWNERS):
            yield describe(control), _tip(control), control.isEnabled()


def _tip(control: QWidget) -> str:
    """The effective tooltip, which may be that of a parent."""
    holder: QWidget | None = control
    while holder is not None and not holder.toolTip() and holder.isEnabled() == control.isEnabled():
        holder = holder.parentWidget()
    return holder.toolTip() if holder is not None and not holder.isWindow() else ""


def _tabs(window: QWidget) -> Iterator[_ControlState]:
    for bar in window.findChildren(QTabBar):
        for index in range(bar.count()) if bar.isVisible() else ():
            if bar.isTabVisible(index):
                text = bar.tabText(index)
                tip = bar.tabToolTip(index)
                yield f"tab {text!r}", "" if tip == text else tip, bar.isTabEnabled(index)


def _entries(window: QWidget, menus: Iterable[QMenu]) -> Iterator[_ControlState]:
    """Entries of the menus of visible buttons, and of `menus`."""
    tools = [tool.menu() for tool in window.findChildren(QToolButton) if tool.isVisible()]
    buttons = [button.menu() for button in window.findChildren(QPushButton) if button.isVisible()]
    for menu in (*menus, *tools, *buttons):
        if isinstance(menu, QMenu):
            yield from _menu_entries(menu)


def _menu_entries(menu: QMenu) -> Iterator[_ControlState]:
    for action in menu.actions():
        submenu = action.menu()
        if isinstance(submenu, QMenu):
            yield from _menu_entries(submenu)
        elif not action.isSeparator():
            yield f"menu entry {action.text()!r}", _action_tip(action, menu), action.isEnabled()


def _action_tip(action: QAction, menu: QMenu) -> str:
    """Empty if Qt returns the text as tooltip, or the menu does not show tooltips."""
    tip = action.toolTip()
    is_own = tip not in ("", action.text().replace("&", "").removesuffix("…"))
    return tip if is_own and menu.toolTipsVisible() else ""
