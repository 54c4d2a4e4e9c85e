"""MarkedCells: a delegate for rows of names and values that marks the rows that differ."""

from collections.abc import Callable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.tables.cell_delegate import CellDelegate, Index

_DOT = 0.36
"""Fraction of the line height."""


class MarkedCells(CellDelegate):
    """`is_marked`: whether a row differs. `is_heading`: whether it is a group heading."""

    def __init__(
        self,
        theme: ThemeModel,
        parent: QWidget,
        *,
        is_marked: Callable[[Index], bool],
        is_heading: Callable[[Index], bool] = lambda _: False,
    ) -> None:
        super().__init__(theme, parent)
        self._is_marked = is_marked
        self._is_heading = is_heading

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self.paint_background(painter, option)
        text, column = str(index.data() or ""), index.column()
        if self._is_heading(index):
            painter.save()
            font = painter.font()
            font.setBold(True)
            painter.setFont(font)
            self.paint_text(painter, option, text, "muted")
            painter.restore()
            return
        is_marked = self._is_marked(index)
        self.record_text(column, text)
        margin = option.fontMetrics.height() // 2
        text_rect = option.rect.adjusted(margin * 2 if column == 0 else margin, 0, -margin, 0)
        if column == 0 and is_marked:
            self._paint_mark(painter, option)
        first_tone = "text" if is_marked else "muted"
        tone = first_tone if column == 0 else ("muted" if column > 1 else "text")
        if is_marked and column == 1:
            painter.save()
            font = painter.font()
            font.setBold(True)
            painter.setFont(font)
            self.paint_text(painter, option, text, tone, rect=text_rect)
            painter.restore()
        else:
            self.paint_text(painter, option, text, tone, rect=text_rect)

    def _paint_mark(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        line = option.fontMetrics.height()
        side = line * _DOT
        mark = QRectF(
            option.rect.left() + line * 0.42, option.rect.center().y() - side / 2 + 1, side, side
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour("warning"))
        painter.drawEllipse(mark)
        painter.restore()
