"""What a person with a keyboard or a screen reader would miss, found by walking the window."""

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
    """Everything on the screen that the keyboard can be given to."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and not _is_part_of_a_control(widget)
    ]


def nameless(window: QWidget) -> Iterator[str]:
    """Controls that a screen reader has no words for, and pictures without words."""
    for widget in focusable(window):
        if not _spoken(widget):
            yield f"{describe(widget)} has no name"
    for button in window.findChildren(QAbstractButton):
        if isinstance(button.parent(), QLineEdit | QTabBar | QDockWidget):
            continue  # Qt's own
        if button.isVisible() and not button.text() and not button.toolTip():
            yield f"{describe(button)} is a picture without a tip"


def out_of_reach(window: QWidget) -> Iterator[str]:
    """What pressing Tab over and over does not come to."""
    wanted = focusable(window)
    if not wanted:
        return
    wanted[0].setFocus()
    reached: set[QWidget] = set()
    for _ in range(2 * len(wanted)):
        focused = QApplication.focusWidget()
        if focused is None or (focused is wanted[0] and len(reached) > 1):
            break
        reached.add(_control(focused))
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    for widget in wanted:
        if widget not in reached and not _is_reached_by_arrows(widget, reached):
            yield f"{describe(widget)} is not reached by Tab"


def describe(widget: QWidget) -> str:
    chain: list[str] = []
    owner = widget.parentWidget()
    while owner is not None and len(chain) < 2:
        if type(owner).__module__.startswith("gym_gui"):
            chain.append(type(owner).__name__)
        owner = owner.parentWidget()
    return " in ".join([f"{type(widget).__name__} {_spoken(widget)!r}", *chain])


def _spoken(widget: QWidget) -> str:
    """As screen readers are told it."""
    if isinstance(widget, QTabBar):
        return " | ".join(widget.tabText(index) for index in range(widget.count()))
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def _is_part_of_a_control(widget: QWidget) -> bool:
    """The field inside of a spin box or a combo box."""
    return isinstance(widget, QLineEdit) and isinstance(
        widget.parentWidget(), QAbstractSpinBox | QComboBox
    )


def _control(widget: QWidget) -> QWidget:
    owner = widget.parentWidget()
    return owner if owner is not None and _is_part_of_a_control(widget) else widget


def _is_reached_by_arrows(widget: QWidget, reached: set[QWidget]) -> bool:
    """One of several that exclude each other: Tab goes to the chosen one, arrows to the rest."""
    if not isinstance(widget, QAbstractButton):
        return False
    group = widget.group()
    if group is not None and group.exclusive():
        return any(button in reached for button in group.buttons())
    owner = widget.parentWidget()
    if owner is None or not widget.autoExclusive():
        return False
    return any(button in reached for button in owner.findChildren(QAbstractButton))
