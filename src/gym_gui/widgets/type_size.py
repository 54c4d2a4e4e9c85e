"""Larger and smaller letters than those of the platform, whatever unit its font is given in."""

from PySide6.QtGui import QFont


def scaled(font: QFont, factor: float) -> QFont:
    made = QFont(font)
    if font.pointSizeF() > 0:
        made.setPointSizeF(font.pointSizeF() * factor)
    else:
        made.setPixelSize(max(1, round(font.pixelSize() * factor)))
    return made
