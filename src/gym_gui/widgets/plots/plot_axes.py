"""The axes of a plot: few, short numbers in the window's own writing, and quiet lines."""

import math
from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFont, QFontMetricsF

from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.theme_model import Colours

_MINUTE_S = 60.0
_HOUR_S = 3600.0
_LINE_ALPHA = 255
_TINY = 1e-4
_EVEN = (1.0, 2.0, 2.5, 5.0)
_BETWEEN_POWERS = (1.0, 2.0, 5.0)
_LINES_PER_VALUE = 1.6
_LINES_PER_PLACE = 4.6
"""Room for one number, in heights of a line."""
_FEW_POWERS = 2.5
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


class ValueAxis(pg.AxisItem):  # type: ignore[misc, unused-ignore]
    """The left one. Its lines go across the plot."""

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
        return [(even_step(high - low, size / (self._line * _LINES_PER_VALUE)), 0.0)]

    def tickStrings(  # noqa: N802 - the base's name
        self, values: Sequence[float], _scale: float, spacing: float
    ) -> list[str]:
        if self.logMode:
            # Here values are exponents of ten.
            return [short_number(10**value, 10**value) for value in values]
        return [short_number(value, spacing) for value in values]

    def logTickValues(  # noqa: N802 - the base's name
        self, low: float, high: float, _size: float, _std_ticks: Any
    ) -> list[tuple[float | None, list[float]]]:
        """Powers of ten; where only a few of them are in sight, with 2 and 5 between them."""
        first, last = math.floor(low), math.ceil(high)
        step = max(1, (last - first) // 5)
        between = (
            [math.log10(each) for each in _BETWEEN_POWERS] if high - low < _FEW_POWERS else [0.0]
        )
        marks = [power + part for power in range(first, last + 1, step) for part in between]
        return [(None, [mark for mark in marks if low <= mark <= high])]


class PlaceAxis(pg.AxisItem):  # type: ignore[misc, unused-ignore]
    """The bottom one: steps, episodes or seconds."""

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
        count = size / (self._line * _LINES_PER_PLACE)
        return [(even_step((high - low) / unit, count) * unit, 0.0)]

    def tickStrings(  # noqa: N802 - the base's name
        self, values: Sequence[float], _scale: float, spacing: float
    ) -> list[str]:
        if not self.is_time:
            return [short_number(value, spacing) for value in values]
        unit, word = _time_unit(abs(self.range[1] - self.range[0]))
        return [f"{short_number(value / unit, spacing / unit)} {word}" for value in values]


def style_axes(axes: Sequence[pg.AxisItem], colours: Colours, font: QFont) -> None:
    for axis in axes:
        axis.setTickFont(font)
        axis.setTextPen(QColor(colours.muted))
        axis.setTickPen(pg.mkPen(colours.line, width=1))
        axis.setPen(pg.mkPen(colours.line, width=1))


def even_step(span: float, count: float) -> float:
    """A distance that people count by, so that about `count` of them fill the span."""
    rough = max(span, 1e-300) / max(count, 1.0)
    power = 10.0 ** math.floor(math.log10(rough))
    return next((each * power for each in _EVEN if each * power >= rough), 10 * power)


def short_number(value: float, spacing: float) -> str:
    """`1.5k`, `0.002`: as many digits as the distance to the next one asks for."""
    if value == 0:
        return "0"
    size = max(abs(value), abs(spacing))
    if size < _TINY:
        return f"{value:.2g}".replace("-", "\N{MINUS SIGN}")
    unit, word = next(((unit, word) for unit, word in _UNITS if size >= unit), (1.0, ""))
    digits, shown = 0, spacing / unit
    while digits < 4 and abs(round(shown, digits) - shown) > abs(shown) * 0.01:
        digits += 1
    return f"{value / unit:,.{digits}f}{word}".replace("-", "\N{MINUS SIGN}")


def place_words(x: float, axis: str) -> str:
    """Where the crosshair stands."""
    if axis == "time":
        return run_text.duration(x)
    return f"{axis} {x:,.0f}"


def _time_unit(span_s: float) -> tuple[float, str]:
    if span_s > 2 * _HOUR_S:
        return _HOUR_S, "h"
    return (_MINUTE_S, "min") if span_s > 2 * _MINUTE_S else (1.0, "s")
