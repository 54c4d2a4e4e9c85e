"""FrameCanvas: one frame of an environment or a video, with its aspect ratio kept."""

from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel

_FORMATS = {
    1: QImage.Format.Format_Grayscale8,
    3: QImage.Format.Format_RGB888,
    4: QImage.Format.Format_RGBA8888,
}
_SCREEN_FORMAT = QImage.Format.Format_RGB32
_MIN_CRISP_SCALE = 2.0
"""Frames that are enlarged by this factor are not smoothed: their pixels are meant to be seen."""
_DIMMED_OPACITY = 0.45
_CORNER_RADIUS = 6.0
_KEYBOARD_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FrameData(Protocol):
    """Rows of `width` pixels of `channels` bytes, from the top."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def pixels(self) -> bytes: ...


def frame_to_image(frame: FrameData) -> QImage:
    """A copy in the format of the screen, which is several times faster to paint."""
    bytes_per_row = frame.width * frame.channels
    image = QImage(frame.pixels, frame.width, frame.height, bytes_per_row, _FORMATS[frame.channels])
    has_alpha = frame.channels == 4
    screen = QImage.Format.Format_ARGB32_Premultiplied if has_alpha else QImage.Format.Format_RGB32
    return image.convertToFormat(screen)


class FrameCanvas(QWidget):
    """Gets the focus on a click; its parent handles the keys."""

    def __init__(self, theme: ThemeModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image: QImage | None = None
        self._message = ""
        self._has_margin = True
        self._has_keyboard_focus = False
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self.update)

    @property
    def has_frame(self) -> bool:
        return self._image is not None

    def show_frame(
        self, pixels: bytes, width: int, height: int, *, channels: int = 3, stride: int = 0
    ) -> None:
        """`stride` is the length of a row in bytes; 0: rows are contiguous."""
        pixel_format = _FORMATS.get(channels)
        if pixel_format is None or not pixels:
            self.clear()
            return
        image = QImage(pixels, width, height, stride or width * channels, pixel_format)
        # A copy, in the format that is fastest to paint.
        self._image = image.convertToFormat(_SCREEN_FORMAT)
        self.update()

    def clear(self) -> None:
        if self._image is not None:
            self._image = None
            self.update()

    def set_message(self, message: str) -> None:
        """Show a message over the frame, which is dimmed because it is not the current one."""
        if message != self._message:
            self._message = message
            self.setAccessibleDescription(message)
            self.update()

    def set_margin_enabled(self, is_enabled: bool) -> None:
        """Without a margin the frame reaches the edges, for full screen."""
        self._has_margin = is_enabled
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 32, line * 22)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 12, line * 8)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        # A focus ring is for keyboard users only.
        self._has_keyboard_focus = event.reason() in _KEYBOARD_REASONS
        super().focusInEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.canvas))
        if self._image is not None:
            self._paint_frame(painter, self._image)
        if self._message:
            self._paint_message(painter)
        if self.hasFocus() and self._has_keyboard_focus and self._has_margin:
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_frame(self, painter: QPainter, image: QImage) -> None:
        margin = self.fontMetrics().height() if self._has_margin else 0
        rect = QRectF(self.rect()).adjusted(margin, margin, -margin, -margin)
        scale = min(rect.width() / image.width(), rect.height() / image.height())
        if scale <= 0:
            return
        # On integer pixels, for sharp edges.
        width, height = round(image.width() * scale), round(image.height() * scale)
        left = round(rect.center().x() - width / 2)
        target = QRectF(left, round(rect.center().y() - height / 2), width, height)
        is_crisp = scale * self.devicePixelRatioF() >= _MIN_CRISP_SCALE
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not is_crisp)
        painter.setOpacity(_DIMMED_OPACITY if self._message else 1.0)
        painter.drawImage(target, image)
        painter.setOpacity(1.0)
        if self._has_margin:
            self._round_corners(painter, target)

    def _round_corners(self, painter: QPainter, target: QRectF) -> None:
        """Painted over the frame, which is several times faster than clipping it."""
        corner = QRectF(0, 0, 2 * _CORNER_RADIUS, 2 * _CORNER_RADIUS)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for right, bottom in ((False, False), (True, False), (False, True), (True, True)):
            outer = QPointF(
                target.right() if right else target.left(),
                target.bottom() if bottom else target.top(),
            )
            centre = outer + QPointF(
                -_CORNER_RADIUS if right else _CORNER_RADIUS,
                -_CORNER_RADIUS if bottom else _CORNER_RADIUS,
            )
            square, circle = QPainterPath(), QPainterPath()
            square.addRect(QRectF(outer, centre).normalized())
            corner.moveCenter(centre)
            circle.addEllipse(corner)
            painter.fillPath(square.subtracted(circle), QColor(self._theme.colours.canvas))

    def _paint_message(self, painter: QPainter) -> None:
        colours = self._theme.colours
        line = self.fontMetrics().height()
        width = self.fontMetrics().horizontalAdvance(self._message) + 2 * line
        pill = QRectF((self.width() - width) / 2, self.height() / 2 - line, width, 2 * line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(pill, line, line)
        painter.setPen(QColor(colours.text))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, self._message)
