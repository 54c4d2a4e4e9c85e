"""The colours of runs in charts: Okabe and Ito's, in the order that suits the theme."""

from PySide6.QtGui import QColor

from gym_gui.runtime.models.theme_model import SERIES, Colours
from gym_gui.widgets.mixing import mixed

_ON_LIGHT = (0, 1, 2, 3, 4, 5, 7, 6)
_ON_DARK = (5, 4, 2, 3, 1, 6, 7, 0)
_FAINT = {True: 0, False: 6}
"""What is hard to see on that ground: blue on dark, yellow on light."""
_RAW_SHARE = {True: 0.5, False: 0.4}
_BAND_SHARE = 0.16


def run_colour(number: int, colours: Colours) -> QColor:
    """Of the run or group with this number. After eight, the same again, nearer to the text."""
    order = _ON_DARK if colours.is_dark else _ON_LIGHT
    place = order[number % len(order)]
    colour = QColor(SERIES[place])
    if place == _FAINT[colours.is_dark]:
        colour = mixed(colours.text, colour.name(), 0.35)
    rounds = number // len(order)
    return mixed(colours.text, colour.name(), 0.4) if rounds % 2 else colour


def raw_colour(number: int, colours: Colours) -> QColor:
    """Behind the line of the same run. Mixed, not transparent, which is painted faster."""
    return mixed(run_colour(number, colours).name(), colours.surface, _RAW_SHARE[colours.is_dark])


def band_colour(number: int, colours: Colours) -> QColor:
    colour = run_colour(number, colours)
    colour.setAlphaF(_BAND_SHARE)
    return colour
