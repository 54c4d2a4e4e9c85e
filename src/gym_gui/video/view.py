"""VideoPage: the Video tab: a list of the videos of a run and a player with full screen."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QUrl
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.run_tabs import NO_VIDEO
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.video.model import VideoModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.frame_canvas import FrameCanvas
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.styling import set_disabled_reason
from gym_gui.widgets.timeline_slider import TimelineSlider
from gym_gui.widgets.transport_bar import TransportBar, handle_key

_NO_RUN = ("No video", "Select a run in the list of runs to play its videos.")


class VideoPage(QWidget):
    """Shows a `VideoModel`. F toggles full screen, Esc leaves it."""

    def __init__(self, model: VideoModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._empty = EmptyState("film", *_NO_RUN, theme)
        self._player = _Player(model, theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._player)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._pages)
        self.setFocusProxy(self._player.canvas)
        self._empty.action_triggered.connect(model.retry)
        self._player.screen_button.clicked.connect(self.toggle_full_screen)
        model.changed.connect(self._show_state)
        self._show_state()

    @property
    def is_full_screen(self) -> bool:
        return self._player.isWindow()

    def toggle_full_screen(self) -> None:
        """Move the player to a full-screen window, or back into the tab."""
        if self.is_full_screen:
            self._player.setWindowFlag(Qt.WindowType.Window, False)
            self._pages.addWidget(self._player)
            self._pages.setCurrentWidget(self._player)
            self._player.show()
        elif self._model.phase == "ready":
            self._pages.removeWidget(self._player)
            self._player.setParent(self, Qt.WindowType.Window)
            self._player.showFullScreen()
        self._player.set_full_screen(self.is_full_screen)
        self._player.canvas.setFocus()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_visible(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_visible(False)
        super().hideEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        is_leaving = event.key() == Qt.Key.Key_Escape and self.is_full_screen
        if is_leaving or (event.key() == Qt.Key.Key_F and not event.modifiers()):
            self.toggle_full_screen()
        else:
            super().keyPressEvent(event)

    def _show_state(self) -> None:
        model = self._model
        if model.phase == "failed" and model.problem is not None:
            self._empty.show_message(model.problem.message, model.problem.remedy, "Try again")
        elif model.phase == "none":
            self._empty.show_message("No video", NO_VIDEO)
        elif model.phase == "empty":
            self._empty.show_message(*_NO_RUN)
        has_player = model.phase in ("loading", "ready")
        if not has_player and self.is_full_screen:
            self.toggle_full_screen()
        if not self.is_full_screen:
            self._pages.setCurrentWidget(self._player if has_player else self._empty)


class _Player(QWidget):
    """Frame, scrubber, buttons and the description of the file."""

    def __init__(self, model: VideoModel, theme: ThemeModel) -> None:
        super().__init__()
        self._model = model
        self._theme = theme
        line = self.fontMetrics().height()
        self.canvas = FrameCanvas(theme, "Video frame")
        self._scrubber = VideoScrubber(model, theme)
        self._transport = TransportBar(model, "frame", theme)
        self.screen_button = self._button("fullscreen", "Full screen (F)")
        self._external = self._button("external", "Open in the system player")
        self._external.clicked.connect(self._open_externally)
        self._transport.trailing.addWidget(self._external)
        self._transport.trailing.addWidget(self.screen_button)
        self._videos = QComboBox()
        self._videos.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._videos.setAccessibleName("Video")
        self._videos.setToolTip("Videos of this run, newest last")
        self._videos.activated.connect(self._select)
        self._description = QLabel()
        self._description.setProperty("role", "muted")
        self._description.setWordWrap(True)
        header = QHBoxLayout()
        header.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        header.setSpacing(line * 2 // 3)
        header.addWidget(self._videos)
        header.addWidget(self._description, 1)
        controls = QVBoxLayout()
        controls.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        controls.setSpacing(line // 3)
        controls.addWidget(self._scrubber)
        controls.addWidget(self._transport)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(header)
        layout.addWidget(self.canvas, 1)
        layout.addLayout(controls)
        model.changed.connect(self._show_state)
        model.playhead_changed.connect(self._show_frame)
        self._show_state()
        self._show_frame()

    def set_full_screen(self, is_full_screen: bool) -> None:
        self.canvas.set_margin_enabled(not is_full_screen)
        tip = "Leave full screen (Esc)" if is_full_screen else "Full screen (F)"
        self.screen_button.setToolTip(tip)
        self.screen_button.setAccessibleName(tip.partition(" (")[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if handle_key(event, self._model):
            return
        # A separate window does not pass key events on to the page.
        event.ignore()
        page = self.parentWidget()
        if self.isWindow() and isinstance(page, VideoPage):
            page.keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.screen_button.click()
        event.accept()

    def _button(self, name: IconName, tip: str) -> QToolButton:
        button = QToolButton()
        set_icon(button, name, self._theme)
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        return button

    def _select(self, index: int) -> None:
        if 0 <= index < len(self._model.videos):
            self._model.select(self._model.videos[index].path)

    def _open_externally(self) -> None:
        if self._model.current is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._model.current.path)))

    def _show_state(self) -> None:
        model = self._model
        titles = [video.title for video in model.videos]
        if titles != [self._videos.itemText(index) for index in range(self._videos.count())]:
            self._videos.clear()
            self._videos.addItems(titles)
        if model.current in model.videos:
            self._videos.setCurrentIndex(model.videos.index(model.current))
        set_disabled_reason(self._videos, "" if len(titles) > 1 else "The run has only this video.")
        self._description.setText(model.description)
        self._description.setToolTip(str(model.current.path) if model.current else "")
        self._show_position()

    def _show_position(self) -> None:
        model = self._model
        is_ready = model.phase == "ready"
        self._transport.show_state(
            f"{model.time_text(model.playhead)} / {model.time_text(model.playback.last)}"
            if is_ready
            else "",
            "",
            is_enabled=is_ready,
        )
        # While scrubbing, the previous frame stays visible.
        has_no_frame = is_ready and not model.is_frame_current and not self.canvas.has_frame
        self.canvas.set_message("opening…" if model.phase == "loading" or has_no_frame else "")

    def _show_frame(self) -> None:
        frame = self._model.frame
        if frame is None:
            self.canvas.clear()
        else:
            self.canvas.show_frame(frame.pixels, frame.width, frame.height, stride=frame.stride)
        self._show_position()


class VideoScrubber(TimelineSlider):
    """Slider over the frames of a video, with the time in a tooltip. Shows a `VideoModel`."""

    def __init__(self, model: VideoModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.setAccessibleName("Position in the video")
        self.valueChanged.connect(model.seek)
        model.changed.connect(self._update)
        model.playhead_changed.connect(self._update)
        theme.changed.connect(self.update)
        self._update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 20, round(line * 1.4))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().height()
        return QSize(line * 8, round(line * 1.4))

    def track_ends(self) -> tuple[float, float]:
        return self._knob + 3, self.width() - self._knob - 3

    def tool_tip_at(self, value: int) -> str:
        return self._model.time_text(value)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        # The page handles all keys, including those of a slider.
        event.ignore()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        (left, right), y = self.track_ends(), self.height() / 2
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

    def _update(self) -> None:
        model = self._model
        self.show_range(model.playback.last, is_enabled=model.phase == "ready")
        self.show_value(model.playhead)
