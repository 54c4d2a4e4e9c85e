"""BdiList: a list of beliefs, goals or intentions with marks for new, changed and removed ones.

Only changed rows are updated, so that the list does not flicker at ten updates a second.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend, fixed_font, scaled_font

Mark = Literal["", "new", "gone", "changed"]
Index = QModelIndex | QPersistentModelIndex
_ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_NO_PARENT = QModelIndex()
_SIGNS = {"new": "+", "gone": "\N{MINUS SIGN}", "changed": "\N{RIGHTWARDS ARROW}"}
_ONE_LINE, _TWO_LINES = 1.5, 2.7
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class BdiRow(NamedTuple):
    text: str
    mark: Mark = ""
    detail: str = ""
    """Second line."""
    was: str = ""
    """The old value of a changed belief."""

    @property
    def remark(self) -> str:
        """Text at the right edge."""
        return f"was {self.was}" if self.mark == "changed" else self.mark

    @property
    def full_text(self) -> str:
        text = f"{self.text} ({self.remark})" if self.mark else self.text
        return f"{text}, {self.detail}" if self.detail else text


class BdiList(QListView):
    """Ctrl+C copies the selected rows."""

    def __init__(self, name: str, theme: ThemeModel, *, has_details: bool = False) -> None:
        super().__init__()
        self._placeholder = ""
        self._theme = theme
        self._rows = _Rows()
        self.setModel(self._rows)
        self.setItemDelegate(_RowDelegate(theme, self, _TWO_LINES if has_details else _ONE_LINE))
        self.setAccessibleName(name)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        theme.changed.connect(self.viewport().update)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 7, line * 2)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 12, line * 5)

    @property
    def rows(self) -> tuple[BdiRow, ...]:
        return tuple(self._rows.rows)

    def show_rows(self, rows: Sequence[BdiRow]) -> None:
        had_rows = bool(self._rows.rows)
        self._rows.show(rows)
        if had_rows != bool(rows):
            self.setAccessibleDescription("" if rows else self._placeholder)
            self.viewport().update()

    def set_placeholder(self, text: str) -> None:
        """Set the text for an empty list."""
        if text != self._placeholder:
            self._placeholder = text
            self.setAccessibleDescription("" if self._rows.rows else text)
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        if not self._rows.rows:
            line = self.fontMetrics().height()
            painter = QPainter(self.viewport())
            painter.setPen(QColor(self._theme.colours.muted))
            rect = self.viewport().rect().adjusted(line // 3, line // 4, -line // 3, 0)
            painter.drawText(rect, int(Qt.TextFlag.TextWordWrap), self._placeholder)
            painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            selected = sorted(index.row() for index in self.selectedIndexes())
            QGuiApplication.clipboard().setText("\n".join(self.rows[row].text for row in selected))
        else:
            super().keyPressEvent(event)


class _Rows(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[BdiRow] = []

    def show(self, rows: Sequence[BdiRow]) -> None:
        """Add or remove rows at the end only, and update the changed ones."""
        before, after = len(self.rows), len(rows)
        if after > before:
            self.beginInsertRows(_NO_PARENT, before, after - 1)
            self.rows += rows[before:]
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(_NO_PARENT, after, before - 1)
            del self.rows[after:]
            self.endRemoveRows()
        changed = [number for number, row in enumerate(rows) if self.rows[number] != row]
        if changed:
            self.rows = list(rows)
            self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))

    def rowCount(self, parent: Index = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == _ROW_ROLE:
            return row
        texts = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        return row.full_text if role in texts else None


class _RowDelegate(QStyledItemDelegate):
    def __init__(self, theme: ThemeModel, parent: QWidget, line_heights: float) -> None:
        super().__init__(parent)
        self._theme = theme
        self._line_heights = line_heights

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, round(option.fontMetrics.height() * self._line_heights))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: BdiRow | None = index.data(_ROW_ROLE)
        if row is None:
            return
        colours = self._theme.colours
        line = option.fontMetrics.height()
        mark_colours = {"new": colours.good, "gone": colours.bad, "changed": colours.accent}
        colour = mark_colours.get(row.mark, colours.text)
        self._paint_background(painter, option, row.mark, colour)
        rect = option.rect.adjusted(line // 3, 0, -line // 2, 0)
        mono = fixed_font(option.font)
        if row.mark:
            bold = QFont(mono)
            bold.setBold(True)
            painter.setFont(bold)
            painter.setPen(QColor(colour))
            painter.drawText(rect, _IN_LINE, _SIGNS[row.mark])
            small = scaled_font(option.font, 0.85)
            painter.setFont(small)
            width = QFontMetrics(small).horizontalAdvance(row.remark)
            remark_rect = QRect(rect.right() - width, rect.top(), width + 1, rect.height())
            painter.drawText(remark_rect, _IN_LINE, row.remark)
            rect.setRight(rect.right() - width - line // 3)
        rect.setLeft(rect.left() + round(line * 0.9))
        painter.setPen(QColor(colours.muted if row.mark == "gone" else colours.text))
        if row.detail:
            upper = QRect(rect.left(), rect.top() + line // 4, rect.width(), round(line * 1.15))
            lower = QRect(rect.left(), upper.bottom(), rect.width(), round(line * 1.15))
            _draw(painter, row.text, upper, mono)
            painter.setPen(QColor(colours.muted))
            _draw(painter, row.detail, lower, scaled_font(option.font, 0.9))
        else:
            mono.setStrikeOut(row.mark == "gone")
            _draw(painter, row.text, rect, mono)

    def _paint_background(
        self, painter: QPainter, option: QStyleOptionViewItem, mark: Mark, colour: str
    ) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif mark:
            painter.fillRect(option.rect, blend(colour, colours.surface, 0.1))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, blend(colours.text, colours.surface, 0.035))


def _draw(painter: QPainter, text: str, rect: QRect, font: QFont) -> None:
    painter.setFont(font)
    elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, _IN_LINE, elided)
