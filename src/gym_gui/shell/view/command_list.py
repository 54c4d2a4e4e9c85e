"""CommandList: the commands that fit what is typed, best first; and how one of them is painted."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QIcon, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.fuzzy_match import has_words, match
from gym_gui.widgets.styling import blend

_ONLY_IN_TIP = -1_000.0
"""Below every hit in a name."""
AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Hit:
    action: QAction
    text: str
    places: tuple[int, ...]
    """Of the letters in `text` that were meant."""

    @property
    def remark(self) -> str:
        """What it does, or why it cannot be used now."""
        tip = self.action.toolTip()
        return "" if tip == self.text else tip


def name_of(action: QAction) -> str:
    return action.objectName() or action.text()


def plain_text(action: QAction) -> str:
    return action.text().replace("&", "")


class CommandList(QAbstractListModel):
    """One row per command."""

    def __init__(self) -> None:
        super().__init__()
        self._hits: list[Hit] = []

    def find(self, actions: Sequence[QAction], query: str, recent: Sequence[str]) -> None:
        """Without a query all of them, the ones used last first, those that cannot be used last."""
        ranked: list[tuple[tuple[float, ...], Hit]] = []
        for order, action in enumerate(actions):
            text = plain_text(action)
            name = match(query, text)
            if name is None and not has_words(query, action.toolTip()):
                continue
            score = name.score if name is not None else _ONLY_IN_TIP
            used = recent.index(name_of(action)) if name_of(action) in recent else len(recent)
            hit = Hit(action, text, name.places if name is not None else ())
            ranked.append(((-round(score), not action.isEnabled(), used, order), hit))
        self.beginResetModel()
        self._hits = [hit for _, hit in sorted(ranked, key=lambda each: each[0])]
        self.endResetModel()

    def hit(self, row: int) -> Hit:
        return self._hits[row]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        hit = self._hits[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return hit.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            keys = hit.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            state = "" if hit.action.isEnabled() else "not available"
            return ", ".join(part for part in (hit.text, keys, state, hit.remark) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return hit.remark
        return None

    def flags(self, _index: AnyIndex) -> Qt.ItemFlag:
        """One that cannot be used can still be read."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class CommandPainter(QStyledItemDelegate):
    """Icon, name with the letters that were meant, what it does, and its keys."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, _index: AnyIndex) -> QSize:  # noqa: N802
        return QSize(10, round(option.fontMetrics.height() * 2.1))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        if not isinstance(model, CommandList):
            return
        hit = model.hit(index.row())
        colours = self._theme.colours
        rect: QRect = option.rect
        is_current = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 5, 5)
        line = painter.fontMetrics().height()
        is_usable = hit.action.isEnabled()
        side = round(line * 1.25)
        icon_place = QRect(rect.left() + line // 2, 0, side, side)
        icon_place.moveTop(rect.center().y() - side // 2 + 1)
        mode = QIcon.Mode.Normal if is_usable else QIcon.Mode.Disabled
        hit.action.icon().paint(painter, icon_place, Qt.AlignmentFlag.AlignCenter, mode)
        right = self._paint_keys(painter, hit, rect, is_usable)
        left = icon_place.right() + line * 2 // 3
        ink = colours.text if is_usable else colours.disabled
        left = _paint_name(painter, hit, QRect(left, rect.top(), right - left, rect.height()), ink)
        painter.setPen(QColor(colours.muted))
        room = QRect(left + line, rect.top(), right - left - 2 * line, rect.height())
        if room.width() > 3 * line:
            shown = painter.fontMetrics().elidedText(
                hit.remark, Qt.TextElideMode.ElideRight, room.width()
            )
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()

    def _paint_keys(self, painter: QPainter, hit: Hit, rect: QRect, is_usable: bool) -> int:
        """Returns where they begin."""
        metrics = painter.fontMetrics()
        right = rect.right() - metrics.height() // 2
        keys = hit.action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        if not keys:
            return right
        colours = self._theme.colours
        width = metrics.horizontalAdvance(keys) + round(metrics.height() * 0.8)
        cap = QRectF(right - width, 0, width, round(metrics.height() * 1.4))
        cap.moveTop(rect.top() + (rect.height() - cap.height()) / 2)
        painter.setPen(QPen(blend(colours.text, colours.line, 0.08), 1.0))
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(cap, 4, 4)
        painter.setPen(QColor(colours.muted if is_usable else colours.disabled))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, keys)
        return round(cap.left()) - metrics.height() // 2


def _paint_name(painter: QPainter, hit: Hit, room: QRect, ink: str) -> int:
    """Returns where it ends."""
    plain, bold = QFont(painter.font()), QFont(painter.font())
    bold.setBold(True)
    painter.setPen(QColor(ink))
    left = room.left()
    for place, letter in enumerate(hit.text):
        font = bold if place in hit.places else plain
        painter.setFont(font)
        width = QFontMetrics(font).horizontalAdvance(letter)
        if left + width > room.right():
            break
        painter.drawText(
            QRect(left, room.top(), width + 2, room.height()),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            letter,
        )
        left += width
    painter.setFont(plain)
    return left
