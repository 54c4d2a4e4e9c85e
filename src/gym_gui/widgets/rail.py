"""The rail of a timeline: how far the playhead is, and its knob, for one replay and for two."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QAbstractSlider

from gym_gui.runtime.models.theme_model import Colours

_HALF = 2.0


def paint_rail(
    painter: QPainter,
    slider: QAbstractSlider,
    ends: tuple[float, float],
    at: QPointF,
    knob: float,
    colours: Colours,
) -> None:
    """From the first of `ends` to the second, at the height of `at`, where the playhead is."""
    left, right = ends
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for colour, end in ((colours.line, right), (colours.accent, at.x())):
        painter.setBrush(QColor(colour))
        rail = QRectF(left, at.y() - _HALF, end - left, 2 * _HALF)
        painter.drawRoundedRect(rail, _HALF, _HALF)
    if slider.hasFocus():
        halo = QColor(colours.accent)
        halo.setAlphaF(0.35)
        painter.setBrush(halo)
        painter.drawEllipse(at, knob + 2.5, knob + 2.5)
    painter.setBrush(QColor(colours.accent if slider.isSliderDown() else colours.text))
    painter.setPen(QPen(QColor(colours.surface), 1.5))
    painter.drawEllipse(at, knob, knob)
