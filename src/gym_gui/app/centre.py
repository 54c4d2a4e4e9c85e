"""Centre: the tabs in the middle, what lies under them, and the pages that take their place."""

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

_ROOMY_EMS = 50
"""From this width on tabs have their whole names."""
_PLAYED: tuple[CentreTab, ...] = ("grid", "frame", "raw")
_FURTHER_GROUP: CentreGroup = "watch"


class Centre(QWidget):
    """The tabs, or a page in their place: welcome and settings."""

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
        for further in screens.further.values():
            self.tabs.addTab(further.page, _escaped(further.title))
            self.tabs.setTabToolTip(self.tabs.count() - 1, further.title)
        self._names: list[CentreTab] = [*CENTRE_TITLES, *screens.further]
        self._further: tuple[CentreTab, ...] = ()
        self._last_of: dict[CentreGroup, CentreTab] = {
            group: names[0] for group, names in CENTRE_GROUPS.items()
        }
        self.groups = SegmentedControl(list(GROUP_TITLES.items()), theme, is_compact=True)
        self.groups.setAccessibleName("What the tabs are about")
        self.groups.set_option_tool_tip("watch", "What is played, and how it looks")
        self.groups.set_option_tool_tip(
            "analyse", "What the selected run is, measured and left behind"
        )
        self.tabs.setCornerWidget(_with_room(self.groups), Qt.Corner.TopLeftCorner)
        self._bring_to_front("grid")
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
        self.groups.activated.connect(lambda group: self.show_group(cast("CentreGroup", group)))
        self.tabs.currentChanged.connect(self._on_tab_changed)
        self._on_tab_changed(self.tabs.currentIndex())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_roomy = event.size().width() >= self.fontMetrics().height() * _ROOMY_EMS
        bar, role = self.tabs.tabBar(), "" if is_roomy else "tight"
        if bar.property("role") != role:
            bar.setProperty("role", role)
            bar.style().unpolish(bar)
            bar.style().polish(bar)
        for name, short in SHORT_TITLES.items():
            title = _escaped(CENTRE_TITLES[name] if is_roomy else short)
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
        self._bring_to_front(name)
        self.show_tabs()

    def show_group(self, group: CentreGroup) -> None:
        """The tab of it that was in front last; one that shows nothing now makes room."""
        able = [name for name in self._tabs_of(group) if not self.tab_reason(name)]
        last = self._last_of[group]
        self.show_tab(last if last in able or not able else able[0])

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
        if why_not and name == self.current:
            self._make_room(name)
        # Of the tab alone: its page may be shown all the same, and must be of use then.
        self.tabs.tabBar().setTabEnabled(index, not why_not)
        self.tabs.setTabToolTip(index, why_not or CENTRE_TITLES[name])

    def show_further(self, names: Collection[str]) -> None:
        """Only these of the further tabs are in sight; one in front that goes makes room."""
        wanted = tuple(name for name in self._screens.further if name in names)
        if wanted == self._further:
            return
        gone = [name for name in self._further if name not in wanted]
        self._further = wanted
        if self.current in gone:
            self._make_room(self.current)
        for name in self._screens.further:
            is_seen = name in self._tabs_of(self.group)
            self.tabs.setTabVisible(self._names.index(name), is_seen)

    def _tabs_of(self, group: CentreGroup) -> tuple[CentreTab, ...]:
        return CENTRE_GROUPS[group] + (self._further if group == _FURTHER_GROUP else ())

    def _make_room(self, name: CentreTab) -> None:
        """For the first of its group that shows something."""
        others = [each for each in self._tabs_of(_group_of(name)) if each != name]
        able = [each for each in others if not self.tab_reason(each)]
        if able:
            self.tabs.setCurrentIndex(self._names.index(able[0]))

    def tab_reason(self, name: CentreTab) -> str:
        """Why a tab shows nothing now; empty when it does."""
        index = self._names.index(name)
        return "" if self.tabs.isTabEnabled(index) else self.tabs.tabToolTip(index)

    def _bring_to_front(self, name: CentreTab) -> None:
        group = _group_of(name)
        self.groups.set_current(group)
        wanted = self._tabs_of(group)
        # The bar scrolls to a tab that comes to the front, and stays scrolled afterwards: there
        # must be room for it then. Qt would move on by itself from the one in front if that went.
        self._show_only({name, self.current, *(wanted if self.current in wanted else ())})
        self.tabs.setCurrentIndex(self._names.index(name))
        self._show_only(wanted)

    def _show_only(self, names: Collection[CentreTab]) -> None:
        for index, each in enumerate(self._names):
            if each not in names:
                self.tabs.setTabVisible(index, False)
        for index, each in enumerate(self._names):
            if each in names:
                self.tabs.setTabVisible(index, True)

    def _on_tab_changed(self, index: int) -> None:
        name = self._names[index]
        self._last_of[_group_of(name)] = name
        self._screens.play_bar.setVisible(name in _PLAYED)
        self.tab_changed.emit(name)


def _escaped(title: str) -> str:
    """Qt would make a shortcut of it."""
    return title.replace("&", "&&")


def _group_of(name: CentreTab) -> CentreGroup:
    found = (group for group, names in CENTRE_GROUPS.items() if name in names)
    return next(found, _FURTHER_GROUP)


def _with_room(widget: QWidget) -> QWidget:
    """At the edge of the tabs, but not against it."""
    holder = QWidget()
    line = holder.fontMetrics().height()
    layout = QHBoxLayout(holder)
    layout.setContentsMargins(line // 2, 1, line // 2, line // 4)
    layout.addWidget(widget)
    return holder


def _with_way_back(page: QWidget, go_back: Callable[[], None], theme: ThemeModel) -> QWidget:
    """Settings are a page, not a dialog: this is how one leaves it."""
    holder = QWidget()
    back = QToolButton(holder)
    back.setText("Back")
    back.setToolTip("Back to the environment (Esc)")
    back.setShortcut("Esc")
    back.setProperty("role", "quiet")
    set_icon(back, "close", theme)
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
