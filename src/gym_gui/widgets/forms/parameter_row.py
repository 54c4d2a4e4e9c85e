"""ParameterRow: the label, editor, reset button and problem of one parameter."""

import html
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.forms.editors import LongTextEditor, editor_for
from gym_gui.widgets.icons import set_icon
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Problem

EDITOR_EMS = 7.5
_ABBREVIATIONS = {"obs": "observation", "env": "environment", "lr": "learning rate"}


class ParameterRow(QWidget):
    """Label at the left, editor at the right; the editor of a long text is below."""

    changed = Signal()

    def __init__(
        self,
        parameter: Parameter,
        theme: ThemeModel,
        *,
        title: str = "",
        is_long_text: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.parameter = parameter
        self.title = title or parameter.label or label_from_name(parameter.name)
        self._editor = editor_for(parameter, is_long_text=is_long_text)
        self._theme = theme
        has_unit = parameter.unit.lower() in self.title.lower()
        self._label = self.title if has_unit else f"{self.title} ({parameter.unit})"
        self._name = QLabel(self._label)
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        # Created when needed: most rows have none, and a form has many rows.
        self._reset: QToolButton | None = None
        self._problem: QLabel | None = None
        self._grid = QGridLayout(self)
        self._build_layout(isinstance(self._editor, LongTextEditor))
        self._set_tool_tips()
        self._editor.changed.connect(self._on_edited)

    @property
    def value(self) -> Any:
        return self._editor.value

    @property
    def is_default(self) -> bool:
        value, default = self.value, self.parameter.default
        return bool(value == default) and isinstance(value, bool) == isinstance(default, bool)

    def show_value(self, value: Any) -> None:
        self._editor.show_value(value)
        self._update_marker()

    def show_problem(self, problem: Problem | None) -> None:
        text = f"{self.title} {problem.message} {problem.remedy}".strip() if problem else ""
        if self._problem is None:
            if not text:
                return
            self._problem = QLabel()
            self._problem.setWordWrap(True)
            self._problem.setProperty("tone", "bad")
            self._grid.addWidget(self._problem, 2, 0, 1, 3)
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
        self._editor.input.setAccessibleDescription(text or self.parameter.help)

    def matches(self, terms: list[str]) -> bool:
        return matches_search(self.parameter, self.title, terms)

    def insert_in_tab_order(self, previous: QWidget | None) -> QWidget:
        """Insert the row after `previous`; return its last widget in the tab order.

        The editor is moved, not its input: otherwise Tab on the editor would return to the input.
        """
        if previous is not None:
            QWidget.setTabOrder(previous, self._editor)
        if self._reset is None:
            return self._editor
        QWidget.setTabOrder(self._editor, self._reset)
        return self._reset

    def _build_layout(self, is_long_text: bool) -> None:
        em = self.fontMetrics().height()
        layout = self._grid
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(em // 3)
        layout.setVerticalSpacing(em // 4)
        layout.setColumnStretch(0, 1)
        layout.setColumnMinimumWidth(1, self._reset_side)
        layout.addWidget(self._name, 0, 0)
        if is_long_text:
            layout.addWidget(self._editor, 1, 0, 1, 3)
        else:
            self._editor.setFixedWidth(round(em * EDITOR_EMS))
            layout.addWidget(self._editor, 0, 2)
        self._name.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def _reset_side(self) -> int:
        return round(self.fontMetrics().height() * 1.4)

    def _set_tool_tips(self) -> None:
        parameter = self.parameter
        tool_tip = "\n".join(line for line in (parameter.help, _limits(parameter)) if line)
        for widget in (self._name, self._editor):
            widget.setToolTip(tool_tip)
        self._name.setBuddy(self._editor.input)
        self._editor.input.setAccessibleName(self.title)
        self._editor.input.setAccessibleDescription(parameter.help)

    def _create_reset_button(self) -> QToolButton:
        button = QToolButton()
        em = self.fontMetrics().height()
        button.setFixedSize(self._reset_side, self._reset_side)
        button.setIconSize(QSize(em, em))
        set_icon(button, "undo", self._theme, "muted")
        button.setProperty("role", "quiet")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(f"Reset {self.title}")
        button.setToolTip(f"Reset to {_value_text(self.parameter.default)}")
        button.clicked.connect(self._reset_to_default)
        self._theme.changed.connect(self._update_marker)  # the colour of the dot
        self._grid.addWidget(button, 0, 1)
        QWidget.setTabOrder(self._editor, button)
        return button

    def _on_edited(self) -> None:
        self._update_marker()
        self.changed.emit()

    def _reset_to_default(self) -> None:
        self.show_value(self.parameter.default)
        self._editor.setFocus()
        self.changed.emit()

    def _update_marker(self) -> None:
        is_changed = not self.is_default
        if self._reset is None:
            if not is_changed:
                return
            self._reset = self._create_reset_button()
        self._reset.setVisible(is_changed)
        if not is_changed:
            self._name.setTextFormat(Qt.TextFormat.PlainText)
            self._name.setText(self._label)
            return
        # Rich text, because a font of the label would be lost when the style sheet changes.
        dot = f'&nbsp;<span style="color: {self._theme.colours.warning}">●</span>'
        self._name.setTextFormat(Qt.TextFormat.RichText)
        self._name.setText(f"<b>{html.escape(self._label)}</b>{dot}")


def matches_search(parameter: Parameter, title: str, terms: list[str]) -> bool:
    """Whether all terms, in lower case, occur in the texts of the parameter."""
    label = title or parameter.label or label_from_name(parameter.name)
    text = f"{parameter.name} {label} {parameter.group} {parameter.help}".lower()
    return all(term in text for term in terms)


def label_from_name(name: str) -> str:
    """`Slippery` for `is_slippery`."""
    parts = [_ABBREVIATIONS.get(word, word) for word in name.replace("-", "_").split("_") if word]
    if parts[:1] == ["is"] and len(parts) > 1:
        parts = parts[1:]
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


def _limits(parameter: Parameter) -> str:
    low, high = parameter.min, parameter.max
    unit = f" {parameter.unit}" if parameter.unit else ""
    if low is not None and high is not None:
        return f"From {low:,} to {high:,}{unit}. Default {_value_text(parameter.default)}."
    if low is not None:
        return f"{low:,}{unit} or more. Default {_value_text(parameter.default)}."
    if high is not None:
        return f"{high:,}{unit} or less. Default {_value_text(parameter.default)}."
    return f"Default {_value_text(parameter.default)}."


def _value_text(value: Any) -> str:
    if value is None:
        return "worker default"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:.6g}" if isinstance(value, float) else str(value) or "empty"
