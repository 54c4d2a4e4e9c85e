"""FilterRow: the filters and the search field above the log."""

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QToolButton,
    QWidget,
)

from gym_gui.log.model.log_table_model import LogFilter, LogTableModel, Severity
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon, themed_icon
from gym_gui.widgets.styling import set_disabled_reason, style_popup

_SEVERITIES = (
    ("All severities", Severity.DEBUG),
    ("Info and above", Severity.INFO),
    ("Warnings and errors", Severity.WARNING),
    ("Errors", Severity.ERROR),
)
_ALL_COMPONENTS = "All components"
_MAX_CODE_LENGTH = 6
_MIN_ONE_ROW_LINES = 54
"""Minimum width, in line heights, for one row instead of two."""


class FilterRow(QWidget):
    """Sets the filter of a `LogTableModel`."""

    next_requested = Signal()
    previous_requested = Signal()

    def __init__(
        self,
        model: LogTableModel,
        theme: ThemeModel,
        parent: QWidget | None = None,
        *,
        selector: QWidget | None = None,
    ) -> None:
        """`selector` replaces the selection of a component."""
        super().__init__(parent)
        self._model = model
        self._selector = selector
        line = self.fontMetrics().height()
        self._component = QComboBox()
        self._component.setAccessibleName("Component")
        self._component.setToolTip("Show only lines of one component")
        self._component.addItem(_ALL_COMPONENTS)
        self._component.setFixedWidth(line * 10)
        self._severity = QComboBox()
        self._severity.setAccessibleName("Severity")
        self._severity.setToolTip("Show only lines of at least this severity")
        for text, severity in _SEVERITIES:
            self._severity.addItem(text, severity)
        self._severity.setFixedWidth(line * 10)
        self._code = QLineEdit()
        self._code.setAccessibleName("Code")
        self._code.setToolTip("Show only lines whose code starts with this, such as T39")
        self._code.setPlaceholderText("Code")
        self._code.setMaxLength(_MAX_CODE_LENGTH)
        self._code.setFixedWidth(line * 5)
        self._known_codes = QStringListModel(self)
        completer = QCompleter(self._known_codes, self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._code.setCompleter(completer)
        style_popup(completer, self._code)
        self._search = _SearchEdit()
        self._search.setAccessibleName("Search the log")
        self._search.setPlaceholderText("Search")
        self._search.setToolTip("Enter: next, Shift+Enter: previous")
        self._search.setClearButtonEnabled(True)
        self._search.setMinimumWidth(line * 7)
        self._search.addAction(
            themed_icon("search", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        self._previous = _button("chevron-up", "Previous match", theme)
        self._next = _button("chevron-down", "Next match", theme)
        self._only = _button("filter", "Show only matching lines", theme)
        self._only.setCheckable(True)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(line // 6)
        self._lay_out(line)
        self._subscribe()
        self._update()

    def add_action(self, widget: QWidget) -> None:
        """Add a button at the end of the row."""
        self._actions.addWidget(widget)

    def show_match(self, number: int) -> None:
        """Show the number of matches. `number` is that of the current one, from 1; 0: none."""
        count = self._model.match_count
        if not self._model.filter.text:
            self._count.clear()
        elif number:
            self._count.setText(f"{number:,} of {count:,}")
        else:
            noun = "match" if count == 1 else "matches"
            self._count.setText(f"{count:,} {noun}" if count else "No matches")
        self._count.setVisible(bool(self._count.text()))

    def focus_search(self) -> None:
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def reset(self) -> None:
        """Clear all filters and the search."""
        self._component.setCurrentIndex(0)
        self._severity.setCurrentIndex(0)
        self._code.clear()
        self._search.clear()
        self._only.setChecked(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        fits = self.width() >= self.fontMetrics().height() * _MIN_ONE_ROW_LINES
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if self._groups.direction() != direction:
            self._groups.setDirection(direction)

    def _lay_out(self, line: int) -> None:
        filters = QHBoxLayout()
        filters.setSpacing(line // 3)
        for field in (self._selector or self._component, self._severity, self._code):
            filters.addWidget(field)
        filters.addStretch()
        search = QHBoxLayout()
        search.setSpacing(line // 6)
        search.addWidget(self._search, 1)
        search.addSpacing(line // 6)
        for widget in (self._count, self._previous, self._next, self._only):
            search.addWidget(widget)
        search.addSpacing(line // 2)
        search.addLayout(self._actions)
        # Two rows at first: its minimum width must fit into a narrow dock.
        self._groups = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._groups.setContentsMargins(line // 2, line // 3, line // 2, line // 3)
        self._groups.setSpacing(line // 3)
        self._groups.addLayout(filters)
        self._groups.addLayout(search, 1)

    def _subscribe(self) -> None:
        self._component.currentIndexChanged.connect(lambda _: self._apply())
        self._severity.currentIndexChanged.connect(lambda _: self._apply())
        self._code.textChanged.connect(lambda _: self._apply())
        self._search.textChanged.connect(lambda _: self._apply())
        self._only.toggled.connect(lambda _: self._apply())
        self._search.next_requested.connect(self.next_requested)
        self._search.previous_requested.connect(self.previous_requested)
        self._next.clicked.connect(self.next_requested)
        self._previous.clicked.connect(self.previous_requested)
        self._model.changed.connect(self._update)

    def _apply(self) -> None:
        index = self._component.currentIndex()
        self._model.set_filter(
            LogFilter(
                component=self._component.currentText() if index > 0 else "",
                min_severity=self._severity.currentData(),
                code=self._code.text().strip(),
                text=self._search.text(),
                only_matches=self._only.isChecked(),
            )
        )

    def _update(self) -> None:
        self._update_components()
        if self._known_codes.stringList() != self._model.codes:
            self._known_codes.setStringList(self._model.codes)
        has_text = bool(self._search.text())
        none = "No line contains this text." if has_text else "Enter a search text first."
        for button in (self._next, self._previous):
            set_disabled_reason(button, "" if self._model.match_count else none)
        self.show_match(0)

    def _update_components(self) -> None:
        selected = self._model.filter.component
        names = sorted({*self._model.components, *([selected] if selected else [])})
        items = [self._component.itemText(index) for index in range(self._component.count())]
        if items[1:] == names:
            return
        self._component.blockSignals(True)  # the filter does not change
        self._component.clear()
        self._component.addItem(_ALL_COMPONENTS)
        self._component.addItems(names)
        self._component.setCurrentIndex(names.index(selected) + 1 if selected else 0)
        self._component.blockSignals(False)


class _SearchEdit(QLineEdit):
    """Enter goes to the next match, Shift+Enter to the previous one; Escape clears the text."""

    next_requested = Signal()
    previous_requested = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_previous = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.previous_requested if is_previous else self.next_requested).emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


def _button(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    set_icon(button, name, theme, "muted")
    button.setAccessibleName(text)
    button.setToolTip(text)
    return button
