"""Axes of a plot: few ticks with short numbers, in the colours of the theme."""

import math
from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from gym_gui.runtime.models.theme_model import Colours
from mosaic.contract.formatting import format_clock

_MINUTE_S = 60.0
_HOUR_S = 3600.0
_LINE_ALPHA = 255
_MIN_PLAIN = 1e-4
_NICE_FACTORS = (1.0, 2.0, 2.5, 5.0)
_LOG_FACTORS = (1.0, 2.0, 5.0)
_Y_TICK_LINES = 1.6
_X_TICK_LINES = 4.6
"""Minimum distance of ticks, in line heights."""
_MAX_FACTOR_SPAN = 2.5
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class YAxis(pg.AxisItem):  # type: ignore[misc, unused-ignore]
    """The left axis, with grid lines."""

    def __init__(self) -> None:
        super().__init__("left")
        self._line = QFontMetricsF(self.font()).height()
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=0, tickTextOffset=6, hideOverlappingLabels=False)
        self.setGrid(_LINE_ALPHA)
        self.setTextPen("k")

    def tickSpacing(  # noqa: N802 - the base's name
        self, low: float, high: float, size: float
    ) -> list[tuple[float, float]]:
        return [(nice_step(high - low, size / (self._line * _Y_TICK_LINES)), 0.0)]

    def tickStrings(  # noqa: N802 - the base's name
        self, values: Sequence[float], _scale: float, spacing: float
    ) -> list[str]:
        if self.logMode:
            # The values are exponents of ten.
            return [short_number(10**value, 10**value) for value in values]
        return [short_number(value, spacing) for value in values]

    def logTickValues(  # noqa: N802 - the base's name
        self, low: float, high: float, _size: float, _std_ticks: Any
    ) -> list[tuple[float | None, list[float]]]:
        """Powers of ten, and multiples by 2 and 5 if only a few powers are visible."""
        first, last = math.floor(low), math.ceil(high)
        step = max(1, (last - first) // 5)
        offsets = (
            [math.log10(factor) for factor in _LOG_FACTORS]
            if high - low < _MAX_FACTOR_SPAN
            else [0.0]
        )
        ticks = [power + offset for power in range(first, last + 1, step) for offset in offsets]
        return [(None, [tick for tick in ticks if low <= tick <= high])]


class XAxis(pg.AxisItem):  # type: ignore[misc, unused-ignore]
    """The bottom axis: steps, episodes or seconds."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._line = QFontMetricsF(self.font()).height()
        self.is_time = False
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=-4, tickTextOffset=4, autoExpandTextSpace=False)

    def tickSpacing(  # noqa: N802 - the base's name
        self, low: float, high: float, size: float
    ) -> list[tuple[float, float]]:
        unit = _time_unit(high - low)[0] if self.is_time else 1.0
        count = size / (self._line * _X_TICK_LINES)
        return [(nice_step((high - low) / unit, count) * unit, 0.0)]

    def tickStrings(  # noqa: N802 - the base's name
        self, values: Sequence[float], _scale: float, spacing: float
    ) -> list[str]:
        if not self.is_time:
            return [short_number(value, spacing) for value in values]
        unit, suffix = _time_unit(abs(self.range[1] - self.range[0]))
        return [f"{short_number(value / unit, spacing / unit)} {suffix}" for value in values]


def style_axes(axes: Sequence[pg.AxisItem], colours: Colours, font: QFont) -> None:
    for axis in axes:
        axis.setTickFont(font)
        axis.setTextPen(QColor(colours.muted))
        axis.setTickPen(pg.mkPen(colours.line, width=1))
        axis.setPen(pg.mkPen(colours.line, width=1))


def nice_step(span: float, count: float) -> float:
    """A round tick distance, such that about `count` ticks fill the span."""
    rough = max(span, 1e-300) / max(count, 1.0)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((factor * power for factor in _NICE_FACTORS if factor * power >= rough), 10 * power)


def short_number(value: float, spacing: float) -> str:
    """`1.5k`, `0.002`: with as many digits as the distance of ticks requires."""
    if value == 0:
        return "0"
    size = max(abs(value), abs(spacing))
    if size < _MIN_PLAIN:
        return f"{value:.2g}".replace("-", "\N{MINUS SIGN}")
    unit, suffix = next(((unit, suffix) for unit, suffix in _UNITS if size >= unit), (1.0, ""))
    digits, distance = 0, spacing / unit
    while digits < 4 and abs(round(distance, digits) - distance) > abs(distance) * 0.01:
        digits += 1
    return f"{value / unit:,.{digits}f}{suffix}".replace("-", "\N{MINUS SIGN}")


def format_x(x: float, axis: str) -> str:
    """The position of the crosshair."""
    if axis == "time":
        return format_clock(x)
    return f"{axis} {x:,.0f}"


def _time_unit(span_s: float) -> tuple[float, str]:
    if span_s > 2 * _HOUR_S:
        return _HOUR_S, "h"
    return (_MINUTE_S, "min") if span_s > 2 * _MINUTE_S else (1.0, "s")
