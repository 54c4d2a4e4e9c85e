"""Building blocks of the settings page: sections, rows, number fields, confirmations."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.settings.model.daemon_fields import DaemonField, Number
from gym_gui.widgets.forms.number_box import NumberBox


class SectionFrame(QFrame):
    """One topic of the settings page: title, description and rows."""

    def __init__(self, title: str, description: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.setAccessibleName(title)
        line = self.fontMetrics().height()
        heading = QLabel(title)
        heading.setProperty("role", "heading")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(line * 3 // 4)
        self._column.addWidget(heading)
        if description:
            label = QLabel(description)
            label.setWordWrap(True)
            label.setProperty("role", "muted")
            self._column.addWidget(label)

    def add(self, row: QWidget | QLayout) -> None:
        if isinstance(row, QWidget):
            self._column.addWidget(row)
        else:
            self._column.addLayout(row)


class ConfirmStrip(QWidget):
    """A button that asks for confirmation in place; Escape and “Cancel” return."""

    confirmed = Signal()

    def __init__(self, text: str, question: str, yes: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = self.fontMetrics().height()
        self.button = QPushButton(text)
        self._question = QLabel(question)
        self._question.setWordWrap(True)
        self._yes = QPushButton(yes)
        self._yes.setProperty("role", "danger")
        self._no = QPushButton("Cancel")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 2)
        for widget in (self.button, self._question, self._yes, self._no):
            layout.addWidget(widget)
        layout.setStretchFactor(self._question, 1)
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._set_confirming(is_confirming=False)
        self.button.clicked.connect(lambda: self._set_confirming(is_confirming=True))
        self._no.clicked.connect(lambda: self._set_confirming(is_confirming=False))
        self._yes.clicked.connect(self._on_yes)

    def set_question(self, question: str) -> None:
        self._question.setText(question)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape and not self._yes.isHidden():
            self._set_confirming(is_confirming=False)
        else:
            super().keyPressEvent(event)

    def _on_yes(self) -> None:
        self._set_confirming(is_confirming=False)
        self.confirmed.emit()

    def _set_confirming(self, *, is_confirming: bool) -> None:
        had_focus = self.isAncestorOf(self.focusWidget() or self)
        self.button.setHidden(is_confirming)
        for widget in (self._question, self._yes, self._no):
            widget.setVisible(is_confirming)
        if had_focus:
            # Focus “Cancel”, so that a second Enter does no harm.
            (self._no if is_confirming else self.button).setFocus()


_LABEL_WIDTH = 9
_EDITOR_WIDTH = 15
"""In font heights."""


class FieldRow(QWidget):
    """Label, editor, help and error. With `fills` the editor uses the full width."""

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
        editor_row = QHBoxLayout()
        editor_row.setSpacing(line // 2)
        editor_row.addWidget(editor)
        if unit:
            editor_row.addWidget(QLabel(unit))
        if not fills:
            editor_row.addStretch()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(line)
        grid.setVerticalSpacing(line // 4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(name, 0, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addLayout(editor_row, 0, 1)
        grid.addWidget(self._problem, 1, 1)
        if help_text:
            help_label = QLabel(help_text)
            help_label.setWordWrap(True)
            help_label.setProperty("role", "caption")
            grid.addWidget(help_label, 2, 1)
            editor.setAccessibleDescription(help_text)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    @property
    def problem(self) -> str:
        return self._problem.text()

    def show_problem(self, problem: str) -> None:
        self._problem.setText(f"✕ {problem}" if problem else "")
        self._problem.setVisible(bool(problem))


class NumberField(FieldRow):
    """A number field; saved on Enter or when it loses the focus."""

    def __init__(self, field: DaemonField, parent: QWidget | None = None) -> None:
        self.box = NumberBox(field.kind, minimum=field.low, maximum=field.high)
        self.box.set_placeholder(field.empty)
        super().__init__(field.label, self.box, field.help, unit=field.unit, parent=parent)
        self.box.setFixedWidth(self.fontMetrics().height() * _EDITOR_WIDTH)
        self.field = field

    def show_value(self, value: Number | None, problem: str) -> None:
        """Show a value, except while the user edits or the input is invalid."""
        self.show_problem(problem)
        if not problem and not self.box.hasFocus() and self.box.value != value:
            self.box.show_value(value)
