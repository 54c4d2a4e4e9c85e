"""Finds controls that lack an accessible name or cannot be reached with the keyboard."""

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDockWidget,
    QLineEdit,
    QTabBar,
    QWidget,
)


def focusable(window: QWidget) -> list[QWidget]:
    """All visible widgets that accept the keyboard focus."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not _is_inner_field(widget)
    ]


def find_unnamed(window: QWidget) -> Iterator[str]:
    """Controls without an accessible name, and icon buttons without a tooltip."""
    for widget in focusable(window):
        if not _accessible_name(widget):
            yield f"{describe(widget)} has no name"
    for button in window.findChildren(QAbstractButton):
        if isinstance(button.parent(), QLineEdit | QTabBar | QDockWidget):
            continue  # Qt's own
        if button.isVisible() and not button.text() and not button.toolTip():
            yield f"{describe(button)} has an icon but no tooltip"


def find_unreachable(window: QWidget) -> Iterator[str]:
    """Controls that repeated presses of Tab do not reach."""
    expected = focusable(window)
    if not expected:
        return
    expected[0].setFocus()
    reached: set[QWidget] = set()
    for _ in range(2 * len(expected)):
        focused = QApplication.focusWidget()
        if focused is None or (focused is expected[0] and len(reached) > 1):
            break
        reached.add(_control(focused))
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    for widget in expected:
        if widget not in reached and not _is_reached_by_arrows(widget, reached):
            yield f"{describe(widget)} is not reached by Tab"


def describe(widget: QWidget) -> str:
    chain: list[str] = []
    owner = widget.parentWidget()
    while owner is not None and len(chain) < 2:
        if type(owner).__module__.startswith("gym_gui"):
            chain.append(type(owner).__name__)
        owner = owner.parentWidget()
    return " in ".join([f"{type(widget).__name__} {_accessible_name(widget)!r}", *chain])


def _accessible_name(widget: QWidget) -> str:
    """The name that a screen reader reads."""
    if isinstance(widget, QTabBar):
        return " | ".join(widget.tabText(index) for index in range(widget.count()))
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def _is_inner_field(widget: QWidget) -> bool:
    """Whether it is the line edit of a spin box or a combo box."""
    return isinstance(widget, QLineEdit) and isinstance(
        widget.parentWidget(), QAbstractSpinBox | QComboBox
    )


def _control(widget: QWidget) -> QWidget:
    owner = widget.parentWidget()
    return owner if owner is not None and _is_inner_field(widget) else widget


def _is_reached_by_arrows(widget: QWidget, reached: set[QWidget]) -> bool:
    """Whether it belongs to an exclusive group: Tab reaches the checked button only."""
    if not isinstance(widget, QAbstractButton):
        return False
    group = widget.group()
    if group is not None and group.exclusive():
        return any(button in reached for button in group.buttons())
    owner = widget.parentWidget()
    if owner is None or not widget.autoExclusive():
        return False
    return any(button in reached for button in owner.findChildren(QAbstractButton))
