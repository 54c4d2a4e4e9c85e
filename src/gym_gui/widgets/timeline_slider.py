"""TimelineSlider: the base of timelines. It follows the pointer and shows a tool tip on hover."""

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from gym_gui.runtime.models.theme_model import Colours
from gym_gui.widgets.styling import set_disabled_reason

_HALF_TRACK = 2.0


class TimelineSlider(QAbstractSlider):
    """Subclasses paint, and define `track_ends` and `tool_tip_at`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hovered: int | None = None
        """The value under the pointer."""
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setTracking(True)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def track_ends(self) -> tuple[float, float]:
        """The x coordinates of the minimum and of the maximum."""
        raise NotImplementedError

    def tool_tip_at(self, value: int) -> str:
        raise NotImplementedError

    def show_range(self, last: int, *, is_enabled: bool) -> None:
        """Set the range to 0 to `last`, without emitting signals."""
        self.blockSignals(True)
        self.setRange(0, last)
        self.setPageStep(max(1, last // 10))
        set_disabled_reason(self, "" if is_enabled else "No frames yet.")
        self.blockSignals(False)

    def show_value(self, value: int) -> None:
        """Set the value without emitting signals."""
        self.blockSignals(True)
        self.setValue(value)
        self.blockSignals(False)
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setValue(self._value_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        value = self._value_at(event.position().x())
        if self.isSliderDown():
            self.setValue(value)
        if value != self.hovered:
            self.hovered = value
            QToolTip.showText(event.globalPosition().toPoint(), self.tool_tip_at(value), self)
            self.update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.setSliderDown(False)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        self.hovered = None
        QToolTip.hideText()
        self.update()
        super().leaveEvent(event)

    def _value_at(self, x: float) -> int:
        left, right = self.track_ends()
        fraction = (x - left) / max(1.0, right - left)
        return round(max(0.0, min(1.0, fraction)) * self.maximum())


def paint_track(
    painter: QPainter,
    slider: QAbstractSlider,
    ends: tuple[float, float],
    at: QPointF,
    knob: float,
    colours: Colours,
) -> None:
    """Paint the track between the x coordinates `ends`, and the knob at `at`, the playhead."""
    left, right = ends
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    for colour, end in ((colours.line, right), (colours.accent, at.x())):
        painter.setBrush(QColor(colour))
        track = QRectF(left, at.y() - _HALF_TRACK, end - left, 2 * _HALF_TRACK)
        painter.drawRoundedRect(track, _HALF_TRACK, _HALF_TRACK)
    if slider.hasFocus():
        halo = QColor(colours.accent)
        halo.setAlphaF(0.35)
        painter.setBrush(halo)
        painter.drawEllipse(at, knob + 2.5, knob + 2.5)
    painter.setBrush(QColor(colours.accent if slider.isSliderDown() else colours.text))
    painter.setPen(QPen(QColor(colours.surface), 1.5))
    painter.drawEllipse(at, knob, knob)
