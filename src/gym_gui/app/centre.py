"""Centre: the tabs in the middle, the play bar below them, and the welcome and settings pages."""

from collections.abc import Callable, Collection
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.app.screens import (
    CENTRE_GROUPS,
    CENTRE_TITLES,
    GROUP_TITLES,
    SHORT_TITLES,
    CentreGroup,
    CentreTab,
    Screens,
)
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.icons import set_icon

_MIN_WIDE_EMS = 50
"""From this width on, tabs have their full titles."""
_SESSION_TABS: tuple[CentreTab, ...] = ("grid", "frame", "raw")
_WORKER_TAB_GROUP: CentreGroup = "watch"


class Centre(QWidget):
    """Shows the tabs, or instead of them the welcome or the settings page."""

    tab_changed = Signal(str)

    def __init__(self, screens: Screens, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._screens = screens
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.tabs.setAccessibleName("Views of the environment and of the selected run")
        for name, title in CENTRE_TITLES.items():
            page = screens.centre[name]
            self.tabs.addTab(page, _escaped(title))
            self.tabs.setTabToolTip(self.tabs.count() - 1, title)
        for tab in screens.worker_tabs.values():
            self.tabs.addTab(tab.page, _escaped(tab.title))
            self.tabs.setTabToolTip(self.tabs.count() - 1, tab.title)
        self._names: list[CentreTab] = [*CENTRE_TITLES, *screens.worker_tabs]
        self._worker_tabs: tuple[CentreTab, ...] = ()
        self._last_tab: dict[CentreGroup, CentreTab] = {
            group: names[0] for group, names in CENTRE_GROUPS.items()
        }
        self.groups = SegmentedControl(list(GROUP_TITLES.items()), theme, is_compact=True)
        self.groups.setAccessibleName("Tab group")
        self.groups.set_option_tool_tip("watch", "Views of the session and of live runs")
        self.groups.set_option_tool_tip("analyse", "Overview, metrics and comparison of runs")
        self.tabs.setCornerWidget(_with_margins(self.groups), Qt.Corner.TopLeftCorner)
        self._set_current("grid")
        tabs_and_bar = QWidget(self)
        below = QVBoxLayout(tabs_and_bar)
        below.setContentsMargins(0, 0, 0, 0)
        below.setSpacing(0)
        below.addWidget(self.tabs, 1)
        below.addWidget(screens.play_bar)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(tabs_and_bar)
        self._stack.addWidget(screens.welcome)
        self._settings = _with_back_button(screens.settings, self.show_tabs, theme)
        self._stack.addWidget(self._settings)
        self.banner = Banner(theme)
        """Messages about the complete window, such as a daemon that does not answer."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self._stack, 1)
        self.groups.activated.connect(lambda group: self.show_group(cast("CentreGroup", group)))
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self._on_tab_changed(self.tabs.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = event.size().width() >= self.fontMetrics().height() * _MIN_WIDE_EMS
        bar, role = self.tabs.tabBar(), "" if is_wide else "tight"
        if bar.property("role") != role:
            bar.setProperty("role", role)
            bar.style().unpolish(bar)
            bar.style().polish(bar)
        for name, short in SHORT_TITLES.items():
            title = _escaped(CENTRE_TITLES[name] if is_wide else short)
            index = self._names.index(name)
            if self.tabs.tabText(index) != title:
                self.tabs.setTabText(index, title)

    @property
    def current(self) -> CentreTab:
        return self._names[self.tabs.currentIndex()]

    @property
    def group(self) -> CentreGroup:
        return _group_of(self.current)

    def show_tab(self, name: CentreTab) -> None:
        self._set_current(name)
        self.show_tabs()

    def show_group(self, group: CentreGroup) -> None:
        """Show the last tab of the group, or its first enabled one if the last is disabled."""
        enabled = [name for name in self._tabs_of(group) if not self.tab_reason(name)]
        last = self._last_tab[group]
        self.show_tab(last if last in enabled or not enabled else enabled[0])

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
        """Disable a tab, with the reason as tooltip; an empty reason enables it."""
        index = self._names.index(name)
        if why_not == self.tab_reason(name):
            return  # Qt repaints the bar even if nothing has changed
        if why_not and name == self.current:
            self._leave_tab(name)
        # Only the tab is disabled: its page can still be shown and must be usable.
        self.tabs.tabBar().setTabEnabled(index, not why_not)
        self.tabs.setTabToolTip(index, why_not or CENTRE_TITLES[name])

    def show_worker_tabs(self, names: Collection[str]) -> None:
        """Show only these worker tabs; leave the current tab if it is hidden."""
        visible = tuple(name for name in self._screens.worker_tabs if name in names)
        if visible == self._worker_tabs:
            return
        hidden = [name for name in self._worker_tabs if name not in visible]
        self._worker_tabs = visible
        if self.current in hidden:
            self._leave_tab(self.current)
        for name in self._screens.worker_tabs:
            is_visible = name in self._tabs_of(self.group)
            self.tabs.setTabVisible(self._names.index(name), is_visible)

    def _tabs_of(self, group: CentreGroup) -> tuple[CentreTab, ...]:
        return CENTRE_GROUPS[group] + (self._worker_tabs if group == _WORKER_TAB_GROUP else ())

    def _leave_tab(self, name: CentreTab) -> None:
        """Switch to the first enabled tab of the same group."""
        others = [other for other in self._tabs_of(_group_of(name)) if other != name]
        enabled = [other for other in others if not self.tab_reason(other)]
        if enabled:
            self.tabs.setCurrentIndex(self._names.index(enabled[0]))

    def tab_reason(self, name: CentreTab) -> str:
        """Why a tab is disabled; empty if it is enabled."""
        index = self._names.index(name)
        return "" if self.tabs.isTabEnabled(index) else self.tabs.tabToolTip(index)

    def _set_current(self, name: CentreTab) -> None:
        group = _group_of(name)
        self.groups.set_current(group)
        visible = self._tabs_of(group)
        # The bar scrolls to a new current tab and stays scrolled, so the other group is hidden
        # first. The current tab stays visible, because Qt would replace a hidden one.
        self._show_only({name, self.current, *(visible if self.current in visible else ())})
        self.tabs.setCurrentIndex(self._names.index(name))
        self._show_only(visible)

    def _show_only(self, names: Collection[CentreTab]) -> None:
        for index, name in enumerate(self._names):
            if name not in names:
                self.tabs.setTabVisible(index, False)
        for index, name in enumerate(self._names):
            if name in names:
                self.tabs.setTabVisible(index, True)

    def _on_tab_changed(self, index: int) -> None:
        name = self._names[index]
        self._last_tab[_group_of(name)] = name
        self._screens.play_bar.setVisible(name in _SESSION_TABS)
        self.tab_changed.emit(name)


def _escaped(title: str) -> str:
    """Escape `&`, which Qt reads as a shortcut."""
    return title.replace("&", "&&")


def _group_of(name: CentreTab) -> CentreGroup:
    groups = (group for group, names in CENTRE_GROUPS.items() if name in names)
    return next(groups, _WORKER_TAB_GROUP)


def _with_margins(widget: QWidget) -> QWidget:
    """Add margins around a corner widget of the tabs."""
    holder = QWidget()
    line = holder.fontMetrics().height()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(line // 2, 1, line // 2, line // 4)
    layout.addWidget(widget)
    return holder


def _with_back_button(page: QWidget, on_back: Callable[[], None], theme: ThemeModel) -> QWidget:
    """Add a title and a back button to the settings page."""
    holder = QWidget()
    back = QToolButton(holder)
    back.setText("Back")
    back.setToolTip("Back to the tabs (Esc)")
    back.setShortcut("Esc")
    back.setProperty("role", "quiet")
    set_icon(back, "close", theme)
    back.clicked.connect(on_back)
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
