"""LazyPage: a page that is built when it is first looked at, so that the window is there sooner."""

import importlib
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.runtime.tasks import Tasks

Page = TypeVar("Page", bound=QWidget)
_AT_ONCE = 40
_TIMEOUT_MS = 300
"""So long an empty place says nothing."""


class LazyPage(QWidget, Generic[Page]):
    """Holds the place of its content. What it is made of is loaded on a thread before."""

    def __init__(
        self,
        make: Callable[[], Page],
        tasks: Tasks,
        modules: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        """`modules` of `gym_gui` are what `make` imports."""
        super().__init__(parent)
        self._make = make
        self._tasks = tasks
        self._modules = tuple(f"gym_gui.{name}" for name in modules)
        self._content: Page | None = None
        self._is_loaded = False
        self._wait: QLabel | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    @property
    def is_made(self) -> bool:
        return self._content is not None

    @property
    def is_filled(self) -> bool:
        """It is made, and can be seen."""
        return self._content is not None and not self._content.isHidden()

    @property
    def content(self) -> Page:
        """Made now, if it is not there yet."""
        if self._content is None:
            page = self._make()
            # In its place before anybody sees it: the style sheet is that of the window.
            page.setVisible(False)
            page.setParent(self)
            self._content = page
            QTimer.singleShot(0, self, lambda: self._polish(page.findChildren(QWidget)))
        return self._content

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """A page that nobody sees takes no room, and nobody has to work out how much it would."""
        return super().sizeHint() if self.isVisible() else QSize(0, 0)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return super().minimumSizeHint() if self.isVisible() else QSize(0, 0)

    def load(self, then: Callable[[], None] = lambda: None) -> None:
        """Import what it is made of, without holding anything up."""

        def loaded(_: None) -> None:
            self._is_loaded = True
            then()

        if self._is_loaded:
            then()
        else:
            self._tasks.run(self, self._import, loaded)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self.updateGeometry()
        if not self.is_made:
            self.load(self._fill)
        if not self.is_filled:
            QTimer.singleShot(_TIMEOUT_MS, self, self._show_loading)

    def _show_loading(self) -> None:
        if self._wait is None and not self.is_filled:
            self._wait = QLabel("Opening…")
            self._wait.setProperty("role", "muted")
            self._wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self._column.addWidget(self._wait)

    def _fill(self) -> None:
        _ = self.content

    def _polish(self, waiting: Sequence[QWidget]) -> None:
        """What the style sheet says of each takes longest; done at once it would be felt."""
        for widget in waiting[:_AT_ONCE]:
            if isValid(widget):  # a page may have thrown it away meanwhile
                widget.ensurePolished()
        rest = waiting[_AT_ONCE:]
        QTimer.singleShot(0, self, (lambda: self._polish(rest)) if rest else self._show_content)

    def _show_content(self) -> None:
        if self._wait is not None:
            self._wait.deleteLater()
            self._wait.setVisible(False)
            self._column.removeWidget(self._wait)
            self._wait = None
        self._column.addWidget(self.content)
        self.content.setVisible(True)

    def _import(self) -> None:
        for name in self._modules:
            importlib.import_module(name)
