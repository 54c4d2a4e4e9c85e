"""Skeletons: placeholders while curves are loading."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend

_LINES = 4


class PlotSkeleton(QWidget):
    """Grid lines in place of the plot."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        ink = blend(colours.line, colours.surface, 0.6)
        line = self.fontMetrics().height()
        box = QRectF(self.rect()).adjusted(line * 2.6, line / 2, -line / 2, -line * 1.5)
        painter = QPainter(self)
        for number in range(_LINES):
            y = round(box.top() + box.height() * number / (_LINES - 1)) + 0.5
            painter.setPen(QPen(ink, 1.0))
            painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            painter.fillRect(QRectF(line * 0.9, y - line / 4, line * 1.2, line / 2), ink)
        painter.end()


class PageSkeleton(QWidget):
    """A large and a small plot, while the names of the metrics are loading."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line, line, line)
        layout.setSpacing(line)
        layout.addWidget(PlotSkeleton(theme), 3)
        layout.addWidget(PlotSkeleton(theme), 2)
        self.setAccessibleName("Loading metrics")
