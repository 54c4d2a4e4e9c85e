"""TensorBoardServerCard: one server, from its start to its end, or why there was none."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QTextOption
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_looks import ServerLook
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.copy_button import CopyButton
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import keep_icon

_MOST_LINES = 8
_LEAST_LINES = 3


class TensorBoardServerCard(QFrame):
    """Two lines while all is well; a failure shows what TensorBoard printed."""

    open_wanted = Signal(str)
    stop_wanted = Signal(object)
    retry_wanted = Signal(object)

    def __init__(self, look: ServerLook, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._theme = theme
        self.setProperty("role", "card")
        em = self.fontMetrics().height()
        self._badge = Badge("", "plain", theme)
        self._title = ElidedLabel("value")
        self._address = QLabel()
        self._address.setProperty("role", "mono")
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._address.setAccessibleName("Address of the server")
        self._copy = CopyButton("Copy the address", lambda: self._look.address, theme)
        self._open = QToolButton()
        self._open.setText("Open")
        self._open.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._open.setToolTip("Open this TensorBoard")
        keep_icon(self._open, "external", theme, "muted")
        self._retry = QPushButton("Retry")
        self._end = QPushButton()
        self._problem = QLabel()
        self._problem.setWordWrap(True)
        self._problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._output = _Output()
        head = QHBoxLayout()
        head.setSpacing(em // 2)
        head.addWidget(self._badge)
        head.addWidget(self._title, 1)
        head.addWidget(self._retry)
        head.addWidget(self._end)
        where = QHBoxLayout()
        where.setSpacing(em // 4)
        where.addWidget(self._address)
        where.addWidget(self._copy)
        where.addWidget(self._open)
        where.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 2 // 3, em // 2, em // 2, em // 2)
        layout.setSpacing(em // 3)
        layout.addLayout(head)
        layout.addLayout(where)
        layout.addWidget(self._problem)
        layout.addWidget(self._output)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._open.clicked.connect(lambda: self.open_wanted.emit(self._look.address))
        self._end.clicked.connect(lambda: self.stop_wanted.emit(self._look.server))
        self._retry.clicked.connect(lambda: self.retry_wanted.emit(self._look.server))
        self.show_look(look)

    def show_look(self, look: ServerLook) -> None:
        self._look = look
        self._badge.show_text(look.state, look.tone)
        self._title.setText(look.title)
        self._title.setToolTip(look.detail)
        self._address.setText(look.address)
        for part in (self._address, self._copy, self._open):
            part.setVisible(bool(look.address))
        self._retry.setVisible(look.is_failed)
        self._end.setText("Dismiss" if look.is_failed else "Stop")
        self._end.setToolTip(
            "Take this failure off the list" if look.is_failed else "End this TensorBoard"
        )
        self._end.setAccessibleName(f"{self._end.text()} {look.title}")
        self._problem.setText(look.problem)
        self._problem.setVisible(look.is_failed)
        self._output.say(look.output)
        self._output.setVisible(bool(look.output))


class _Output(QPlainTextEdit):
    """As high as what it says, within limits; the end of it is what matters."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName("What TensorBoard printed")
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        if text == self.toPlainText():
            return
        self.setPlainText(text)
        lines = min(max(text.count("\n") + 1, _LEAST_LINES), _MOST_LINES)
        self.setFixedHeight(round(self.fontMetrics().lineSpacing() * (lines + 1)))
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
