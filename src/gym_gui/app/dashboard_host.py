"""DashboardHost: a page, and in its place the dashboard of somebody else that it leads to.

Only where a person has chosen that dashboards open inside the window; else the browser has them.
"""

from typing import Generic, TypeVar

from PySide6.QtWidgets import QStackedWidget, QToolButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.embedded_page import EmbeddedPage
from gym_gui.widgets.icons import set_icon

Page = TypeVar("Page", bound=QWidget)


class DashboardHost(QWidget, Generic[Page]):
    """Holds the page of TensorBoard or of W&B."""

    def __init__(self, page: Page, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.page = page
        self._embedded: EmbeddedPage | None = None
        self._back = QToolButton()
        self._back.setText("Back to the run")
        self._back.setProperty("role", "quiet")
        set_icon(self._back, "chevron-left", theme)
        self._back.clicked.connect(self.show_page)
        self._back.setVisible(False)
        self._stack = QStackedWidget()
        self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._back)
        layout.addWidget(self._stack, 1)

    def open(self, url: str, proxy: str = "") -> None:
        if self._embedded is None:
            self._embedded = EmbeddedPage(self._theme)
            self._stack.addWidget(self._embedded)
        self._embedded.open(url, proxy)
        self._stack.setCurrentWidget(self._embedded)
        self._back.setVisible(True)

    def show_page(self) -> None:
        self._stack.setCurrentWidget(self.page)
        self._back.setVisible(False)
