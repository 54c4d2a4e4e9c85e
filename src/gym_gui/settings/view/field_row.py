"""FieldRow: a label, something to set, what it means, and what is wrong with it, side by side."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from gym_gui.settings.model.daemon_fields import DaemonField, Number
from gym_gui.widgets.forms.number_box import NumberBox

_LABEL_WIDTH = 9
_EDITOR_WIDTH = 15
"""In font heights."""


class FieldRow(QWidget):
    """The label belongs to `editor` for screen readers too. One that `fills` takes all the room."""

    def __init__(
        self,
        label: str,
        editor: QWidget,
        help_text: str = "",
        *,
        unit: str = "",
        fills: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        name = QLabel(label)
        name.setBuddy(editor)
        name.setFixedWidth(line * _LABEL_WIDTH)
        name.setWordWrap(True)
        if not editor.accessibleName():
            editor.setAccessibleName(label)
        self._problem = QLabel()
        self._problem.setWordWrap(True)
        self._problem.setProperty("tone", "bad")
        self._problem.hide()
        beside = QHBoxLayout()
        beside.setSpacing(line // 2)
        beside.addWidget(editor)
        if unit:
            beside.addWidget(QLabel(unit))
        if not fills:
            beside.addStretch()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(name, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addLayout(beside, 0, 1)
        grid.addWidget(self._problem, 1, 1)
        if help_text:
            words = QLabel(help_text)
            words.setWordWrap(True)
            words.setProperty("role", "caption")
            grid.addWidget(words, 2, 1)
            editor.setAccessibleDescription(help_text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    @property
    def problem(self) -> str:
        return self._problem.text()

    def show_problem(self, problem: str) -> None:
        self._problem.setText(f"✕ {problem}" if problem else "")
        self._problem.setVisible(bool(problem))


class NumberField(FieldRow):
    """A number that is saved when it was typed: with Enter, or by going elsewhere."""

    def __init__(self, field: DaemonField, parent: QWidget | None = None) -> None:
        self.box = NumberBox(field.kind, low=field.low, high=field.high)
        self.box.set_empty_text(field.empty)
        super().__init__(field.label, self.box, field.help, unit=field.unit, parent=parent)
        self.box.setFixedWidth(self.fontMetrics().height() * _EDITOR_WIDTH)
        self.field = field

    def show_value(self, value: Number | None, problem: str) -> None:
        """What is being typed, or was refused, stays."""
        self.show_problem(problem)
        if not problem and not self.box.hasFocus() and self.box.value != value:
            self.box.show_value(value)
