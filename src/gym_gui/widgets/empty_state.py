"""EmptyState: what stands where there is nothing yet: why, and what to do about it."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon


class EmptyState(QWidget):
    """Fills the place of what is missing, in its middle."""

    acted = Signal()

    def __init__(
        self,
        icon: IconName,
        title: str,
        text: str,
        theme: ThemeModel,
        *,
        action: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self._title = QLabel()
        self._title.setProperty("role", "heading")
        self._text = QLabel()
        self._text.setProperty("role", "muted")
        for label in (self._title, self._text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            label.setWordWrap(True)
        self._button = QPushButton()
        self._button.clicked.connect(self.acted)
        column = QWidget(self)
        column.setMaximumWidth(line * 28)
        down = QVBoxLayout(column)
        down.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        down.setSpacing(line // 2)
        down.addStretch(2)
        down.addWidget(_Picture(icon, theme), 0, Qt.AlignmentFlag.AlignHCenter)
        down.addSpacing(line // 3)
        down.addWidget(self._title)
        down.addWidget(self._text)
        down.addSpacing(line // 3)
        down.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        down.addStretch(3)
        # Stretches beside a column of limited width, and no alignment: only so does Qt give text
        # that wraps the height it needs.
        across = QHBoxLayout(self)
        across.setContentsMargins(0, 0, 0, 0)
        across.addStretch(1)
        across.addWidget(column, 100)
        across.addStretch(1)
        self.say(title, text, action)

    def say(self, title: str, text: str, action: str = "") -> None:
        """Without `action` there is no button."""
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._button.setText(action)
        self._button.setVisible(bool(action))


class _Picture(QWidget):
    def __init__(self, name: IconName, theme: ThemeModel) -> None:
        super().__init__()
        self._name = name
        self._theme = theme
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        side = self.fontMetrics().height() * 3
        return QSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        if self.height() < self.width():
            return  # In a low panel the words go first: the whole picture or none.
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_icon(painter, self._name, self._theme.colours.disabled, QRectF(self.rect()))
        painter.end()
