"""AgentDelegate: an agent in the open combo: what it is, or why it cannot be trained here."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_catalog import AGENT_ROLE, Agent

POPUP_EMS = 28
_LINE_EMS = 1.2
_MOST_LINES = 3
_EDGE_EMS = 0.6
_TOP_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class AgentDelegate(QStyledItemDelegate):
    """The words are shown whole, in as many lines as they need."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        em = option.fontMetrics.height()
        agent: Agent = index.data(AGENT_ROLE)
        lines = 1 + _lines(_words_of(agent), option.fontMetrics, round(em * (POPUP_EMS - 2.5)))
        return QSize(em * POPUP_EMS, round(em * (lines * _LINE_EMS + 0.7)))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        agent: Agent = index.data(AGENT_ROLE)
        colours = self._theme.colours
        em = option.fontMetrics.height()
        box = option.rect.adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not agent.reason and option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(box), 4, 4)
        line = round(em * _LINE_EMS)
        edge = round(em * _EDGE_EMS)
        first = QRect(box.left() + edge, box.top() + em // 3, box.width() - 2 * edge, line)
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(colours.disabled if agent.reason else colours.text))
        name = QFontMetrics(bold).elidedText(
            agent.label, Qt.TextElideMode.ElideRight, first.width()
        )
        painter.drawText(first, _TOP_LEFT, name)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.muted))
        below = first.adjusted(0, line, 0, box.bottom() - first.bottom())
        painter.drawText(below, _TOP_LEFT | Qt.TextFlag.TextWordWrap, _words_of(agent))
        painter.restore()


def _words_of(agent: Agent) -> str:
    return f"✕ {agent.reason}" if agent.reason else agent.summary


def _lines(text: str, metrics: QFontMetrics, width: int) -> int:
    bounds = metrics.boundingRect(QRect(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, text)
    return max(1, min(_MOST_LINES, round(bounds.height() / metrics.lineSpacing())))
