"""CommandList: the commands that match a query, best first, and the delegate that paints them."""

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
from gym_gui.widgets.styling import blend

_TIP_SCORE = -1_000.0
"""The score of a match in the tip, below that of every match in a name."""
_WORD_START_BONUS = 8
_CONSECUTIVE_BONUS = 5
_FIRST_LETTER_BONUS = 6
_GAP_PENALTY = 0.3
AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Hit:
    action: QAction
    text: str
    positions: tuple[int, ...]
    """The indexes of the matching letters in `text`."""

    @property
    def description(self) -> str:
        """The tip of the command, or why it is disabled."""
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
        """List the matching commands; of equal matches, enabled and recent ones first."""
        ranked: list[tuple[tuple[float, ...], Hit]] = []
        for order, action in enumerate(actions):
            text = plain_text(action)
            name = fuzzy_match(query, text)
            if name is None and not matches_prefixes(query, action.toolTip()):
                continue
            score = name.score if name is not None else _TIP_SCORE
            used = recent.index(name_of(action)) if name_of(action) in recent else len(recent)
            hit = Hit(action, text, name.positions if name is not None else ())
            ranked.append(((-round(score), not action.isEnabled(), used, order), hit))
        self.beginResetModel()
        self._hits = [hit for _, hit in sorted(ranked, key=lambda item: item[0])]
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
            return ", ".join(part for part in (hit.text, keys, state, hit.description) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return hit.description
        return None

    def flags(self, _index: AnyIndex) -> Qt.ItemFlag:
        """All rows can be selected, also those of disabled commands."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class CommandDelegate(QStyledItemDelegate):
    """Paints icon, name with the matching letters in bold, description and shortcut."""

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
        is_enabled = hit.action.isEnabled()
        side = round(line * 1.25)
        icon_rect = QRect(rect.left() + line // 2, 0, side, side)
        icon_rect.moveTop(rect.center().y() - side // 2 + 1)
        mode = QIcon.Mode.Normal if is_enabled else QIcon.Mode.Disabled
        hit.action.icon().paint(painter, icon_rect, Qt.AlignmentFlag.AlignCenter, mode)
        right = self._paint_shortcut(painter, hit, rect, is_enabled)
        left = icon_rect.right() + line * 2 // 3
        ink = colours.text if is_enabled else colours.disabled
        left = _paint_name(painter, hit, QRect(left, rect.top(), right - left, rect.height()), ink)
        painter.setPen(QColor(colours.muted))
        free = QRect(left + line, rect.top(), right - left - 2 * line, rect.height())
        if free.width() > 3 * line:
            elided = painter.fontMetrics().elidedText(
                hit.description, Qt.TextElideMode.ElideRight, free.width()
            )
            painter.drawText(free, Qt.AlignmentFlag.AlignVCenter, elided)
        painter.restore()

    def _paint_shortcut(self, painter: QPainter, hit: Hit, rect: QRect, is_enabled: bool) -> int:
        """Return the left edge of the shortcut."""
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
        painter.setPen(QColor(colours.muted if is_enabled else colours.disabled))
        painter.drawText(cap, Qt.AlignmentFlag.AlignCenter, keys)
        return round(cap.left()) - metrics.height() // 2


def _paint_name(painter: QPainter, hit: Hit, rect: QRect, ink: str) -> int:
    """Return the right edge of the name."""
    plain, bold = QFont(painter.font()), QFont(painter.font())
    bold.setBold(True)
    painter.setPen(QColor(ink))
    left = rect.left()
    for index, letter in enumerate(hit.text):
        font = bold if index in hit.positions else plain
        painter.setFont(font)
        width = QFontMetrics(font).horizontalAdvance(letter)
        if left + width > rect.right():
            break
        painter.drawText(
            QRect(left, rect.top(), width + 2, rect.height()),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            letter,
        )
        left += width
    painter.setFont(plain)
    return left


@dataclass(frozen=True, slots=True)
class Match:
    """A higher score is better; `positions` are the indexes of the matching letters."""

    score: float
    positions: tuple[int, ...]


def fuzzy_match(query: str, text: str) -> Match | None:
    """Match all letters of `query` in order; spaces are ignored."""
    letters = query.lower().replace(" ", "")
    if not letters:
        return Match(0.0, ())
    lower_text = text.lower()
    best: Match | None = None
    start = lower_text.find(letters[0])
    while start >= 0:
        candidate = _match_from(letters, lower_text, start)
        if candidate is None:
            break
        if best is None or candidate.score > best.score:
            best = candidate
        start = lower_text.find(letters[0], start + 1)
    return best


def matches_prefixes(query: str, text: str) -> bool:
    """Whether each word of `query` is the start of a word of `text`; for longer texts."""
    parts = text.lower().split()
    return all(any(part.startswith(term) for part in parts) for term in query.lower().split())


def _match_from(letters: str, lower_text: str, start: int) -> Match | None:
    """Greedy match: prefer a letter at the start of a word, else its next occurrence."""
    positions = [start]
    score = _letter_score(lower_text, start, None)
    for letter in letters[1:]:
        previous = positions[-1]
        position = _next_position(letter, lower_text, previous)
        if position < 0:
            return None
        score += _letter_score(lower_text, position, previous)
        positions.append(position)
    return Match(score - 0.01 * len(lower_text), tuple(positions))


def _next_position(letter: str, lower_text: str, previous: int) -> int:
    following = lower_text.find(letter, previous + 1)
    if following in (-1, previous + 1):
        return following
    position = following
    while position >= 0:
        if _is_word_start(lower_text, position):
            return position
        position = lower_text.find(letter, position + 1)
    return following


def _letter_score(lower_text: str, position: int, previous: int | None) -> float:
    score = 1.0
    if _is_word_start(lower_text, position):
        score += _WORD_START_BONUS
    if position == 0:
        score += _FIRST_LETTER_BONUS
    if previous is not None:
        gap = position - previous - 1
        score += _CONSECUTIVE_BONUS if gap == 0 else -_GAP_PENALTY * gap
    return score


def _is_word_start(lower_text: str, position: int) -> bool:
    return position == 0 or not lower_text[position - 1].isalnum()
