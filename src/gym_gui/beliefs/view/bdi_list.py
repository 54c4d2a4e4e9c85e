"""MindList: beliefs, goals or intentions below each other, and which are new, other or gone.

Only rows in sight are painted, and rows that stay the same are left alone, so that nothing jumps
while an agent changes its mind ten times a second.
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
from gym_gui.widgets.fonts import fixed_font, scaled
from gym_gui.widgets.mixing import mixed

Mark = Literal["", "new", "gone", "changed"]
Index = QModelIndex | QPersistentModelIndex
_ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_NO_PARENT = QModelIndex()
_SIGNS = {"new": "+", "gone": "\N{MINUS SIGN}", "changed": "\N{RIGHTWARDS ARROW}"}
_ONE_LINE, _TWO_LINES = 1.5, 2.7
_IN_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class MindRow(NamedTuple):
    text: str
    mark: Mark = ""
    detail: str = ""
    """On a line of its own."""
    was: str = ""
    """The value before, of one that changed."""

    @property
    def remark(self) -> str:
        """Beside it."""
        return f"was {self.was}" if self.mark == "changed" else self.mark

    @property
    def words(self) -> str:
        said = f"{self.text} ({self.remark})" if self.mark else self.text
        return f"{said}, {self.detail}" if self.detail else said


class MindList(QListView):
    """Ctrl+C copies the chosen rows."""

    def __init__(self, name: str, theme: ThemeModel, *, has_details: bool = False) -> None:
        super().__init__()
        self._nothing = ""
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
    def rows(self) -> tuple[MindRow, ...]:
        return tuple(self._rows.rows)

    def show_rows(self, rows: Sequence[MindRow]) -> None:
        had_rows = bool(self._rows.rows)
        self._rows.show(rows)
        if had_rows != bool(rows):
            self.setAccessibleDescription("" if rows else self._nothing)
            self.viewport().update()

    def say_nothing(self, words: str) -> None:
        """What is said in place of rows, while there are none."""
        if words != self._nothing:
            self._nothing = words
            self.setAccessibleDescription("" if self._rows.rows else words)
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        super().paintEvent(event)
        if not self._rows.rows:
            line = self.fontMetrics().height()
            painter = QPainter(self.viewport())
            painter.setPen(QColor(self._theme.colours.muted))
            room = self.viewport().rect().adjusted(line // 3, line // 4, -line // 3, 0)
            painter.drawText(room, int(Qt.TextFlag.TextWordWrap), self._nothing)
            painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            chosen = sorted(index.row() for index in self.selectedIndexes())
            QGuiApplication.clipboard().setText("\n".join(self.rows[row].text for row in chosen))
        else:
            super().keyPressEvent(event)


class _Rows(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[MindRow] = []

    def show(self, rows: Sequence[MindRow]) -> None:
        """Only the end grows and shrinks, and what is different in between is painted again."""
        before, after = len(self.rows), len(rows)
        if after > before:
            self.beginInsertRows(_NO_PARENT, before, after - 1)
            self.rows += rows[before:]
            self.endInsertRows()
        elif after < before:
            self.beginRemoveRows(_NO_PARENT, after, before - 1)
            del self.rows[after:]
            self.endRemoveRows()
        other = [at for at, row in enumerate(rows) if self.rows[at] != row]
        if other:
            self.rows = list(rows)
            self.dataChanged.emit(self.index(other[0]), self.index(other[-1]))

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
        return row.words if role in texts else None


class _RowDelegate(QStyledItemDelegate):
    def __init__(self, theme: ThemeModel, parent: QWidget, line_heights: float) -> None:
        super().__init__(parent)
        self._theme = theme
        self._line_heights = line_heights

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802 - Qt's name
        return QSize(0, round(option.fontMetrics.height() * self._line_heights))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: MindRow | None = index.data(_ROW_ROLE)
        if row is None:
            return
        colours = self._theme.colours
        line = option.fontMetrics.height()
        inks = {"new": colours.good, "gone": colours.bad, "changed": colours.accent}
        ink = inks.get(row.mark, colours.text)
        self._paint_ground(painter, option, row.mark, ink)
        room = option.rect.adjusted(line // 3, 0, -line // 2, 0)
        mono = fixed_font(option.font)
        if row.mark:
            bold = QFont(mono)
            bold.setBold(True)
            painter.setFont(bold)
            painter.setPen(QColor(ink))
            painter.drawText(room, _IN_LINE, _SIGNS[row.mark])
            small = scaled(option.font, 0.85)
            painter.setFont(small)
            width = QFontMetrics(small).horizontalAdvance(row.remark)
            place = QRect(room.right() - width, room.top(), width + 1, room.height())
            painter.drawText(place, _IN_LINE, row.remark)
            room.setRight(room.right() - width - line // 3)
        room.setLeft(room.left() + round(line * 0.9))
        painter.setPen(QColor(colours.muted if row.mark == "gone" else colours.text))
        if row.detail:
            upper = QRect(room.left(), room.top() + line // 4, room.width(), round(line * 1.15))
            lower = QRect(room.left(), upper.bottom(), room.width(), round(line * 1.15))
            _draw(painter, row.text, upper, mono)
            painter.setPen(QColor(colours.muted))
            _draw(painter, row.detail, lower, scaled(option.font, 0.9))
        else:
            mono.setStrikeOut(row.mark == "gone")
            _draw(painter, row.text, room, mono)

    def _paint_ground(
        self, painter: QPainter, option: QStyleOptionViewItem, mark: Mark, ink: str
    ) -> None:
        colours, state = self._theme.colours, option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(colours.selection))
        elif mark:
            painter.fillRect(option.rect, mixed(ink, colours.surface, 0.1))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, mixed(colours.text, colours.surface, 0.035))


def _draw(painter: QPainter, text: str, room: QRect, font: QFont) -> None:
    painter.setFont(font)
    shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
    painter.drawText(room, _IN_LINE, shown)
