"""FamilyDelegate: a family of environments, with how many there are at the end of its line."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel

COUNT_ROLE = int(Qt.ItemDataRole.UserRole)


class FamilyDelegate(QStyledItemDelegate):
    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), round(option.fontMetrics.height() * 1.9))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        painter.save()
        painter.setPen(QColor(self._theme.colours.muted))
        box = option.rect.adjusted(0, 0, -option.fontMetrics.height() // 2, 0)
        count = str(index.data(COUNT_ROLE))
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, count)
        painter.restore()
