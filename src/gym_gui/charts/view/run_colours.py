"""The colours of runs in charts: the Okabe-Ito palette of the theme, ordered for its background."""

from PySide6.QtGui import QColor

from gym_gui.runtime.models.theme_model import SERIES, Colours
from gym_gui.widgets.styling import blend

_ON_LIGHT = (0, 1, 2, 3, 4, 5, 7, 6)
_ON_DARK = (5, 4, 2, 3, 1, 6, 7, 0)
_FAINT = {True: 0, False: 6}
"""Colours with low contrast: blue on dark, yellow on light."""
_RAW_SHARE = {True: 0.5, False: 0.4}
_BAND_SHARE = 0.16


def run_colour(number: int, colours: Colours) -> QColor:
    """The colour of a run or group. After eight they repeat, mixed with the text colour."""
    order = _ON_DARK if colours.is_dark else _ON_LIGHT
    index = order[number % len(order)]
    colour = QColor(SERIES[index])
    if index == _FAINT[colours.is_dark]:
        colour = blend(colours.text, colour.name(), 0.35)
    rounds = number // len(order)
    return blend(colours.text, colour.name(), 0.4) if rounds % 2 else colour


def raw_colour(number: int, colours: Colours) -> QColor:
    """The raw curve behind the smoothed one. Opaque, because that is faster to paint."""
    return blend(run_colour(number, colours).name(), colours.surface, _RAW_SHARE[colours.is_dark])


def band_colour(number: int, colours: Colours) -> QColor:
    colour = run_colour(number, colours)
    colour.setAlphaF(_BAND_SHARE)
    return colour
