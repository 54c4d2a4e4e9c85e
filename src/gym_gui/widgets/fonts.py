"""Fonts derived from those of the platform: scaled, and fixed-width."""

from PySide6.QtGui import QFont, QFontDatabase


def scaled(font: QFont, factor: float) -> QFont:
    made = QFont(font)
    if font.pointSizeF() > 0:
        made.setPointSizeF(font.pointSizeF() * factor)
    else:
        made.setPixelSize(max(1, round(font.pixelSize() * factor)))
    return made


def fixed_font(beside: QFont) -> QFont:
    """For what is read letter by letter, a little smaller than the text beside it."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(beside.pointSizeF() * 0.95)
    return font
