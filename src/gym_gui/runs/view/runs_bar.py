"""RunsBar: the bar above the list of runs: filter, count, view menu and actions."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QStringListModel, Qt, Signal
from PySide6.QtGui import QActionGroup, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListView,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gym_gui.runs.model.run_groups import GROUPINGS, Grouping
from gym_gui.runs.model.run_search import HELP
from gym_gui.runs.view.action_menu import RunActionMenu
from gym_gui.runtime.models.run_actions import RunAction
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.styling import style_popup

_BUTTONS: tuple[RunAction, ...] = (
    *("stop", "pause", "resume", "compare", "tag", "archive", "duplicate", "delete"),
)
_VIEW_TIP = "Groups, columns and archived runs"
_MIN_FILTER_WIDTH = 7
"""In line heights."""
_MAX_COMPLETIONS = 200


class FilterField(QLineEdit):
    """The filter text; `completions` returns the completions of a term."""

    list_requested = Signal()
    """The Down key moves the focus to the list."""

    def __init__(
        self, completions: Callable[[str], list[str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._completions = completions
        self.setPlaceholderText("Filter runs")
        self.setToolTip(HELP)
        self.setAccessibleName("Filter runs")
        self.setClearButtonEnabled(True)
        self._completion_list = QStringListModel(self)
        self._completer = QCompleter(self._completion_list, self)
        self._completer.setWidget(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._popup = QListView()
        self._completer.setPopup(self._popup)
        self._completer.activated.connect(self._insert)
        style_popup(self._completer, self)
        self.textEdited.connect(self._show_completions)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        is_completing = self._popup.isVisible()
        if event.key() == Qt.Key.Key_Escape and not is_completing and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down and not is_completing:
            self.list_requested.emit()
        else:
            super().keyPressEvent(event)

    def _show_completions(self) -> None:
        term = self._current_term()
        completions = self._completions(term)[:_MAX_COMPLETIONS] if term else []
        if not completions or completions == [term]:
            self._popup.hide()
            return
        self._completion_list.setStringList(completions)
        self._completer.complete()

    def _insert(self, completion: str) -> None:
        """Insert a completion; a space follows a value but not a field name."""
        text, cursor = self.text(), self.cursorPosition()
        start = cursor - len(self._current_term())
        end = "" if completion.endswith(":") else " "
        rest = text[cursor:].lstrip() if end else text[cursor:]
        self.setText(text[:start] + completion + end + rest)
        self.setCursorPosition(start + len(completion) + len(end))
        if end:
            self._popup.hide()
        else:
            self._show_completions()

    def _current_term(self) -> str:
        """The text left of the cursor, from the last space that is not inside quotes."""
        before = self.text()[: self.cursorPosition()]
        start, is_quoted = 0, False
        for index, letter in enumerate(before):
            is_quoted ^= letter == '"'
            if letter == " " and not is_quoted:
                start = index + 1
        return before[start:]


class RunsBar(QWidget):
    """`columns` is the columns menu, `menu` the menu of all actions."""

    grouping_selected = Signal(str)
    archived_toggled = Signal(bool)
    collapse_all_requested = Signal(bool)
    """True to collapse all groups, False to expand them."""

    def __init__(
        self,
        completions: Callable[[str], list[str]],
        action_menu: RunActionMenu,
        menu: QMenu,
        columns: QMenu,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._action_menu = action_menu
        self._menu = menu
        self._theme = theme
        self.filter = FilterField(completions)
        self.count = QLabel()
        self.count.setProperty("role", "muted")
        self.count.setMinimumWidth(1)  # so that the bar can become narrower
        self._counts = ("", "")
        self.view = self._button("layout", _VIEW_TIP, theme)
        self.view_menu = self._make_view_menu(columns)
        self.view.setMenu(self.view_menu)
        self.view.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.buttons: dict[RunAction, QToolButton] = {}
        for name in _BUTTONS:
            button = QToolButton()
            button.setProperty("role", "quiet")
            button.setDefaultAction(action_menu[name])
            button.setAccessibleName(action_menu[name].text().removesuffix("…"))
            self.buttons[name] = button
        self._more = self._button("more", "All actions on the selected runs", theme)
        self._more.clicked.connect(self._show_menu)
        self._lay_out()
        action_menu["pause"].changed.connect(self._swap_pause_and_resume)
        action_menu["resume"].changed.connect(self._swap_pause_and_resume)
        self._swap_pause_and_resume()

    def set_count(self, text: str, short: str) -> None:
        """`short` is displayed if there is no space for `text`."""
        self._counts = (text, short)
        self._show_count()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._show_count()

    def _show_count(self) -> None:
        """Display the longest text that fits; never an elided one."""
        metrics = self.fontMetrics()
        visible = [button for button in self.buttons.values() if not button.isHidden()]
        used = sum(button.sizeHint().width() for button in (self.view, self._more, *visible))
        gaps = metrics.height() * (len(visible) + 8) // 4 + metrics.height()
        free = self.width() - used - gaps - metrics.height() * _MIN_FILTER_WIDTH
        fitting = (text for text in self._counts if metrics.horizontalAdvance(text) <= free)
        self.count.setText(next(fitting, ""))
        self.count.setToolTip(self._counts[0])

    def set_grouping(self, grouping: Grouping) -> None:
        for action in self._groupings.actions():
            action.setChecked(action.data() == grouping)
        for action in self._collapse_actions:
            action.setEnabled(grouping != "none")
        self._mark_view()

    def _mark_view(self) -> None:
        """Show in the icon and the tooltip that the list is not in its default view."""
        checked = self._groupings.checkedAction()
        grouping: Grouping = checked.data() if checked else "none"
        changes = [f"grouped by {GROUPINGS[grouping].name.lower()}"] if grouping != "none" else []
        changes += ["with archived runs"] if self.archived.isChecked() else []
        state = f"\nNow {' and '.join(changes)}" if changes else ""
        self.view.setToolTip(f"{_VIEW_TIP}{state}")
        set_icon(self.view, "layout", self._theme, "accent" if changes else "muted")

    def _make_view_menu(self, columns: QMenu) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        groups = menu.addMenu("Group by")
        self._groupings = QActionGroup(self)
        for grouping, rule in GROUPINGS.items():
            action = groups.addAction(rule.name)
            action.setCheckable(True)
            action.setData(grouping)
            self._groupings.addAction(action)
        self._groupings.triggered.connect(lambda action: self.grouping_selected.emit(action.data()))
        menu.addMenu(columns)
        archived = menu.addAction("Show archived runs")
        archived.setCheckable(True)
        archived.toggled.connect(self.archived_toggled)
        archived.toggled.connect(lambda _: self._mark_view())
        self.archived = archived
        menu.addSeparator()
        self._collapse_actions = (
            menu.addAction("Collapse all groups"),
            menu.addAction("Expand all groups"),
        )
        self._collapse_actions[0].triggered.connect(lambda: self.collapse_all_requested.emit(True))
        self._collapse_actions[1].triggered.connect(lambda: self.collapse_all_requested.emit(False))
        for action in self._collapse_actions:
            action.setToolTip("Select a grouping first.")
        return menu

    def _lay_out(self) -> None:
        line = self.fontMetrics().height()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 3, line // 2, line // 3)
        layout.setSpacing(line // 4)
        self.filter.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.filter.setMinimumWidth(line * _MIN_FILTER_WIDTH)
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
        set_icon(button, icon, theme, "muted")
        return button

    def _swap_pause_and_resume(self) -> None:
        """Show only one of the two buttons: a run allows at most one of them."""
        shows_resume = (
            self._action_menu["resume"].isEnabled() and not self._action_menu["pause"].isEnabled()
        )
        self.buttons["resume"].setVisible(shows_resume)
        self.buttons["pause"].setVisible(not shows_resume)

    def _show_menu(self) -> None:
        self._menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))
