"""PictureCanvas: one picture, as large as fits, its aspect kept, for Replay and Video."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel

_FORMATS = {
    1: QImage.Format.Format_Grayscale8,
    3: QImage.Format.Format_RGB888,
    4: QImage.Format.Format_RGBA8888,
}
_PAINTED = QImage.Format.Format_RGB32
_CRISP_FROM = 2.0
"""Pictures that are enlarged so much are made of pixels that people want to see."""
_DIMMED = 0.45
_ROUND = 6.0
_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class PictureCanvas(QWidget):
    """Takes the keyboard when it is clicked; what it does with keys is its parent's affair."""

    def __init__(self, theme: ThemeModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._image: QImage | None = None
        self._note = ""
        self._is_framed = True
        self._came_by_key = False
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self.update)

    @property
    def has_picture(self) -> bool:
        return self._image is not None

    def show_picture(
        self, pixels: bytes, width: int, height: int, *, channels: int = 3, stride: int = 0
    ) -> None:
        """`stride` is the length of a row in bytes; 0: rows follow each other."""
        kind = _FORMATS.get(channels)
        if kind is None or not pixels:
            self.clear()
            return
        image = QImage(pixels, width, height, stride or width * channels, kind)
        # A copy of its own, in the format that is painted fastest.
        self._image = image.convertToFormat(_PAINTED)
        self.update()

    def clear(self) -> None:
        if self._image is not None:
            self._image = None
            self.update()

    def set_note(self, note: str) -> None:
        """While there is one the picture is dimmed, because it is not the one that is meant."""
        if note != self._note:
            self._note = note
            self.setAccessibleDescription(note)
            self.update()

    def set_framed(self, is_framed: bool) -> None:
        """Without a frame it reaches the edges: for the full screen."""
        self._is_framed = is_framed
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 32, line * 22)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 12, line * 8)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        # Who clicked knows where they are; only who came by key has to be shown.
        self._came_by_key = event.reason() in _BY_KEY
        super().focusInEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.canvas))
        if self._image is not None:
            self._paint_picture(painter, self._image)
        if self._note:
            self._paint_note(painter)
        if self.hasFocus() and self._came_by_key and self._is_framed:
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_picture(self, painter: QPainter, image: QImage) -> None:
        margin = self.fontMetrics().height() if self._is_framed else 0
        room = QRectF(self.rect()).adjusted(margin, margin, -margin, -margin)
        scale = min(room.width() / image.width(), room.height() / image.height())
        if scale <= 0:
            return
        # On whole pixels, or its edges would be seen through.
        width, height = round(image.width() * scale), round(image.height() * scale)
        left = round(room.center().x() - width / 2)
        target = QRectF(left, round(room.center().y() - height / 2), width, height)
        is_crisp = scale * self.devicePixelRatioF() >= _CRISP_FROM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not is_crisp)
        painter.setOpacity(_DIMMED if self._note else 1.0)
        painter.drawImage(target, image)
        painter.setOpacity(1.0)
        if self._is_framed:
            self._round_corners(painter, target)

    def _round_corners(self, painter: QPainter, target: QRectF) -> None:
        """Painted over: to clip the picture itself would take several times as long."""
        corner = QRectF(0, 0, 2 * _ROUND, 2 * _ROUND)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for right, bottom in ((False, False), (True, False), (False, True), (True, True)):
            outer = QPointF(
                target.right() if right else target.left(),
                target.bottom() if bottom else target.top(),
            )
            centre = outer + QPointF(-_ROUND if right else _ROUND, -_ROUND if bottom else _ROUND)
            square, circle = QPainterPath(), QPainterPath()
            square.addRect(QRectF(outer, centre).normalized())
            corner.moveCenter(centre)
            circle.addEllipse(corner)
            painter.fillPath(square.subtracted(circle), QColor(self._theme.colours.canvas))

    def _paint_note(self, painter: QPainter) -> None:
        colours = self._theme.colours
        line = self.fontMetrics().height()
        width = self.fontMetrics().horizontalAdvance(self._note) + 2 * line
        pill = QRectF((self.width() - width) / 2, self.height() / 2 - line, width, 2 * line)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.line), 1))
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(pill, line, line)
        painter.setPen(QColor(colours.text))
        painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, self._note)
