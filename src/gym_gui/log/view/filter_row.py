"""FilterRow: which lines are shown, and what is searched for."""

from dataclasses import replace

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

from gym_gui.log.model.log_filter import LogFilter, Severity
from gym_gui.log.model.log_model import LogModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, icon, keep_icon
from gym_gui.widgets.set_disabled_reason import set_disabled_reason
from gym_gui.widgets.style_popup import style_popup

_SEVERITIES = (
    ("All severities", Severity.DEBUG),
    ("Info and above", Severity.INFO),
    ("Warnings and errors", Severity.WARNING),
    ("Errors", Severity.ERROR),
)
_ALL_COMPONENTS = "All components"
_LONGEST_CODE = 6
_ONE_ROW_FROM = 54
"""Font heights of width, from which all fits into one row."""


class FilterRow(QWidget):
    """Writes `model.filter`. Moving through what was found is asked of the table."""

    next_wanted = Signal()
    previous_wanted = Signal()

    def __init__(self, model: LogModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._component = QComboBox()
        self._component.setAccessibleName("Component")
        self._component.setToolTip("Only lines of one component")
        self._component.addItem(_ALL_COMPONENTS)
        self._component.setFixedWidth(line * 10)
        self._severity = QComboBox()
        self._severity.setAccessibleName("Severity")
        self._severity.setToolTip("Only lines that are at least so severe")
        for text, severity in _SEVERITIES:
            self._severity.addItem(text, severity)
        self._severity.setFixedWidth(line * 10)
        self._code = QLineEdit()
        self._code.setAccessibleName("Code")
        self._code.setToolTip("Only lines whose code begins so, such as T39")
        self._code.setPlaceholderText("Code")
        self._code.setMaxLength(_LONGEST_CODE)
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
            icon("search", theme, "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        self._previous = _button("chevron-up", "Previous find", theme)
        self._next = _button("chevron-down", "Next find", theme)
        self._only = _button("filter", "Show only the lines that the search finds", theme)
        self._only.setCheckable(True)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(line // 6)
        self._lay_out(line)
        self._subscribe()
        self._show_counts()

    def add_action(self, widget: QWidget) -> None:
        """A button at the end of the row."""
        self._actions.addWidget(widget)

    def show_found(self, number: int) -> None:
        """Which of the finds is looked at, from 1; 0: none of them."""
        found = self._model.found_count
        if not self._model.filter.text:
            self._count.clear()
        elif number:
            self._count.setText(f"{number:,} of {found:,}")
        else:
            self._count.setText(f"{found:,} found" if found else "None found")
        self._count.setVisible(bool(self._count.text()))

    def focus_search(self) -> None:
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    def forget(self) -> None:
        """Everything is shown again."""
        self._component.setCurrentIndex(0)
        self._severity.setCurrentIndex(0)
        self._code.clear()
        self._search.clear()
        self._only.setChecked(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        fits = self.width() >= self.fontMetrics().height() * _ONE_ROW_FROM
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if self._groups.direction() != direction:
            self._groups.setDirection(direction)

    def _lay_out(self, line: int) -> None:
        filters = QHBoxLayout()
        filters.setSpacing(line // 3)
        for field in (self._component, self._severity, self._code):
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
        # Of two rows at first, so that it never asks for more width than a narrow dock has.
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
        self._search.next_wanted.connect(self.next_wanted)
        self._search.previous_wanted.connect(self.previous_wanted)
        self._next.clicked.connect(self.next_wanted)
        self._previous.clicked.connect(self.previous_wanted)
        self._model.changed.connect(self._show_counts)

    def _apply(self) -> None:
        index = self._component.currentIndex()
        self._model.show_only(
            replace(
                LogFilter(),
                component=self._component.currentText() if index > 0 else "",
                at_least=self._severity.currentData(),
                code=self._code.text().strip(),
                text=self._search.text(),
                only_found=self._only.isChecked(),
            )
        )

    def _show_counts(self) -> None:
        self._show_components()
        if self._known_codes.stringList() != self._model.codes:
            self._known_codes.setStringList(self._model.codes)
        none = "No line has these words." if self._search.text() else "Search for something first."
        for button in (self._next, self._previous):
            set_disabled_reason(button, "" if self._model.found_count else none)
        self.show_found(0)

    def _show_components(self) -> None:
        chosen = self._model.filter.component
        names = sorted({*self._model.components, *([chosen] if chosen else [])})
        if names == [self._component.itemText(at) for at in range(1, self._component.count())]:
            return
        self._component.blockSignals(True)  # the choice stays what it is
        self._component.clear()
        self._component.addItem(_ALL_COMPONENTS)
        self._component.addItems(names)
        self._component.setCurrentIndex(names.index(chosen) + 1 if chosen else 0)
        self._component.blockSignals(False)


class _SearchEdit(QLineEdit):
    """Enter goes to the next find, with Shift to the one before; Escape forgets the search."""

    next_wanted = Signal()
    previous_wanted = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.previous_wanted if is_back else self.next_wanted).emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


def _button(name: IconName, text: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    keep_icon(button, name, theme, "muted")
    button.setAccessibleName(text)
    button.setToolTip(text)
    return button
