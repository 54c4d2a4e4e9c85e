"""VideoPage: the Video tab, with one of the run's videos, its list, and the full screen."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QHideEvent, QKeyEvent, QMouseEvent, QShowEvent
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
from gym_gui.video.view.video_scrubber import VideoScrubber
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, keep_icon
from gym_gui.widgets.picture_canvas import PictureCanvas
from gym_gui.widgets.set_disabled_reason import set_disabled_reason
from gym_gui.widgets.transport_bar import TransportBar
from gym_gui.widgets.transport_keys import act_on_key

_NO_RUN = ("No video", "Choose a run in the list of runs; its videos are played here.")


class VideoPage(QWidget):
    """Keys act while something on the page has the keyboard. F fills the screen, Esc leaves it."""

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
        self._empty.acted.connect(model.retry)
        self._player.screen_button.clicked.connect(self.toggle_full_screen)
        model.changed.connect(self._show_state)
        self._show_state()

    @property
    def is_full_screen(self) -> bool:
        return self._player.isWindow()

    def toggle_full_screen(self) -> None:
        """The player becomes a window of its own that fills the screen, and comes back."""
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
        self._model.set_watched(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_watched(False)
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
            self._empty.say(model.problem.message, model.problem.remedy, "Try again")
        elif model.phase == "none":
            self._empty.say("No video", NO_VIDEO)
        elif model.phase == "empty":
            self._empty.say(*_NO_RUN)
        is_shown = model.phase in ("loading", "ready")
        if not is_shown and self.is_full_screen:
            self.toggle_full_screen()
        if not self.is_full_screen:
            self._pages.setCurrentWidget(self._player if is_shown else self._empty)


class _Player(QWidget):
    """Picture, scrubber, buttons, and what the file says of itself."""

    def __init__(self, model: VideoModel, theme: ThemeModel) -> None:
        super().__init__()
        self._model = model
        self._theme = theme
        line = self.fontMetrics().height()
        self.canvas = PictureCanvas(theme, "Picture of the video")
        self._scrubber = VideoScrubber(model, theme)
        self._transport = TransportBar(model, "frame", theme)
        self.screen_button = self._button("fullscreen", "Fill the screen (F)")
        self._external = self._button("external", "Open in the desktop's own player")
        self._external.clicked.connect(self._open_externally)
        self._transport.end.addWidget(self._external)
        self._transport.end.addWidget(self.screen_button)
        self._choice = QComboBox()
        self._choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._choice.setAccessibleName("Video")
        self._choice.setToolTip("The videos of this run, newest last")
        self._choice.activated.connect(self._choose)
        self._description = QLabel()
        self._description.setProperty("role", "muted")
        self._description.setWordWrap(True)
        head = QHBoxLayout()
        head.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        head.setSpacing(line * 2 // 3)
        head.addWidget(self._choice)
        head.addWidget(self._description, 1)
        below = QVBoxLayout()
        below.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        below.setSpacing(line // 3)
        below.addWidget(self._scrubber)
        below.addWidget(self._transport)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.canvas, 1)
        layout.addLayout(below)
        model.changed.connect(self._show_state)
        model.playhead_changed.connect(self._show_picture)
        self._show_state()
        self._show_picture()

    def set_full_screen(self, is_full: bool) -> None:
        self.canvas.set_framed(not is_full)
        words = "Leave the full screen (Esc)" if is_full else "Fill the screen (F)"
        self.screen_button.setToolTip(words)
        self.screen_button.setAccessibleName(words.partition(" (")[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if act_on_key(event, self._model):
            return
        # As a window of its own it has no page above it that keys would go on to.
        event.ignore()
        page = self.parentWidget()
        if self.isWindow() and isinstance(page, VideoPage):
            page.keyPressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        self.screen_button.click()
        event.accept()

    def _button(self, name: IconName, tip: str) -> QToolButton:
        button = QToolButton()
        keep_icon(button, name, self._theme)
        button.setToolTip(tip)
        button.setAccessibleName(tip.partition(" (")[0])
        return button

    def _choose(self, index: int) -> None:
        if 0 <= index < len(self._model.videos):
            self._model.choose(self._model.videos[index].path)

    def _open_externally(self) -> None:
        if self._model.current is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._model.current.path)))

    def _show_state(self) -> None:
        model = self._model
        titles = [video.title for video in model.videos]
        if titles != [self._choice.itemText(at) for at in range(self._choice.count())]:
            self._choice.clear()
            self._choice.addItems(titles)
        if model.current in model.videos:
            self._choice.setCurrentIndex(model.videos.index(model.current))
        set_disabled_reason(self._choice, "" if len(titles) > 1 else "There is only this video.")
        self._description.setText(model.description)
        self._description.setToolTip(str(model.current.path) if model.current else "")
        self._show_position()

    def _show_position(self) -> None:
        model = self._model
        is_ready = model.phase == "ready"
        self._transport.show_state(
            f"{model.time_words(model.playhead)} / {model.time_words(model.playback.last)}"
            if is_ready
            else "",
            "",
            is_enabled=is_ready,
        )
        is_opening = model.phase == "loading"
        is_late = is_ready and not model.is_frame_current
        # While it is scrubbed the picture before is good enough; only a first one is waited for.
        is_first = is_late and not self.canvas.has_picture
        self.canvas.set_note("opening…" if is_opening or is_first else "")

    def _show_picture(self) -> None:
        frame = self._model.frame
        if frame is None:
            self.canvas.clear()
        else:
            self.canvas.show_picture(frame.pixels, frame.width, frame.height, stride=frame.stride)
        self._show_position()
