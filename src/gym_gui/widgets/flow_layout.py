"""FlowLayout: items side by side, wrapped into rows."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Rows are left-aligned and as high as their highest item; half a gap is between rows."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        self._items.append(item)

    def clear(self) -> None:
        """Delete all widgets. Qt removes the item of a widget when the widget is deleted."""
        for item in self._items:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        return self._arrange(QRect(0, 0, width, 0), is_dry_run=True)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        super().setGeometry(rect)
        self._arrange(rect, is_dry_run=False)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """The size of all items in one row."""
        sizes = [item.sizeHint() for item in self._visible_items()]
        width = sum(size.width() for size in sizes) + self._gap * max(0, len(sizes) - 1)
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        size = QSize()
        for item in self._visible_items():
            size = size.expandedTo(item.minimumSize())
        return size

    def _visible_items(self) -> list[QLayoutItem]:
        return [item for item in self._items if not _is_hidden(item)]

    def _arrange(self, rect: QRect, *, is_dry_run: bool) -> int:
        """Return the height of all rows."""
        top = rect.top()
        for row in self._rows(rect.width()):
            height = max(item.sizeHint().height() for item in row)
            left = rect.left()
            for item in row:
                size = item.sizeHint()
                if not is_dry_run:
                    item_top = top + (height - size.height()) // 2
                    item.setGeometry(QRect(QPoint(left, item_top), size))
                left += size.width() + self._gap
            top += height + self._gap // 2
        return max(0, top - rect.top() - self._gap // 2)

    def _rows(self, width: int) -> list[list[QLayoutItem]]:
        rows: list[list[QLayoutItem]] = []
        left = 0
        for item in self._visible_items():
            needed = item.sizeHint().width()
            if not rows or left + needed > width:
                rows.append([])
                left = 0
            rows[-1].append(item)
            left += needed + self._gap
        return rows


def _is_hidden(item: QLayoutItem) -> bool:
    """Whether the item was hidden explicitly. Before its parent is shown, `isHidden` is true for
    every widget."""
    widget = item.widget()
    if widget is None:
        return item.isEmpty()
    return widget.isHidden() and widget.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
