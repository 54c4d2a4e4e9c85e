"""Banner: a message above a page, with actions."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.styling import blend

TONE_ICONS: dict[Tone, IconName] = {
    "plain": "info",
    "good": "check",
    "warning": "warning",
    "bad": "error",
}


class Banner(QFrame):
    """Hidden while it has no message."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone: Tone = "plain"
        line = self.fontMetrics().height()
        self._mark = ToneMark(theme)
        self._message = QLabel()
        self._message.setWordWrap(True)
        self._message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(line // 2)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 2, line // 2, line // 2)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self._mark)
        layout.addWidget(self._message, 1)
        layout.addLayout(self._buttons)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setVisible(False)
        theme.changed.connect(self.update)

    @property
    def message(self) -> str:
        return self._message.text()

    def show_message(
        self,
        message: str,
        tone: Tone = "plain",
        actions: Sequence[tuple[str, Callable[[], None]]] = (),
    ) -> None:
        """Replace the message and its buttons."""
        self._clear_buttons()
        self._tone = tone
        self._mark.show_tone(tone)
        self._message.setText(message)
        self.setAccessibleName(message)
        for text, on_click in actions:
            button = QPushButton(text)
            button.clicked.connect(lambda _=False, on_click=on_click: on_click())
            self._buttons.addWidget(button)
        self.setVisible(True)
        self.update()

    def clear(self) -> None:
        self._clear_buttons()
        self._message.setText("")
        self.setVisible(False)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        ink = colours.accent if self._tone == "plain" else str(getattr(colours, self._tone))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(ink, colours.surface, 0.35), 1.0))
        painter.setBrush(blend(ink, colours.surface, 0.1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()

    def _clear_buttons(self) -> None:
        while (item := self._buttons.takeAt(0)) is not None:
            if (button := item.widget()) is not None:
                button.hide()
                button.deleteLater()


class ToneMark(QWidget):
    """The icon of a tone, in its colour."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone: Tone = "plain"
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def show_tone(self, tone: Tone) -> None:
        self._tone = tone
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = round(self.fontMetrics().height() * 1.25)
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        ink = colours.accent if self._tone == "plain" else str(getattr(colours, self._tone))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_icon(painter, TONE_ICONS[self._tone], ink, QRectF(self.rect()))
        painter.end()
