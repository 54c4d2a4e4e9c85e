"""LazyPage: a page that is built when it is first looked at, so that the window is there sooner."""

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

Page = TypeVar("Page", bound=QWidget)


class LazyPage(QWidget, Generic[Page]):
    """Holds the place of its content."""

    def __init__(self, make: Callable[[], Page], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._content: Page | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)

    @property
    def is_made(self) -> bool:
        return self._content is not None

    @property
    def content(self) -> Page:
        if self._content is None:
            self._content = self._make()
            layout = self.layout()
            if layout is not None:
                layout.addWidget(self._content)
        return self._content

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        _ = self.content
        super().showEvent(event)
