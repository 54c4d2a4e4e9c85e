"""EnvironmentRowDelegate: paints the headings and environments of the picker."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.environments_model import ROW_ROLE, EnvironmentRow
from gym_gui.session.view.thumbnails import Thumbnails
from gym_gui.widgets.icons import draw_icon

_ROW_EMS = 4.3
_HEADING_EMS = 2.2
_THUMBNAIL_EMS = (4.6, 3.5)
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class EnvironmentRowDelegate(QStyledItemDelegate):
    def __init__(
        self, thumbnails: Thumbnails, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        row: EnvironmentRow = index.data(ROW_ROLE)
        em = option.fontMetrics.height()
        ems = _HEADING_EMS if row.kind == "heading" else _ROW_EMS
        return QSize(em * 16, round(em * ems))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        row: EnvironmentRow = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if row.kind == "heading":
            self._paint_heading(painter, option, row)
        else:
            self._paint_environment(painter, option, row)
        painter.restore()

    def _paint_heading(
        self, painter: QPainter, option: QStyleOptionViewItem, row: EnvironmentRow
    ) -> None:
        em = option.fontMetrics.height()
        painter.setFont(_bold(option.font))
        painter.setPen(QColor(self._theme.colours.muted))
        box = option.rect.adjusted(em // 2, em // 2, -em // 2, 0)
        painter.drawText(box, _LEFT, row.title)

    def _paint_environment(
        self, painter: QPainter, option: QStyleOptionViewItem, row: EnvironmentRow
    ) -> None:
        colours = self._theme.colours
        em = option.fontMetrics.height()
        box = option.rect.adjusted(2, 1, -2, -1)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(box), 5, 5)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(QRectF(box), 5, 5)
        width, height = (round(em * ems) for ems in _THUMBNAIL_EMS)
        thumbnail_rect = QRectF(box.left() + em * 0.4, box.center().y() - height / 2, width, height)
        self._thumbnails.paint(painter, thumbnail_rect, row.env_id, row.family)
        left = round(thumbnail_rect.right() + em * 0.7)
        text = QRect(left, box.top(), box.right() - left - em // 2, box.height())
        self._paint_text(painter, option, row, text)

    def _paint_text(
        self, painter: QPainter, option: QStyleOptionViewItem, row: EnvironmentRow, box: QRect
    ) -> None:
        colours = self._theme.colours
        em = option.fontMetrics.height()
        line = round(em * 1.2)
        top = box.center().y() - round(line * 1.5)
        first = QRect(box.left(), top, box.width(), line)
        if row.needs:
            first.setWidth(first.width() - self._paint_needs(painter, option, first))
        _draw_elided(painter, first, row.title, _bold(option.font), colours.text)
        mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        mono.setPointSizeF(option.font.pointSizeF() * 0.92)
        second = QRect(box.left(), top + line, box.width(), line)
        _draw_elided(painter, second, row.env_id, mono, colours.muted)
        third = QRect(box.left(), top + 2 * line, box.width(), line)
        _draw_elided(painter, third, row.summary, option.font, colours.muted)

    def _paint_needs(self, painter: QPainter, option: QStyleOptionViewItem, line: QRect) -> int:
        """At the end of the line; returns the width used."""
        colours = self._theme.colours
        em = option.fontMetrics.height()
        label = "needs install"
        width_used = option.fontMetrics.horizontalAdvance(label) + round(em * 1.6)
        mark = QRectF(
            line.right() - width_used + em * 0.4, line.center().y() - em * 0.45, em * 0.9, em * 0.9
        )
        draw_icon(painter, "download", colours.warning, mark)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.warning))
        rect = QRect(round(mark.right() + em * 0.2), line.top(), width_used, line.height())
        painter.drawText(rect, _LEFT, label)
        return width_used


def _bold(font: QFont) -> QFont:
    bold = QFont(font)
    bold.setBold(True)
    return bold


def _draw_elided(painter: QPainter, box: QRect, text: str, font: QFont, colour: str) -> None:
    painter.setFont(font)
    painter.setPen(QColor(colour))
    elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, _LEFT, elided)
