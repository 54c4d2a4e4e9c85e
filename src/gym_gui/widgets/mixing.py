"""Colours between two colours of the theme: tints behind banners, edges, pressed buttons."""

from PySide6.QtGui import QColor


def mixed(colour: str, ground: str, share: float) -> QColor:
    """`share` of `colour`, the rest of it `ground`."""
    above, below = QColor(colour), QColor(ground)
    rest = 1.0 - share
    return QColor.fromRgbF(
        above.redF() * share + below.redF() * rest,
        above.greenF() * share + below.greenF() * rest,
        above.blueF() * share + below.blueF() * rest,
    )
