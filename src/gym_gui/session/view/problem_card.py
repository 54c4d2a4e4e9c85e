"""ProblemCard: a session error and its remedy, for a narrow dock."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import ToneMark
from gym_gui.widgets.mixing import mixed

_MAX_CHARACTERS = 420
"""The tooltip has the complete text."""


class ProblemCard(QWidget):
    """A session error and its remedy. Hidden while there is none."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._mark = ToneMark(theme)
        self._mark.show_tone("bad")
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.retry = QPushButton("Retry")
        self.dismiss = QPushButton("Dismiss")
        em = self.fontMetrics().height()
        buttons = QHBoxLayout()
        buttons.setSpacing(em // 2)
        buttons.addWidget(self.retry)
        buttons.addWidget(self.dismiss)
        buttons.addStretch(1)
        layout = QGridLayout(self)
        layout.setContentsMargins(em * 2 // 3, em // 2, em * 2 // 3, em // 2)
        layout.setHorizontalSpacing(em // 2)
        layout.setVerticalSpacing(em // 2)
        layout.setColumnStretch(1, 1)
        layout.addWidget(self._mark, 0, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._label, 0, 1)
        layout.addLayout(buttons, 1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setVisible(False)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        return self._label.text()

    def show_problem(self, text: str, *, can_retry: bool) -> None:
        is_long = len(text) > _MAX_CHARACTERS
        self._label.setText(f"{text[:_MAX_CHARACTERS].rstrip()}…" if is_long else text)
        self._label.setToolTip(text if is_long else "")
        self.setAccessibleName(text)
        self.retry.setVisible(can_retry)
        self.setVisible(True)

    def clear(self) -> None:
        self._label.setText("")
        self.setVisible(False)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(mixed(colours.bad, colours.surface, 0.35), 1.0))
        painter.setBrush(mixed(colours.bad, colours.surface, 0.1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()
