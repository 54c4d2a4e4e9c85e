"""EmbeddedPage: a web page inside the window, if Qt WebEngine is installed.

WebEngine is imported when the first URL is opened: the import is slow, and WebEngine is an extra
(`web`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtNetwork import QNetworkProxy
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QProgressBar,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import delete

from gym_gui.runtime.models.embedded_choice import NOT_INSTALLED
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from PySide6.QtWebEngineWidgets import QWebEngineView

_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
_PROXY_TYPES = {"socks5": QNetworkProxy.ProxyType.Socks5Proxy}
_DEFAULT_PROXY_PORT = 8080
Page = TypeVar("Page", bound=QWidget)


class EmbeddedPage(QWidget):
    """Loads nothing before `open`. Links to new windows open in the browser."""

    title_changed = Signal(str)

    def __init__(
        self, theme: ThemeModel, storage: Path | None = None, parent: QWidget | None = None
    ) -> None:
        """`storage`: the folder for cookies, so that a login persists; None: nothing is stored."""
        super().__init__(parent)
        self._theme = theme
        self._storage = storage
        self._view: QWebEngineView | None = None
        self._retries_load = False
        """WebEngine applies a changed proxy only to the load after the next one."""
        self.url = ""
        em = self.fontMetrics().height()
        self._back = self._button("arrow-left", "Back")
        self._reload = self._button("refresh", "Reload")
        self._open_external = self._button("external", "Open in browser")
        self._address = ElidedLabel("caption")
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Loading")
        bar = QHBoxLayout()
        bar.setContentsMargins(em // 2, em // 4, em // 2, em // 4)
        bar.setSpacing(em // 4)
        for button in (self._back, self._reload):
            bar.addWidget(button)
        bar.addWidget(self._address, 1)
        bar.addWidget(self._open_external)
        self._empty = EmptyState("chart", "No page", "Start TensorBoard, or open a W&B run.", theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._progress)
        layout.addWidget(self._pages, 1)
        self._reload.clicked.connect(self._load_url)
        self._back.clicked.connect(self._go_back)
        self._open_external.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.url)))
        self._empty.action_triggered.connect(self._load_url)
        self._update_controls()

    def open(self, url: str, proxy: str = "") -> None:
        """Without WebEngine, show what to install. `proxy` is `http://host:port`, for this and
        later URLs; local servers are reached directly."""
        self.url = url
        if QUrl(url).host() not in _LOCAL_HOSTS:
            self._retries_load = _use_proxy(proxy)
        view = self._view or self._create_view()
        if view is not None:
            view.load(QUrl(url))
            self._pages.setCurrentWidget(view)
        self._update_controls()

    def _create_view(self) -> "QWebEngineView | None":
        try:
            # An extra, and slow to import.
            from PySide6.QtWebEngineCore import QWebEngineProfile  # noqa: PLC0415
            from PySide6.QtWebEngineWidgets import QWebEngineView  # noqa: PLC0415
        except ImportError:
            self._empty.show_message("Qt WebEngine is not installed", NOT_INSTALLED)
            return None
        app = cast("QApplication", QApplication.instance())
        if self._storage is None:
            view = QWebEngineView()
        else:
            # One profile for all pages, which outlives them.
            profile = app.findChild(QWebEngineProfile) or QWebEngineProfile("mosaic", app)
            profile.setPersistentStoragePath(str(self._storage))
            profile.setCachePath(str(self._storage / "cache"))
            view = QWebEngineView(profile)
        self._view = view
        view.setAccessibleName("Page")
        view.titleChanged.connect(self.title_changed)
        view.urlChanged.connect(self._on_url_changed)
        view.loadStarted.connect(lambda: self._show_progress(0))
        view.loadProgress.connect(self._show_progress)
        view.loadFinished.connect(self._on_loaded)
        view.page().newWindowRequested.connect(_open_in_browser)
        view.renderProcessTerminated.connect(self._on_render_process_ended)
        # The view must be deleted before its profile, which the application owns.
        app.aboutToQuit.connect(self._delete_view)
        self._pages.addWidget(view)
        return view

    def _button(self, name: IconName, tool_tip: str) -> QToolButton:
        button = QToolButton()
        set_icon(button, name, self._theme, "muted")
        button.setToolTip(tool_tip)
        button.setAccessibleName(tool_tip)
        return button

    def _update_controls(self) -> None:
        view = self._view
        self._address.show_text(self.url)
        self._back.setEnabled(view is not None and view.history().canGoBack())
        self._back.setToolTip("Back" if self._back.isEnabled() else "No previous page")
        self._reload.setEnabled(bool(self.url))
        self._open_external.setEnabled(bool(self.url))
        if view is None:
            self._progress.setVisible(False)

    def _show_progress(self, percent: int) -> None:
        self._progress.setVisible(percent < self._progress.maximum())
        self._progress.setValue(percent)

    def _on_url_changed(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            self.url = url.toString()
            self._update_controls()

    def _on_loaded(self, is_successful: bool) -> None:
        self._progress.setVisible(False)
        if is_successful and self._view is not None:
            self._pages.setCurrentWidget(self._view)
        elif self._retries_load:
            self._retries_load = False
            self._load_url()
        else:
            host = QUrl(self.url).host()
            self._show_load_error(
                f"{host or self.url} did not answer",
                "The server may be stopped or unreachable.",
            )

    def _on_render_process_ended(self, *_: Any) -> None:
        self._show_load_error("The page crashed", "Reload it, or open it in the browser.")

    def _show_load_error(self, title: str, text: str) -> None:
        self._empty.show_message(title, text, "Reload")
        self._pages.setCurrentWidget(self._empty)
        self._update_controls()

    def _load_url(self) -> None:
        if self._view is not None and self._view.url() == QUrl(self.url):
            self._view.reload()  # `load` of a URL with a fragment would only scroll
        elif self._view is not None and self.url:
            self._view.load(QUrl(self.url))

    def _delete_view(self) -> None:
        if self._view is not None:
            delete(self._view)
            self._view = None

    def _go_back(self) -> None:
        if self._view is not None:
            self._view.back()


def _open_in_browser(request: Any) -> None:
    """Open a link that requests a new window."""
    QDesktopServices.openUrl(request.requestedUrl())


def _use_proxy(address: str) -> bool:
    """Set the proxy of the application, which WebEngine uses. Return whether it changed."""
    proxy = QNetworkProxy(QNetworkProxy.ProxyType.DefaultProxy)
    if address:
        url = QUrl(address if "://" in address else f"http://{address}")
        proxy_type = _PROXY_TYPES.get(url.scheme(), QNetworkProxy.ProxyType.HttpProxy)
        port = url.port(_DEFAULT_PROXY_PORT)
        proxy = QNetworkProxy(proxy_type, url.host(), port, url.userName(), url.password())
    has_changed = proxy != QNetworkProxy.applicationProxy()
    QNetworkProxy.setApplicationProxy(proxy)
    return has_changed


class DashboardHost(QWidget, Generic[Page]):
    """Shows a page of the window, and instead of it the embedded dashboard that it opens."""

    def __init__(self, page: Page, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.page = page
        self._embedded: EmbeddedPage | None = None
        self._back = QToolButton()
        self._back.setText("Back to run")
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
