"""EmptyState: shown in place of missing content: the reason, and an action."""

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, draw_icon


class EmptyState(QWidget):
    """Centred in the area of the missing content."""

    action_triggered = Signal()

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
        self._button.clicked.connect(self.action_triggered)
        column = QWidget(self)
        column.setMaximumWidth(line * 28)
        column_layout = QVBoxLayout(column)
        column_layout.setContentsMargins(line // 2, line // 2, line // 2, line // 2)
        column_layout.setSpacing(line // 2)
        column_layout.addStretch(2)
        column_layout.addWidget(_LargeIcon(icon, theme), 0, Qt.AlignmentFlag.AlignHCenter)
        column_layout.addSpacing(line // 3)
        column_layout.addWidget(self._title)
        column_layout.addWidget(self._text)
        column_layout.addSpacing(line // 3)
        column_layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignHCenter)
        column_layout.addStretch(3)
        # Stretches beside a column of limited width instead of an alignment: with an alignment, Qt
        # does not give wrapped text the height it needs.
        row_layout = QHBoxLayout(self)
        row_layout.setContentsMargins(0, 0, 0, 0)
        row_layout.addStretch(1)
        row_layout.addWidget(column, 100)
        row_layout.addStretch(1)
        self.show_message(title, text, action)

    def show_message(self, title: str, text: str, action: str = "") -> None:
        """`action` is the text of the button; empty: no button."""
        self._title.setText(title)
        self._text.setText(text)
        self._text.setVisible(bool(text))
        self._button.setText(action)
        self._button.setVisible(bool(action))


class _LargeIcon(QWidget):
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
            return  # Too little height for the icon: only the text is shown.
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_icon(painter, self._name, self._theme.colours.disabled, QRectF(self.rect()))
        painter.end()
