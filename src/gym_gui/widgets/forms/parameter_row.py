"""ParameterRow: one parameter: its name, its editor, the way back to its default, what is wrong."""

import html
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QToolButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.forms.editors import LongTextEditor, editor_for
from gym_gui.widgets.icons import keep_icon
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Problem

EDITOR_EMS = 7.5
_WORDS = {"obs": "observation", "env": "environment", "lr": "learning rate"}


class ParameterRow(QWidget):
    """The name at the left, the editor at the right; text of several lines has a line below."""

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
        self.title = title or parameter.label or title_of(parameter.name)
        self._editor = editor_for(parameter, is_long_text=is_long_text)
        self._theme = theme
        is_said = parameter.unit.lower() in self.title.lower()
        self._label = self.title if is_said else f"{self.title} ({parameter.unit})"
        self._name = QLabel(self._label)
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        # Most rows never need these two, and a form has many rows.
        self._back: QToolButton | None = None
        self._problem: QLabel | None = None
        self._grid = QGridLayout(self)
        self._lay_out(isinstance(self._editor, LongTextEditor))
        self._explain()
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
        self._mark()

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

    def matches(self, words: list[str]) -> bool:
        return has_words(self.parameter, self.title, words)

    def follow_in_tab_order(self, before: QWidget | None) -> QWidget:
        """Tab leads here from `before`, which may be nothing; returns what it leads on from.

        The whole editor moves: left behind, it would lead back to its input from wherever it is.
        """
        if before is not None:
            QWidget.setTabOrder(before, self._editor)
        if self._back is None:
            return self._editor
        QWidget.setTabOrder(self._editor, self._back)
        return self._back

    def _lay_out(self, is_tall: bool) -> None:
        em = self.fontMetrics().height()
        layout = self._grid
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(em // 3)
        layout.setVerticalSpacing(em // 4)
        layout.setColumnStretch(0, 1)
        layout.setColumnMinimumWidth(1, self._back_side)
        layout.addWidget(self._name, 0, 0)
        if is_tall:
            layout.addWidget(self._editor, 1, 0, 1, 3)
        else:
            self._editor.setFixedWidth(round(em * EDITOR_EMS))
            layout.addWidget(self._editor, 0, 2)
        self._name.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    @property
    def _back_side(self) -> int:
        return round(self.fontMetrics().height() * 1.4)

    def _explain(self) -> None:
        parameter = self.parameter
        told = "\n".join(part for part in (parameter.help, _limits(parameter)) if part)
        for widget in (self._name, self._editor):
            widget.setToolTip(told)
        self._name.setBuddy(self._editor.input)
        self._editor.input.setAccessibleName(self.title)
        self._editor.input.setAccessibleDescription(parameter.help)

    def _way_back(self) -> QToolButton:
        back = QToolButton()
        em = self.fontMetrics().height()
        back.setFixedSize(self._back_side, self._back_side)
        back.setIconSize(QSize(em, em))
        keep_icon(back, "undo", self._theme, "muted")
        back.setProperty("role", "quiet")
        back.setCursor(Qt.CursorShape.PointingHandCursor)
        back.setAccessibleName(f"Reset {self.title}")
        back.setToolTip(f"Back to {_value_text(self.parameter.default)}")
        back.clicked.connect(self._go_back)
        self._theme.changed.connect(self._mark)  # the dot has a colour of its own
        self._grid.addWidget(back, 0, 1)
        QWidget.setTabOrder(self._editor, back)
        return back

    def _on_edited(self) -> None:
        self._mark()
        self.changed.emit()

    def _go_back(self) -> None:
        self.show_value(self.parameter.default)
        self._editor.setFocus()
        self.changed.emit()

    def _mark(self) -> None:
        is_changed = not self.is_default
        if self._back is None:
            if not is_changed:
                return
            self._back = self._way_back()
        self._back.setVisible(is_changed)
        if not is_changed:
            self._name.setTextFormat(Qt.TextFormat.PlainText)
            self._name.setText(self._label)
            return
        # A font of its own would be lost when the style sheet changes with the theme.
        dot = f'&nbsp;<span style="color: {self._theme.colours.warning}">●</span>'
        self._name.setTextFormat(Qt.TextFormat.RichText)
        self._name.setText(f"<b>{html.escape(self._label)}</b>{dot}")


def has_words(parameter: Parameter, title: str, words: list[str]) -> bool:
    """Whether a search for the words finds the parameter; they are in small letters."""
    called = title or parameter.label or title_of(parameter.name)
    told = f"{parameter.name} {called} {parameter.group}"
    return all(word in f"{told} {parameter.help}".lower() for word in words)


def title_of(name: str) -> str:
    """`is_slippery` as people write it."""
    words = [_WORDS.get(word, word) for word in name.replace("-", "_").split("_") if word]
    if words[:1] == ["is"] and len(words) > 1:
        words = words[1:]
    text = " ".join(words)
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
