"""PolicyDelegate: paints a saved policy: its run, marks and details, or why it cannot act."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.trained_policies import POLICY_ROLE, PolicyRow
from gym_gui.widgets.icons import draw_icon
from gym_gui.widgets.styling import scaled_font

ROW_EMS = 3.1
_LINE_EMS = 1.25
_LEFT_EMS = 1.6
_MARGIN_EMS = 0.4
_SMALL_SCALE = 0.9
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_MIDDLE = Qt.AlignmentFlag.AlignCenter


class PolicyDelegate(QStyledItemDelegate):
    """The active actor has a check mark."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        em = option.fontMetrics.height()
        return QSize(em * 10, round(em * ROW_EMS))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        row: PolicyRow = index.data(POLICY_ROLE)
        colours = self._theme.colours
        em = option.fontMetrics.height()
        box = option.rect.adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_current = bool(option.state & QStyle.StateFlag.State_HasFocus)
        if row.is_chosen or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection if row.is_chosen else colours.raised))
            painter.drawRoundedRect(QRectF(box), 4, 4)
        if is_current:
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(box).adjusted(1, 1, -1, -1), 4, 4)
        line = round(em * _LINE_EMS)
        top = box.top() + (box.height() - 2 * line) // 2
        left = box.left() + round(em * _LEFT_EMS)
        right = box.right() - round(em * _MARGIN_EMS)
        if row.is_chosen:
            mark = QRectF(box.left() + em * 0.3, top + (line - em) / 2, em, em)
            draw_icon(painter, "check", colours.accent, mark)
        title_right = self._paint_marks(painter, option, row.marks, right, top, line)
        bold = QFont(option.font)
        bold.setBold(row.is_chosen)
        painter.setFont(bold)
        painter.setPen(QColor(colours.disabled if row.reason else colours.text))
        title_rect = QRect(left, top, title_right - left, line)
        painter.drawText(title_rect, _LEFT, _elided(row.title, bold, title_rect.width()))
        small = scaled_font(option.font, _SMALL_SCALE)
        painter.setFont(small)
        painter.setPen(QColor(colours.warning if row.reason else colours.muted))
        details_rect = QRect(left, top + line, right - left, line)
        text = row.reason or row.details
        painter.drawText(details_rect, _LEFT, _elided(text, small, details_rect.width()))
        painter.restore()

    def _paint_marks(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        marks: tuple[str, ...],
        right: int,
        top: int,
        line: int,
    ) -> int:
        """Return the left edge of the marks."""
        colours = self._theme.colours
        small = scaled_font(option.font, _SMALL_SCALE)
        painter.setFont(small)
        metrics = QFontMetrics(small)
        em = option.fontMetrics.height()
        for mark in reversed(marks):
            width = metrics.horizontalAdvance(mark) + em
            pill = QRectF(right - width, top + (line - metrics.height()) / 2, width, em)
            tone = colours.good if mark == "best" else colours.muted
            painter.setPen(QPen(QColor(tone), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(pill, em / 2, em / 2)
            painter.drawText(pill, _MIDDLE, mark)
            right -= width + em // 3
        return right


def _elided(text: str, font: QFont, width: int) -> str:
    return QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
