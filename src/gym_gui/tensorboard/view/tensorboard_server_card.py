"""TensorBoardServerCard: state, address and output of one TensorBoard server."""

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
from gym_gui.tensorboard.model.tensorboard_text import ServerSummary
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.labels import ElidedLabel

_MAX_LINES = 8
_MIN_LINES = 3


class TensorBoardServerCard(QFrame):
    """Shows a `ServerSummary`. A failure shows the output of TensorBoard."""

    open_requested = Signal(str)
    stop_requested = Signal(object)
    retry_requested = Signal(object)

    def __init__(
        self, summary: ServerSummary, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._summary = summary
        self._theme = theme
        self.setProperty("role", "card")
        em = self.fontMetrics().height()
        self._badge = Badge("", "plain", theme)
        self._title = ElidedLabel("value")
        self._address = QLabel()
        self._address.setProperty("role", "mono")
        self._address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._address.setAccessibleName("Server address")
        self._copy = CopyButton("Copy address", lambda: self._summary.address, theme)
        self._open = QToolButton()
        self._open.setText("Open")
        self._open.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._open.setToolTip("Open this TensorBoard")
        set_icon(self._open, "external", theme, "muted")
        self._retry = QPushButton("Retry")
        self._stop = QPushButton()
        self._problem = QLabel()
        self._problem.setWordWrap(True)
        self._problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._output = _Output()
        header = QHBoxLayout()
        header.setSpacing(em // 2)
        header.addWidget(self._badge)
        header.addWidget(self._title, 1)
        header.addWidget(self._retry)
        header.addWidget(self._stop)
        address_row = QHBoxLayout()
        address_row.setSpacing(em // 4)
        address_row.addWidget(self._address)
        address_row.addWidget(self._copy)
        address_row.addWidget(self._open)
        address_row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(em * 2 // 3, em // 2, em // 2, em // 2)
        layout.setSpacing(em // 3)
        layout.addLayout(header)
        layout.addLayout(address_row)
        layout.addWidget(self._problem)
        layout.addWidget(self._output)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._open.clicked.connect(lambda: self.open_requested.emit(self._summary.address))
        self._stop.clicked.connect(lambda: self.stop_requested.emit(self._summary.server))
        self._retry.clicked.connect(lambda: self.retry_requested.emit(self._summary.server))
        self.show_summary(summary)

    def show_summary(self, summary: ServerSummary) -> None:
        self._summary = summary
        self._badge.show_text(summary.state, summary.tone)
        self._title.setText(summary.title)
        self._title.setToolTip(summary.detail)
        self._address.setText(summary.address)
        for widget in (self._address, self._copy, self._open):
            widget.setVisible(bool(summary.address))
        self._retry.setVisible(summary.is_failed)
        self._stop.setText("Dismiss" if summary.is_failed else "Stop")
        self._stop.setToolTip(
            "Remove from the list" if summary.is_failed else "Stop this TensorBoard"
        )
        self._stop.setAccessibleName(f"{self._stop.text()} {summary.title}")
        self._problem.setText(summary.problem)
        self._problem.setVisible(summary.is_failed)
        self._output.set_text(summary.output)
        self._output.setVisible(bool(summary.output))


class _Output(QPlainTextEdit):
    """As high as its text, within limits; scrolled to the end."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName("TensorBoard output")
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str) -> None:
        if text == self.toPlainText():
            return
        self.setPlainText(text)
        lines = min(max(text.count("\n") + 1, _MIN_LINES), _MAX_LINES)
        self.setFixedHeight(round(self.fontMetrics().lineSpacing() * (lines + 1)))
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())
