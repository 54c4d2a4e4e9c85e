"""ScrubSlider: a slider that goes where the pointer is: pressed, dragged, read by hovering."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from gym_gui.widgets.set_disabled_reason import set_disabled_reason


class ScrubSlider(QAbstractSlider):
    """A base class: it says where its line is in `line_ends`, and what is at a value in `tip`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.hovered: int | None = None
        """The value under the pointer."""
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setTracking(True)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def line_ends(self) -> tuple[float, float]:
        """Where the smallest and the largest value are, from the left."""
        raise NotImplementedError

    def tip(self, value: int) -> str:
        raise NotImplementedError

    def show_range(self, last: int, *, is_enabled: bool) -> None:
        """From 0 to `last`, without telling anybody that the value was bounded by it."""
        self.blockSignals(True)
        self.setRange(0, last)
        self.setPageStep(max(1, last // 10))
        set_disabled_reason(self, "" if is_enabled else "There is nothing to go through yet.")
        self.blockSignals(False)

    def show_value(self, value: int) -> None:
        """Where it is, without asking anybody to go there."""
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
            QToolTip.showText(event.globalPosition().toPoint(), self.tip(value), self)
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
        left, right = self.line_ends()
        share = (x - left) / max(1.0, right - left)
        return round(max(0.0, min(1.0, share)) * self.maximum())
