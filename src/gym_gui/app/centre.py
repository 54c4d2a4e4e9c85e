"""Centre: the tabs in the middle, what lies under them, and the pages that take their place."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.app.screens import CENTRE_TITLES, CentreTab, Screens
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.elements.banner import Banner
from gym_gui.views.elements.icons import keep_icon

_PLAYED: tuple[CentreTab, ...] = ("grid", "frame", "raw")


class Centre(QWidget):
    """The tabs, or a page in their place: welcome and settings."""

    tab_changed = Signal(str)

    def __init__(self, screens: Screens, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._screens = screens
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setAccessibleName("Views of the environment and of the selected run")
        for name, title in CENTRE_TITLES.items():
            page = screens.centre[name]
            self.tabs.addTab(page, title)
        self._names = list(CENTRE_TITLES)
        tabs_and_bar = QWidget(self)
        below = QVBoxLayout(tabs_and_bar)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self.tabs, 1)
        below.addWidget(screens.play_bar)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(tabs_and_bar)
        self._stack.addWidget(screens.welcome)
        self._settings = _with_way_back(screens.settings, self.show_tabs, theme)
        self._stack.addWidget(self._settings)
        self.banner = Banner(theme)
        """What is wrong with everything, such as a daemon that does not answer."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self._stack, 1)
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self._on_tab_changed(self.tabs.currentIndex())

    @property
    def current(self) -> CentreTab:
        return self._names[self.tabs.currentIndex()]

    def show_tab(self, name: CentreTab) -> None:
        self.tabs.setCurrentIndex(self._names.index(name))
        self.show_tabs()

    def show_tabs(self) -> None:
        self._stack.setCurrentIndex(0)

    def show_welcome(self) -> None:
        self._stack.setCurrentWidget(self._screens.welcome)

    def show_settings(self) -> None:
        self._stack.setCurrentWidget(self._settings)

    @property
    def shows_tabs(self) -> bool:
        return self._stack.currentIndex() == 0

    def set_tab_reason(self, name: CentreTab, why_not: str) -> None:
        """A tab that shows nothing now is greyed, with the reason; its page can say more."""
        index = self._names.index(name)
        if why_not == self.tab_reason(name):
            return  # Qt paints the bar anew even when nothing is different
        self.tabs.setTabEnabled(index, not why_not)
        self.tabs.setTabToolTip(index, why_not)

    def tab_reason(self, name: CentreTab) -> str:
        """Why a tab shows nothing now; empty when it does."""
        index = self._names.index(name)
        return "" if self.tabs.isTabEnabled(index) else self.tabs.tabToolTip(index)

    def _on_tab_changed(self, index: int) -> None:
        name = self._names[index]
        self._screens.play_bar.setVisible(name in _PLAYED)
        self.tab_changed.emit(name)


def _with_way_back(page: QWidget, go_back: Callable[[], None], theme: ThemeModel) -> QWidget:
    """Settings are a page, not a dialog: this is how one leaves it."""
    holder = QWidget()
    back = QToolButton(holder)
    back.setText("Back")
    back.setToolTip("Back to the environment (Esc)")
    back.setShortcut("Esc")
    back.setProperty("role", "quiet")
    keep_icon(back, "close", theme)
    back.clicked.connect(go_back)
    title = QLabel("Settings")
    title.setProperty("role", "heading")
    line = holder.fontMetrics().height()
    row = QHBoxLayout()
    row.setContentsMargins(line * 2 // 3, line // 3, line // 3, line // 3)
    row.addWidget(title)
    row.addStretch(1)
    row.addWidget(back)
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addLayout(row)
    layout.addWidget(page, 1)
    return holder
