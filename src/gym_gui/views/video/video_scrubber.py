"""VideoScrubber: where a video is, to be dragged; with the time under the pointer."""

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from gym_gui.models.theme_model import ThemeModel
from gym_gui.models.video_model import VideoModel


class VideoScrubber(QAbstractSlider):
    """Its value is the number of the picture."""

    def __init__(self, model: VideoModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Position in the video")
        self.valueChanged.connect(model.seek)
        model.changed.connect(self._take_model)
        model.playhead_changed.connect(self._take_model)
        theme.changed.connect(self.update)
        self._take_model()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 20, round(line * 1.4))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 8, round(line * 1.4))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        if event.button() is Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setValue(self._index_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        index = self._index_at(event.position().x())
        if self.isSliderDown():
            self.setValue(index)
        QToolTip.showText(event.globalPosition().toPoint(), self._model.time_words(index), self)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.setSliderDown(False)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        # The page has all keys of the playhead, those of a slider among them.
        event.ignore()

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        QToolTip.hideText()
        super().leaveEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        left, right, y = self._knob + 3, self.width() - self._knob - 3, self.height() / 2
        x = left + (right - left) * self.value() / max(1, self.maximum())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.line))
        painter.drawRoundedRect(QRectF(left, y - 2, right - left, 4), 2, 2)
        painter.setBrush(QColor(colours.accent))
        painter.drawRoundedRect(QRectF(left, y - 2, x - left, 4), 2, 2)
        if self.hasFocus():
            halo = QColor(colours.accent)
            halo.setAlphaF(0.35)
            painter.setBrush(halo)
            painter.drawEllipse(QPointF(x, y), self._knob + 2.5, self._knob + 2.5)
        painter.setBrush(QColor(colours.accent if self.isSliderDown() else colours.text))
        painter.setPen(QPen(QColor(colours.surface), 1.5))
        painter.drawEllipse(QPointF(x, y), self._knob, self._knob)
        painter.end()

    @property
    def _knob(self) -> float:
        return self.fontMetrics().height() * 0.46

    def _index_at(self, x: float) -> int:
        left, right = self._knob + 3, self.width() - self._knob - 3
        share = (x - left) / max(1.0, right - left)
        return round(max(0.0, min(1.0, share)) * self.maximum())

    def _take_model(self) -> None:
        self.blockSignals(True)
        self.setRange(0, self._model.playback.last)
        self.setPageStep(max(1, self._model.playback.last // 10))
        self.setValue(self._model.playhead)
        self.setEnabled(self._model.phase == "ready")
        self.blockSignals(False)
        self.update()
