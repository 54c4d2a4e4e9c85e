"""UsagePlot: an area plot of one quantity over time, with a tooltip of the nearest value."""

import math
from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gym_gui.run_page.model.run_usage_model import UsageSeries
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.styling import blend, scaled_font
from mosaic.contract.formatting import format_clock

_ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_GRID_LINES = 3
_HEADROOM = 1.08
_TIME_LABELS = 4


class UsagePlot(QWidget):
    """Shows a `UsageSeries`. `format_value` formats axis labels and the tooltip."""

    def __init__(
        self,
        name: str,
        format_value: Callable[[float], str],
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._format_value = format_value
        self._theme = theme
        self._series = UsageSeries()
        self._limit: float | None = None
        self.setFont(scaled_font(self.font(), 0.89))
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def show_series(self, series: UsageSeries, limit: float | None) -> None:
        """`limit`: the total capacity; drawn as a line if it is in range."""
        self._series, self._limit = series, limit
        newest = series.newest
        self.setAccessibleName(
            f"{self._name}, now {self._format_value(newest)}" if newest else self._name
        )
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 20, line * 9)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 10, line * 5)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        rect, times = self._plot_rect(), self._series.t
        if len(times) > 1:
            fraction = (event.position().x() - rect.left()) / max(1.0, rect.width())
            t = times[0] + min(1.0, max(0.0, fraction)) * (times[-1] - times[0])
            index = min(bisect_left(times, t), len(times) - 1)
            value = self._format_value(self._series.values[index])
            text = f"{value} at {format_clock(times[index])}"
            QToolTip.showText(event.globalPosition().toPoint(), text, self)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect, top = self._plot_rect(), self._top()
        self._paint_lines(painter, rect, top)
        if len(self._series.t) > 1:
            self._paint_times(painter, rect)
            self._paint_area(painter, rect, top)
        painter.end()

    def _plot_rect(self) -> QRectF:
        metrics = self.fontMetrics()
        left = metrics.horizontalAdvance(self._format_value(self._top())) + metrics.height() // 2
        return QRectF(self.rect()).adjusted(
            left, metrics.height() * 0.6, -2, -metrics.height() * 1.3
        )

    def _top(self) -> float:
        peak = (self._series.peak or 0.0) * _HEADROOM
        return _round_step(peak / _GRID_LINES) * _GRID_LINES if peak > 0 else float(_GRID_LINES)

    def _paint_lines(self, painter: QPainter, rect: QRectF, top: float) -> None:
        colours, metrics = self._theme.colours, self.fontMetrics()
        for number in range(_GRID_LINES + 1):
            value = top * number / _GRID_LINES
            y = rect.bottom() - rect.height() * number / _GRID_LINES
            painter.setPen(QPen(blend(colours.line, colours.surface, 0.7), 1.0))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))
            painter.setPen(QColor(colours.muted))
            label_rect = QRectF(0, y - metrics.height() / 2, rect.left() - 6, metrics.height())
            side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(label_rect, side, self._format_value(value))
        if self._limit is not None and self._limit <= top:
            y = rect.bottom() - rect.height() * self._limit / top
            painter.setPen(QPen(QColor(colours.warning), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(rect.left(), y), QPointF(rect.right(), y))

    def _paint_times(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(QColor(self._theme.colours.muted))
        first, last = self._series.t[0], self._series.t[-1]
        metrics = self.fontMetrics()
        for number in range(_TIME_LABELS + 1):
            fraction = number / _TIME_LABELS
            text = format_clock(first + (last - first) * fraction)
            width = metrics.horizontalAdvance(text)
            left = rect.left() + rect.width() * fraction - width * fraction
            painter.drawText(QPointF(left, rect.bottom() + metrics.height() * 1.1), text)

    def _paint_area(self, painter: QPainter, rect: QRectF, top: float) -> None:
        columns = max(2, int(rect.width()))
        if len(self._series.t) > columns * 2:
            self._paint_columns(painter, rect, top, columns)
            return
        colours, series = self._theme.colours, self._series
        first, span = series.t[0], (series.t[-1] - series.t[0]) or 1.0
        points = [
            QPointF(
                rect.left() + rect.width() * (t - first) / span,
                rect.bottom() - rect.height() * value / top,
            )
            for t, value in zip(series.t, series.values, strict=True)
        ]
        area = [QPointF(points[0].x(), rect.bottom()), *points]
        area.append(QPointF(points[-1].x(), rect.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(colours.accent, colours.surface, 0.16))
        painter.drawPolygon(QPolygonF(area))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        painter.drawPolyline(QPolygonF(points))

    def _paint_columns(self, painter: QPainter, rect: QRectF, top: float, columns: int) -> None:
        """For more samples than pixels: the minimum to the maximum of each pixel column."""
        colours, values = self._theme.colours, self._series.values
        per_column = len(values) / columns
        areas, lines = [], []
        for column in range(columns):
            column_values = values[int(column * per_column) : int((column + 1) * per_column)]
            x = rect.left() + column
            high = rect.bottom() - rect.height() * max(column_values) / top
            low = rect.bottom() - rect.height() * min(column_values) / top
            areas.append(QRectF(x, high, 1.0, rect.bottom() - high))
            lines.append(QRectF(x, high, 1.0, max(1.5, low - high)))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(blend(colours.accent, colours.surface, 0.16))
        painter.drawRects(areas)
        painter.setBrush(QColor(colours.accent))
        painter.drawRects(lines)


def _round_step(minimum: float) -> float:
    """The next round number."""
    power = 10.0 ** math.floor(math.log10(minimum))
    return next(power * step for step in _ROUND_STEPS if power * step >= minimum * 0.999)
