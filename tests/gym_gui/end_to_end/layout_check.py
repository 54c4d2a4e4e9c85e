"""Finds visible widgets of a window that are clipped, too small or overlapping."""

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
"""Tolerance in pixels for rounded sizes."""


def find_faults(window: QMainWindow) -> list[str]:
    """One line for each fault."""
    visible = [widget for widget in window.findChildren(QWidget) if widget.isVisible()]
    return [
        f"{_name(widget)}: {fault}" for widget in visible for fault in _widget_faults(widget)
    ] + list(_overlaps(_areas(window)))


def _widget_faults(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _label_faults(widget)
    elif isinstance(widget, QTabBar):
        yield from _tab_faults(widget)
    elif isinstance(widget, QComboBox):
        yield from _combo_faults(widget)
    elif isinstance(widget, QLineEdit):
        yield from _line_faults(widget)
    elif isinstance(widget, QHeaderView):
        yield from _header_faults(widget)
    elif isinstance(widget, QAbstractButton) and widget.text() and not _elides(widget):
        yield from _too_narrow(widget, widget.sizeHint().width())
    layout = widget.layout()
    if layout is not None:
        placed = [child for child in _placed(layout) if child.isVisible()]
        yield from _squeezed(placed)
        if not isinstance(layout, QGridLayout):  # a cell may contain two widgets on purpose
            yield from _overlaps(placed)
        yield from (
            f"{_name(child)} is outside of its parent: {child.geometry()} in {widget.rect()}"
            for child in placed
            if not _grown(widget.rect()).contains(child.geometry())
        )


def _label_faults(label: QLabel) -> Iterator[str]:
    if not label.text() or _elides(label):
        return
    if label.wordWrap():
        needed = label.heightForWidth(label.width())
        if needed > label.height() + _ROUNDING:
            yield f"is {label.height()} high, needs {needed}"
    else:
        yield from _too_narrow(label, label.sizeHint().width())


def _tab_faults(bar: QTabBar) -> Iterator[str]:
    for index in range(bar.count()):
        if not bar.isTabVisible(index):
            continue
        tab = bar.tabRect(index)
        if tab.width() + _ROUNDING < bar.fontMetrics().horizontalAdvance(bar.tabText(index)):
            yield f"{bar.tabText(index)!r} has only {tab.width()}"
        if tab.right() > bar.width() + _ROUNDING:
            yield f"{bar.tabText(index)!r} is not visible"


def _combo_faults(combo: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    combo.initStyleOption(option)
    field = combo.style().subControlRect(
        QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, combo
    )
    needed = combo.fontMetrics().horizontalAdvance(combo.currentText())
    if needed > field.width() + _ROUNDING and not _is_described(combo, combo.currentText()):
        yield f"{combo.currentText()!r} has {field.width()}, needs {needed}"


def _line_faults(line: QLineEdit) -> Iterator[str]:
    """Typed text scrolls; the placeholder must fit."""
    needed = line.fontMetrics().horizontalAdvance(line.placeholderText())
    if not line.text() and needed > line.contentsRect().width():
        yield f"{line.placeholderText()!r} has {line.contentsRect().width()}, needs {needed}"


def _header_faults(header: QHeaderView) -> Iterator[str]:
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
            continue  # its size hint includes hidden pages; the visible one is checked separately
        if isinstance(widget, QAbstractScrollArea):
            continue  # it scrolls
        minimum = widget.minimumSizeHint().boundedTo(widget.maximumSize())
        if widget.hasHeightForWidth():
            minimum.setHeight(_min_height(widget))
        if widget.width() + _ROUNDING < minimum.width():
            yield f"{_name(widget)} is squeezed to {widget.width()} wide, needs {minimum.width()}"
        if widget.height() + _ROUNDING < minimum.height():
            yield f"{_name(widget)} is squeezed to {widget.height()} high, needs {minimum.height()}"


def _min_height(widget: QWidget) -> int:
    """The minimum height of wrapped text at the current width."""
    layout = widget.layout()
    if layout is None:
        return widget.heightForWidth(widget.width())
    return layout.minimumHeightForWidth(widget.width())


def _overlaps(widgets: list[QWidget]) -> Iterator[str]:
    for first, second in combinations(widgets, 2):
        common = first.geometry().intersected(second.geometry())
        if common.width() > _ROUNDING and common.height() > _ROUNDING:
            yield f"{_name(first)} and {_name(second)} overlap by {common}"


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
        if any(inner.indexOf(widget) >= 0 for inner in layouts):
            yield widget


def _elides(widget: QWidget) -> bool:
    """Whether the widget elides its text and has the full text as tooltip or name."""
    return "paintEvent" in type(widget).__dict__ and bool(
        widget.toolTip() or widget.accessibleName()
    )


def _is_described(widget: QWidget, text: str) -> bool:
    return text in (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())


def _grown(rect: QRect) -> QRect:
    return rect.adjusted(-_ROUNDING, -_ROUNDING, _ROUNDING, _ROUNDING)


def _name(widget: QWidget) -> str:
    """The text of a widget and the classes of its parents."""
    text = getattr(widget, "text", None)
    label = widget.accessibleName() or (text() if callable(text) else "") or widget.objectName()
    chain, owner = [type(widget).__name__], widget.parentWidget()
    while owner is not None and len(chain) < 4:
        if type(owner).__module__.startswith("gym_gui") or isinstance(owner, QAbstractScrollArea):
            chain.append(type(owner).__name__)
        owner = owner.parentWidget()
    return f"{' in '.join(chain)} {label!r}"
