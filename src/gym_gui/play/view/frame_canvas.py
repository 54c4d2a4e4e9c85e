"""ZoomableFrameCanvas: the newest frame of the environment, with its aspect ratio kept."""

from typing import Literal

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.widgets.frame_canvas import frame_to_image

Scaling = Literal["smooth", "pixels"]

_MAX_ZOOM = 16.0
_NOTCH = 1.15


class ZoomableFrameCanvas(QWidget):
    """The wheel zooms around the pointer, dragging moves, a double click resets."""

    def __init__(self, model: PlayModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._image: QImage | None = None
        self._scaling: Scaling = "smooth"
        self._zoom = 1.0
        self._shift = QPoint()
        self._dragged_from: QPoint | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Frame of the environment")
        model.frame_changed.connect(self._show_frame)
        self._show_frame()

    @property
    def zoom(self) -> float:
        return self._zoom

    def set_scaling(self, scaling: Scaling) -> None:
        """`pixels`: integer multiples of the frame size."""
        self._scaling = scaling
        self.update()

    def reset_zoom(self) -> None:
        self._zoom, self._shift = 1.0, QPoint()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 30, line * 20)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = self.fontMetrics().height() * 8
        return QSize(side, side)

    def target(self) -> QRect:
        """The rectangle of the frame in the widget."""
        if self._image is None:
            return QRect()
        size = self._image.size()
        ratio = self.devicePixelRatioF()
        fit = min(self.width() / size.width(), self.height() / size.height())
        if self._scaling == "pixels":
            factor = int(fit * ratio * self._zoom)
            fit = (factor if factor >= 1 else fit * ratio * self._zoom) / ratio
        else:
            fit *= self._zoom
        width, height = round(size.width() * fit), round(size.height() * fit)
        left = (self.width() - width) // 2 + self._shift.x()
        return QRect(left, (self.height() - height) // 2 + self._shift.y(), width, height)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self._image is None:
            return
        painter = QPainter(self)
        is_smooth = self._scaling == "smooth"
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
        painter.setClipRect(event.rect())
        painter.drawImage(self.target(), self._image)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        notches = event.angleDelta().y() / 120
        before = self._zoom
        self._zoom = max(1.0, min(_MAX_ZOOM, self._zoom * _NOTCH**notches))
        middle = self.rect().center()
        point = event.position().toPoint() - middle
        ratio = self._zoom / before
        # The point under the pointer stays in place.
        self._shift = QPoint(
            round(point.x() - (point.x() - self._shift.x()) * ratio),
            round(point.y() - (point.y() - self._shift.y()) * ratio),
        )
        if self._zoom == 1.0:
            self._shift = QPoint()
        self.update()
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if event.button() is Qt.MouseButton.LeftButton and self._zoom > 1.0:
            self._dragged_from = event.position().toPoint() - self._shift
        event.ignore()  # the surface around it handles the click, too

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if self._dragged_from is not None:
            self._shift = event.position().toPoint() - self._dragged_from
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self._dragged_from = None
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.reset_zoom()
        event.accept()

    def _show_frame(self) -> None:
        frame = self._model.frame
        self._image = None if frame is None else frame_to_image(frame)
        self.update()
