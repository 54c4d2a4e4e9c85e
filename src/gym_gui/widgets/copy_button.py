"""CopyButton: puts a text on the clipboard, and says that it did."""

from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QToolButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import keep_icon

_CONFIRM_MS = 1_200


class CopyButton(QToolButton):
    """The text is asked for when it is pressed."""

    def __init__(
        self, name: str, text: Callable[[], str], theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._ask = text
        self._theme = theme
        self._done = QTimer(self)
        self._done.setSingleShot(True)
        self._done.setInterval(_CONFIRM_MS)
        self._done.timeout.connect(lambda: keep_icon(self, "copy", theme, "muted"))
        self.setToolTip(name)
        self.setAccessibleName(name)
        keep_icon(self, "copy", theme, "muted")
        self.clicked.connect(self._copy)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._ask())
        keep_icon(self, "check", self._theme, "good")
        self._done.start()
