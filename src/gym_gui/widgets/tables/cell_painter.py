"""Painting the cells of a table directly: ground, line and text, without asking the style.

A table that shows forty rows at sixty frames a second has no time for more: colours are looked up
once, and whatever Qt would ask for cell by cell is not asked.
"""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import Colours, ThemeModel
from gym_gui.widgets.mixing import mixed

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHTS = 1.9
"""The height of a row, in heights of its text."""

_SELECTED = QStyle.StateFlag.State_Selected.value
_HOVERED = QStyle.StateFlag.State_MouseOver.value
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_WIDE_LETTERS = 1.4
"""A text whose letters would fit at so many times the average width needs no measuring."""
_NO_ROOM = "…"
"""Instead of a number that does not fit: part of one reads as another one."""


class CellDelegate(QStyledItemDelegate):
    """What paintings of rows have in common. Subclasses say what is in a cell."""

    widened = Signal(int, str)
    """A column has its longest text so far."""

    def __init__(self, theme: ThemeModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self._colours: Colours | None = None
        self._inks: dict[str, QColor] = {}
        self._line = self._hover = self._selection = QColor()
        self._longest: dict[int, int] = {}

    def forget_widths(self) -> None:
        """What comes is something else."""
        self._longest.clear()

    def note_text(self, column: int, text: str) -> None:
        """What is in a cell, so that its column gets the room for it."""
        if len(text) > self._longest.get(column, 0):
            self._longest[column] = len(text)
            self.widened.emit(column, text)

    def paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        """What lies under the cell: chosen or not, and the line below the row."""
        if self.theme.colours is not self._colours:
            self._read_colours()
        rect, state = option.rect, option.state.value
        if state & _SELECTED:
            painter.fillRect(rect, self._selection)
        elif state & _HOVERED:
            painter.fillRect(rect, self._hover)
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, self._line)

    def paint_text(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        text: str,
        tone: str,
        *,
        is_right: bool = False,
        room: QRect | None = None,
    ) -> None:
        """One line, cut with an ellipsis where it does not fit; numbers, at the right, never."""
        metrics = option.fontMetrics
        if room is None:
            edge = metrics.height() // 2
            room = option.rect.adjusted(edge, 0, -edge, 0)
        if len(text) * metrics.averageCharWidth() * _WIDE_LETTERS > room.width():
            if not is_right:
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            elif metrics.horizontalAdvance(text) > room.width():
                text = _NO_ROOM
        painter.setPen(self.ink(tone))
        painter.drawText(room, _RIGHT if is_right else _LEFT, text)

    def ink(self, tone: str) -> QColor:
        """The colour of that name in the theme."""
        ink = self._inks.get(tone)
        if ink is None:
            ink = self._inks[tone] = QColor(str(getattr(self.theme.colours, tone)))
        return ink

    @staticmethod
    def text_room(option: QStyleOptionViewItem) -> QRect:
        edge = option.fontMetrics.height() // 2
        return option.rect.adjusted(edge, 0, -edge, 0)

    def _read_colours(self) -> None:
        colours = self._colours = self.theme.colours
        self._inks.clear()
        self._selection = QColor(colours.selection)
        self._hover = mixed(colours.text, colours.surface, 0.04)
        self._line = mixed(colours.line, colours.surface, 0.6)
