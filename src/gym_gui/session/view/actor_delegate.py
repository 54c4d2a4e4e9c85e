"""ActorDelegate: an actor in the open combo: who it is, what it does, or why it cannot act."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.actors_model import ACTOR_ROLE, HUMAN, ActorDescriptor, reason_of
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon

POPUP_EMS = 30
_MARK_EMS = 1.3
_LEFT_EMS = 2.5
_LINE_EMS = 1.2
_MAX_LINES = 3
_TOP_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class ActorDelegate(QStyledItemDelegate):
    """Paints an actor with its description, or the reason why it is unavailable."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        em = option.fontMetrics.height()
        text_width = round(em * (POPUP_EMS - _LEFT_EMS - 2))
        lines = 1 + _lines(_detail_text(index.data(ACTOR_ROLE)), option.fontMetrics, text_width)
        return QSize(em * POPUP_EMS, round(em * (lines * _LINE_EMS + 0.8)))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        actor: ActorDescriptor = index.data(ACTOR_ROLE)
        colours = self._theme.colours
        em = option.fontMetrics.height()
        box = option.rect.adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if actor.is_available and option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(box), 4, 4)
        ink = colours.text if actor.is_available else colours.muted
        mark: IconName = "person" if actor.id == HUMAN else "robot"
        side = em * _MARK_EMS
        draw_icon(
            painter, mark, ink, QRectF(box.left() + em * 0.5, box.top() + em * 0.4, side, side)
        )
        top = box.top() + round(em * 0.35)
        left = box.left() + round(em * _LEFT_EMS)
        line = round(em * _LINE_EMS)
        first = QRect(left, top, box.right() - left - em // 2, line)
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(ink))
        name = QFontMetrics(bold).elidedText(
            actor.label, Qt.TextElideMode.ElideRight, first.width()
        )
        painter.drawText(first, _TOP_LEFT, name)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.muted if actor.is_available else colours.warning))
        below = QRect(left, top + line, first.width(), box.bottom() - top - line)
        painter.drawText(below, _TOP_LEFT | Qt.TextFlag.TextWordWrap, _detail_text(actor))
        painter.restore()


def _detail_text(actor: ActorDescriptor) -> str:
    return reason_of(actor) or actor.description


def _lines(text: str, metrics: QFontMetrics, width: int) -> int:
    bounds = metrics.boundingRect(QRect(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, text)
    return max(1, min(_MAX_LINES, round(bounds.height() / metrics.lineSpacing())))
