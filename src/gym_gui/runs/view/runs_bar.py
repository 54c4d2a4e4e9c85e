"""RunsBar: what stands above the list of runs: filter, how many, how it is shown, what to do."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from gym_gui.runs.model.run_groups import WAYS, Grouping
from gym_gui.runs.view.action_menu import RunActionMenu
from gym_gui.runs.view.filter_line import FilterLine
from gym_gui.runtime.models.run_actions import RunAction
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, keep_icon

_BUTTONS: tuple[RunAction, ...] = (
    *("stop", "pause", "resume", "compare", "tag", "archive", "duplicate", "delete"),
)
_VIEW_TIP = "Group, columns and archived runs"
_LEAST_FILTER = 7
"""Heights of the text: so wide it stays."""


class RunsBar(QWidget):
    """`columns` is the menu of columns, `menu` that of everything that can be done."""

    grouping_chosen = Signal(str)
    archived_toggled = Signal(bool)
    folding_chosen = Signal(bool)
    """Fold all headings, or unfold them."""

    def __init__(
        self,
        completions: Callable[[str], list[str]],
        deeds: RunActionMenu,
        menu: QMenu,
        columns: QMenu,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._deeds = deeds
        self._menu = menu
        self._theme = theme
        self.filter = FilterLine(completions)
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self.count.setMinimumWidth(1)  # so that the bar can become narrower
        self._counts = ("", "")
        self.view = self._button("layout", _VIEW_TIP, theme)
        self.view_menu = self._make_view_menu(columns)
        self.view.setMenu(self.view_menu)
        self.view.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.buttons: dict[RunAction, QToolButton] = {}
        for deed in _BUTTONS:
            button = QToolButton()
            button.setProperty("role", "quiet")
            button.setDefaultAction(deeds[deed])
            button.setAccessibleName(deeds[deed].text().removesuffix("…"))
            self.buttons[deed] = button
        self._more = self._button("more", "Everything that can be done with the chosen runs", theme)
        self._more.clicked.connect(self._show_menu)
        self._lay_out()
        deeds["pause"].changed.connect(self._show_one_of_pause_and_resume)
        deeds["resume"].changed.connect(self._show_one_of_pause_and_resume)
        self._show_one_of_pause_and_resume()

    def say_count(self, text: str, short: str) -> None:
        """`short` is said where there is no room for the whole text."""
        self._counts = (text, short)
        self._show_count()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._show_count()

    def _show_count(self) -> None:
        """One that is cut says nothing."""
        metrics = self.fontMetrics()
        shown = [button for button in self.buttons.values() if not button.isHidden()]
        taken = sum(each.sizeHint().width() for each in (self.view, self._more, *shown))
        gaps = metrics.height() * (len(shown) + 8) // 4 + metrics.height()
        room = self.width() - taken - gaps - metrics.height() * _LEAST_FILTER
        fitting = (text for text in self._counts if metrics.horizontalAdvance(text) <= room)
        self.count.setText(next(fitting, ""))
        self.count.setToolTip(self._counts[0])

    def show_grouping(self, grouping: Grouping) -> None:
        for action in self._groupings.actions():
            action.setChecked(action.data() == grouping)
        for action in self._foldings:
            action.setEnabled(grouping != "none")
        self._mark_view()

    def _mark_view(self) -> None:
        """In colour, and in words, while the list is not shown as usual."""
        chosen = self._groupings.checkedAction()
        grouping: Grouping = chosen.data() if chosen else "none"
        parts = [f"grouped by {WAYS[grouping].name.lower()}"] if grouping != "none" else []
        parts += ["with archived runs"] if self.archived.isChecked() else []
        now = f"\nNow {' and '.join(parts)}" if parts else ""
        self.view.setToolTip(f"{_VIEW_TIP}{now}")
        keep_icon(self.view, "layout", self._theme, "accent" if parts else "muted")

    def _make_view_menu(self, columns: QMenu) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        groups = menu.addMenu("Group by")
        self._groupings = QActionGroup(self)
        for grouping, way in WAYS.items():
            action = groups.addAction(way.name)
            action.setCheckable(True)
            action.setData(grouping)
            self._groupings.addAction(action)
        self._groupings.triggered.connect(lambda action: self.grouping_chosen.emit(action.data()))
        menu.addMenu(columns)
        archived = menu.addAction("Show archived runs")
        archived.setCheckable(True)
        archived.toggled.connect(self.archived_toggled)
        archived.toggled.connect(lambda _: self._mark_view())
        self.archived = archived
        menu.addSeparator()
        self._foldings = (menu.addAction("Fold all groups"), menu.addAction("Unfold all groups"))
        self._foldings[0].triggered.connect(lambda: self.folding_chosen.emit(True))
        self._foldings[1].triggered.connect(lambda: self.folding_chosen.emit(False))
        for action in self._foldings:
            action.setToolTip("Choose something to group by first.")
        return menu

    def _lay_out(self) -> None:
        line = self.fontMetrics().height()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 3, line // 2, line // 3)
        layout.setSpacing(line // 4)
        self.filter.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.filter.setMinimumWidth(line * _LEAST_FILTER)
        self.filter.setMaximumWidth(line * 28)
        layout.addWidget(self.filter, 3)
        layout.addSpacing(line // 4)
        layout.addWidget(self.count)
        layout.addStretch(1)
        layout.addWidget(self.view)
        layout.addSpacing(line // 2)
        for button in self.buttons.values():
            layout.addWidget(button)
        layout.addWidget(self._more)

    def _button(self, icon: IconName, tip: str, theme: ThemeModel) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        keep_icon(button, icon, theme, "muted")
        return button

    def _show_one_of_pause_and_resume(self) -> None:
        """Both never fit the same run: the place is that of one button."""
        resumes = self._deeds["resume"].isEnabled() and not self._deeds["pause"].isEnabled()
        self.buttons["resume"].setVisible(resumes)
        self.buttons["pause"].setVisible(not resumes)

    def _show_menu(self) -> None:
        self._menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))
