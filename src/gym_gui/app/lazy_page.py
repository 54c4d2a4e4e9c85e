"""LazyPage: a page that is created when it is first shown, so that the window opens faster."""

import importlib
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from gym_gui.runtime.tasks import Tasks

Page = TypeVar("Page", bound=QWidget)
_POLISH_BATCH = 40
_LOADING_DELAY_MS = 300
"""After this time without content, a message is displayed."""


class LazyPage(QWidget, Generic[Page]):
    """Placeholder and parent of its content. The modules are imported on a thread first."""

    def __init__(
        self,
        make: Callable[[], Page],
        tasks: Tasks,
        modules: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        """`modules` of `gym_gui` are those that `make` imports."""
        super().__init__(parent)
        self._make = make
        self._tasks = tasks
        self._modules = tuple(f"gym_gui.{name}" for name in modules)
        self._content: Page | None = None
        self._is_loaded = False
        self._loading: QLabel | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    @property
    def is_created(self) -> bool:
        return self._content is not None

    @property
    def is_displayed(self) -> bool:
        """Whether the content is created and visible."""
        return self._content is not None and not self._content.isHidden()

    @property
    def content(self) -> Page:
        """The content, which is created if necessary."""
        if self._content is None:
            page = self._make()
            # The parent is set before it is shown, because the style sheet is that of the window.
            page.setVisible(False)
            page.setParent(self)
            self._content = page
            QTimer.singleShot(0, self, lambda: self._polish(page.findChildren(QWidget)))
        return self._content

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Zero while hidden, which saves the computation of the layout."""
        return super().sizeHint() if self.isVisible() else QSize(0, 0)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return super().minimumSizeHint() if self.isVisible() else QSize(0, 0)

    def load(self, then: Callable[[], None] = lambda: None) -> None:
        """Import the modules on a thread, then call `then` on the UI thread."""

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
        if not self.is_created:
            self.load(self._create)
        if not self.is_displayed:
            QTimer.singleShot(_LOADING_DELAY_MS, self, self._show_loading)

    def _show_loading(self) -> None:
        if self._loading is None and not self.is_displayed:
            self._loading = QLabel("Loading…")
            self._loading.setProperty("role", "muted")
            self._loading.setAlignment(Qt.AlignmentFlag.AlignCenter)
            self._column.addWidget(self._loading)

    def _create(self) -> None:
        _ = self.content

    def _polish(self, widgets: Sequence[QWidget]) -> None:
        """Polish the widgets in batches: polishing all at once would block the window."""
        for widget in widgets[:_POLISH_BATCH]:
            if isValid(widget):  # the page may have deleted it
                widget.ensurePolished()
        remaining = widgets[_POLISH_BATCH:]
        QTimer.singleShot(
            0, self, (lambda: self._polish(remaining)) if remaining else self._show_content
        )

    def _show_content(self) -> None:
        if self._loading is not None:
            self._loading.deleteLater()
            self._loading.setVisible(False)
            self._column.removeWidget(self._loading)
            self._loading = None
        self._column.addWidget(self.content)
        self.content.setVisible(True)

    def _import(self) -> None:
        for name in self._modules:
            importlib.import_module(name)
