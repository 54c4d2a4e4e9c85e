"""What is cut off, squeezed or overlaps in a window, found by asking every widget that is shown."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QDockWidget,
    QGridLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QLineEdit,
    QMainWindow,
    QStackedWidget,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QWidget,
)

_ROUNDING = 1
"""Pixels. Sizes are whole, and what they are computed from is not."""


def faults(window: QMainWindow) -> list[str]:
    """One line for each; none in a window that is as it should be."""
    shown = [each for each in window.findChildren(QWidget) if each.isVisible()]
    return [f"{_name(widget)}: {fault}" for widget in shown for fault in _faults_of(widget)] + list(
        _overlaps(_areas(window))
    )


def _faults_of(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _of_label(widget)
    elif isinstance(widget, QTabBar):
        yield from _of_tabs(widget)
    elif isinstance(widget, QComboBox):
        yield from _of_combo(widget)
    elif isinstance(widget, QLineEdit):
        yield from _of_line(widget)
    elif isinstance(widget, QHeaderView):
        yield from _of_header(widget)
    elif isinstance(widget, QAbstractButton) and widget.text() and not _elides(widget):
        yield from _too_narrow(widget, widget.sizeHint().width())
    layout = widget.layout()
    if layout is not None:
        placed = [each for each in _placed(layout) if each.isVisible()]
        yield from _squeezed(placed)
        if not isinstance(layout, QGridLayout):  # one cell of which may hold two on purpose
            yield from _overlaps(placed)
        yield from (
            f"{_name(each)} reaches beyond it: {each.geometry()} in {widget.rect()}"
            for each in placed
            if not _grown(widget.rect()).contains(each.geometry())
        )


def _of_label(label: QLabel) -> Iterator[str]:
    if not label.text() or _elides(label):
        return
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        if needed > label.height() + _ROUNDING:
            yield f"is {label.height()} high, needs {needed}"
    else:
        yield from _too_narrow(label, label.sizeHint().width())


def _of_tabs(bar: QTabBar) -> Iterator[str]:
    for index in range(bar.count()):
        if not bar.isTabVisible(index):
            continue
        tab = bar.tabRect(index)
        if tab.width() + _ROUNDING < bar.fontMetrics().horizontalAdvance(bar.tabText(index)):
            yield f"{bar.tabText(index)!r} has only {tab.width()}"
        if tab.right() > bar.width() + _ROUNDING:
            yield f"{bar.tabText(index)!r} is out of sight"


def _of_combo(combo: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    field = combo.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, combo
    )
    needed = combo.fontMetrics().horizontalAdvance(combo.currentText())
    if needed > field.width() + _ROUNDING and not _is_told(combo, combo.currentText()):
        yield f"{combo.currentText()!r} has {field.width()}, needs {needed}"


def _of_line(line: QLineEdit) -> Iterator[str]:
    """What is typed scrolls; what stands there before has to be read as it is."""
    needed = line.fontMetrics().horizontalAdvance(line.placeholderText())
    if not line.text() and needed > line.contentsRect().width():
        yield f"{line.placeholderText()!r} has {line.contentsRect().width()}, needs {needed}"


def _of_header(header: QHeaderView) -> Iterator[str]:
    if header.orientation() is Qt.Orientation.Vertical:
        return
    for section in range(header.count()):
        text = header.model().headerData(section, header.orientation())
        needed = header.fontMetrics().horizontalAdvance(str(text or ""))
        if not header.isSectionHidden(section) and needed > header.sectionSize(section):
            yield f"{text!r} has {header.sectionSize(section)}, needs {needed}"


def _too_narrow(widget: QWidget, needed: int) -> Iterator[str]:
    if needed > widget.width() + _ROUNDING:
        yield f"is {widget.width()} wide, needs {needed}"


def _squeezed(placed: list[QWidget]) -> Iterator[str]:
    for widget in placed:
        if widget.findChild(QStackedWidget) is not None or isinstance(widget, QStackedWidget):
            continue  # it asks for pages that are not shown; the one that is speaks for itself
        if isinstance(widget, QAbstractScrollArea):
            continue  # it scrolls
        least = widget.minimumSizeHint().boundedTo(widget.maximumSize())
        if widget.hasHeightForWidth():
            least.setHeight(_least_height(widget))
        if widget.width() + _ROUNDING < least.width():
            yield f"{_name(widget)} is squeezed to {widget.width()} wide, needs {least.width()}"
        if widget.height() + _ROUNDING < least.height():
            yield f"{_name(widget)} is squeezed to {widget.height()} high, needs {least.height()}"


def _least_height(widget: QWidget) -> int:
    """Of words that wrap, at the width that they have."""
    layout = widget.layout()
    if layout is None:
        return widget.heightForWidth(widget.width())
    return layout.minimumHeightForWidth(widget.width())


def _overlaps(widgets: list[QWidget]) -> Iterator[str]:
    for one, other in combinations(widgets, 2):
        common = one.geometry().intersected(other.geometry())
        if common.width() > _ROUNDING and common.height() > _ROUNDING:
            yield f"{_name(one)} and {_name(other)} overlap by {common}"


def _areas(window: QMainWindow) -> list[QWidget]:
    docks = [dock for dock in window.findChildren(QDockWidget) if dock.isVisible()]
    centre = window.centralWidget()
    return [window.menuBar(), window.statusBar(), *([centre] if centre else []), *docks]


def _placed(layout: QLayout) -> Iterator[QWidget]:
    """Yield the widgets in a layout and in the layouts within it.

    Without `QLayout.itemAt`: PySide keeps the Python object of an item as long as the layout's, but
    Qt deletes the item earlier. Another object at the same address then gets the wrong Python type,
    and the process crashes some tests later.
    """
    layouts = [layout, *layout.findChildren(QLayout)]
    children = Qt.FindChildOption.FindDirectChildrenOnly
    owner = layout.parentWidget()
    for widget in owner.findChildren(QWidget, options=children) if owner else ():
        if any(each.indexOf(widget) >= 0 for each in layouts):
            yield widget


def _elides(widget: QWidget) -> bool:
    """It shortens its words itself, and says all of them when one points at it."""
    return "paintEvent" in type(widget).__dict__ and bool(
        widget.toolTip() or widget.accessibleName()
    )


def _is_told(widget: QWidget, text: str) -> bool:
    return text in (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())


def _grown(rect: QRect) -> QRect:
    return rect.adjusted(-_ROUNDING, -_ROUNDING, _ROUNDING, _ROUNDING)


def _name(widget: QWidget) -> str:
    """Enough to find it: its words, and what it is in."""
    text = getattr(widget, "text", None)
    words = widget.accessibleName() or (text() if callable(text) else "") or widget.objectName()
    chain, owner = [type(widget).__name__], widget.parentWidget()
    while owner is not None and len(chain) < 4:
        if type(owner).__module__.startswith("gym_gui") or isinstance(owner, QAbstractScrollArea):
            chain.append(type(owner).__name__)
        owner = owner.parentWidget()
    return f"{' in '.join(chain)} {words!r}"
