"""VideoScrubber: where a video is, to be dragged; with the time under the pointer."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.video.model import VideoModel
from gym_gui.widgets.scrub_slider import ScrubSlider


class VideoScrubber(ScrubSlider):
    """Its value is the number of the picture."""

    def __init__(self, model: VideoModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
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

    def line_ends(self) -> tuple[float, float]:
        return self._knob + 3, self.width() - self._knob - 3

    def tip(self, value: int) -> str:
        return self._model.time_words(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        # The page has all keys of the playhead, those of a slider among them.
        event.ignore()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        (left, right), y = self.line_ends(), self.height() / 2
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

    def _take_model(self) -> None:
        model = self._model
        self.show_range(model.playback.last, is_enabled=model.phase == "ready")
        self.show_value(model.playhead)
