"""TitleDetailDelegate: rows with a bold title and a wrapped detail, for popups of combo boxes."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import ColourRole, IconName, draw_icon

Index = QModelIndex | QPersistentModelIndex
_LINE_EMS = 1.2
_MAX_DETAIL_LINES = 3
_MARGIN_EMS = 0.5
_ICON_EMS = 1.3
_ICON_COLUMN_EMS = 2.5
_TOP_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class TitleDetail(NamedTuple):
    """The content of a row. A disabled row is not highlighted."""

    title: str
    detail: str
    is_enabled: bool = True
    title_role: ColourRole = "text"
    detail_role: ColourRole = "muted"
    icon: IconName | None = None


class TitleDetailDelegate(QStyledItemDelegate):
    """`content_of` returns the content of an index; `width_ems` is the width of the popup."""

    def __init__(
        self,
        content_of: Callable[[Index], TitleDetail],
        theme: ThemeModel,
        width_ems: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._content_of = content_of
        self._theme = theme
        self._width_ems = width_ems

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802 - Qt's name
        content, em = self._content_of(index), option.fontMetrics.height()
        text_width = round(em * (self._width_ems - _left_ems(content) - 2))
        lines = 1 + _line_count(content.detail, option.fontMetrics, text_width)
        return QSize(em * self._width_ems, round(em * (lines * _LINE_EMS + 0.8)))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        content, colours = self._content_of(index), self._theme.colours
        em = option.fontMetrics.height()
        row = option.rect.adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if content.is_enabled and option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(row), 4, 4)
        title_colour = str(getattr(colours, content.title_role))
        if content.icon is not None:
            side = em * _ICON_EMS
            icon_rect = QRectF(row.left() + em * _MARGIN_EMS, row.top() + em * 0.4, side, side)
            draw_icon(painter, content.icon, title_colour, icon_rect)
        left, top = row.left() + round(em * _left_ems(content)), row.top() + round(em * 0.35)
        line = round(em * _LINE_EMS)
        title_rect = QRect(left, top, row.right() - left - em // 2, line)
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(title_colour))
        title = QFontMetrics(bold).elidedText(
            content.title, Qt.TextElideMode.ElideRight, title_rect.width()
        )
        painter.drawText(title_rect, _TOP_LEFT, title)
        painter.setFont(option.font)
        painter.setPen(QColor(str(getattr(colours, content.detail_role))))
        detail_rect = QRect(left, top + line, title_rect.width(), row.bottom() - top - line)
        painter.drawText(detail_rect, _TOP_LEFT | Qt.TextFlag.TextWordWrap, content.detail)
        painter.restore()


def _left_ems(content: TitleDetail) -> float:
    return _MARGIN_EMS if content.icon is None else _ICON_COLUMN_EMS


def _line_count(text: str, metrics: QFontMetrics, width: int) -> int:
    bounds = metrics.boundingRect(QRect(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, text)
    return max(1, min(_MAX_DETAIL_LINES, round(bounds.height() / metrics.lineSpacing())))
