"""EmbeddedPage: a page of TensorBoard or W&B inside the window, where Qt's WebEngine is installed.

WebEngine is imported when the first address is opened: it takes long and is an extra (`web`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

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
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.icons import IconName, keep_icon

if TYPE_CHECKING:
    from PySide6.QtWebEngineWidgets import QWebEngineView

_LOCAL = ("127.0.0.1", "localhost", "::1")
_KINDS = {"socks5": QNetworkProxy.ProxyType.Socks5Proxy}
_USUAL_PORT = 8080


class EmbeddedPage(QWidget):
    """Nothing is loaded before `open`. Links that leave the site open in the browser."""

    title_changed = Signal(str)

    def __init__(
        self, theme: ThemeModel, storage: Path | None = None, parent: QWidget | None = None
    ) -> None:
        """`storage`: the folder in which a login is kept; without one it is forgotten."""
        super().__init__(parent)
        self._theme = theme
        self._storage = storage
        self._view: QWebEngineView | None = None
        self._tries_again = False
        """WebEngine looks for another proxy when it loads a page, and uses it for the next one."""
        self.url = ""
        em = self.fontMetrics().height()
        self._back = self._button("arrow-left", "Back")
        self._again = self._button("refresh", "Load again")
        self._outside = self._button("external", "Open in the browser")
        self._address = ElidedLabel("caption")
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Loading")
        bar = QHBoxLayout()
        bar.setContentsMargins(em // 2, em // 4, em // 2, em // 4)
        bar.setSpacing(em // 4)
        for part in (self._back, self._again):
            bar.addWidget(part)
        bar.addWidget(self._address, 1)
        bar.addWidget(self._outside)
        self._empty = EmptyState(
            "chart", "Nothing is open", "Start TensorBoard, or open a run of W&B.", theme
        )
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._progress)
        layout.addWidget(self._pages, 1)
        self._again.clicked.connect(self._load_again)
        self._back.clicked.connect(self._go_back)
        self._outside.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self.url)))
        self._empty.acted.connect(self._load_again)
        self._show()

    def open(self, url: str, proxy: str = "") -> None:
        """Without WebEngine it says what to install. `proxy`: `http://host:port`, for this and for
        all that is opened later; a server on this machine is always reached directly."""
        self.url = url
        if QUrl(url).host() not in _LOCAL:
            self._tries_again = _use_proxy(proxy)
        view = self._view or self._make_view()
        if view is not None:
            view.load(QUrl(url))
            self._pages.setCurrentWidget(view)
        self._show()

    def _make_view(self) -> "QWebEngineView | None":
        try:
            # An extra, and it takes long.
            from PySide6.QtWebEngineCore import QWebEngineProfile  # noqa: PLC0415
            from PySide6.QtWebEngineWidgets import QWebEngineView  # noqa: PLC0415
        except ImportError:
            self._empty.say("Pages cannot be shown here", NOT_INSTALLED)
            return None
        app = cast("QApplication", QApplication.instance())
        if self._storage is None:
            view = QWebEngineView()
        else:
            # It must live longer than all pages, and is one for all of them.
            profile = app.findChild(QWebEngineProfile) or QWebEngineProfile("mosaic", app)
            profile.setPersistentStoragePath(str(self._storage))
            profile.setCachePath(str(self._storage / "cache"))
            view = QWebEngineView(profile)
        self._view = view
        view.setAccessibleName("Page")
        view.titleChanged.connect(self.title_changed)
        view.urlChanged.connect(self._on_moved)
        view.loadStarted.connect(lambda: self._show_progress(0))
        view.loadProgress.connect(self._show_progress)
        view.loadFinished.connect(self._on_loaded)
        view.page().newWindowRequested.connect(_open_outside)
        view.renderProcessTerminated.connect(self._on_ended)
        # Its profile ends with the application, and it must end before that.
        app.aboutToQuit.connect(self._let_go)
        self._pages.addWidget(view)
        return view

    def _button(self, name: IconName, tip: str) -> QToolButton:
        button = QToolButton()
        keep_icon(button, name, self._theme, "muted")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        return button

    def _show(self) -> None:
        view = self._view
        self._address.say(self.url)
        self._back.setEnabled(view is not None and view.history().canGoBack())
        self._back.setToolTip("Back" if self._back.isEnabled() else "There is no page before")
        self._again.setEnabled(bool(self.url))
        self._outside.setEnabled(bool(self.url))
        if view is None:
            self._progress.setVisible(False)

    def _show_progress(self, percent: int) -> None:
        self._progress.setVisible(percent < self._progress.maximum())
        self._progress.setValue(percent)

    def _on_moved(self, url: QUrl) -> None:
        if url.scheme() in ("http", "https"):
            self.url = url.toString()
            self._show()

    def _on_loaded(self, is_well: bool) -> None:
        self._progress.setVisible(False)
        if is_well and self._view is not None:
            self._pages.setCurrentWidget(self._view)
        elif self._tries_again:
            self._tries_again = False
            self._load_again()
        else:
            host = QUrl(self.url).host()
            self._show_load_error(
                f"{host or self.url} did not answer",
                "The server may have been stopped, or there is no way to it.",
            )

    def _on_ended(self, *_: Any) -> None:
        self._show_load_error(
            "The page stopped working", "Load it again, or open it in the browser."
        )

    def _show_load_error(self, title: str, text: str) -> None:
        self._empty.say(title, text, "Load again")
        self._pages.setCurrentWidget(self._empty)
        self._show()

    def _load_again(self) -> None:
        if self._view is not None and self._view.url() == QUrl(self.url):
            self._view.reload()  # to load an address with a "#" again would only scroll
        elif self._view is not None and self.url:
            self._view.load(QUrl(self.url))

    def _let_go(self) -> None:
        if self._view is not None:
            delete(self._view)
            self._view = None

    def _go_back(self) -> None:
        if self._view is not None:
            self._view.back()


def _open_outside(request: Any) -> None:
    """A link that wants a window of its own gets one of the browser's."""
    QDesktopServices.openUrl(request.requestedUrl())


def _use_proxy(address: str) -> bool:
    """WebEngine has no setting of its own: it takes the application's. Whether it is another."""
    proxy = QNetworkProxy(QNetworkProxy.ProxyType.DefaultProxy)
    if address:
        url = QUrl(address if "://" in address else f"http://{address}")
        kind = _KINDS.get(url.scheme(), QNetworkProxy.ProxyType.HttpProxy)
        port = url.port(_USUAL_PORT)
        proxy = QNetworkProxy(kind, url.host(), port, url.userName(), url.password())
    is_other = proxy != QNetworkProxy.applicationProxy()
    QNetworkProxy.setApplicationProxy(proxy)
    return is_other
