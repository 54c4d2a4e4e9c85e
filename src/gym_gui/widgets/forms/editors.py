"""Editors: one widget per type of parameter, with a common interface."""

import json
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.widgets.forms.number_box import NumberBox, NumberKind
from mosaic.contract.parameters import Parameter

_DEFAULT_TEXT = "default"
_MIN_LINES, _MAX_LINES = 4, 10


class Editor(QWidget):
    """Edits one value; `input` is the widget with the keyboard focus."""

    changed = Signal()
    """The user edited the value; not emitted by `show_value`."""

    def __init__(self, field: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.input = field
        self.setFocusProxy(field)
        self.setFocusPolicy(field.focusPolicy())  # otherwise Tab skips it
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(field)

    @property
    def value(self) -> Any:
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        raise NotImplementedError


class NumberEditor(Editor):
    def __init__(self, parameter: Parameter) -> None:
        kind: NumberKind = "int" if parameter.type == "int" else "float"
        box = NumberBox(kind, minimum=parameter.min, maximum=parameter.max)
        box.set_placeholder(_DEFAULT_TEXT)
        super().__init__(box)
        self._box = box
        box.changed.connect(self.changed)

    @property
    def value(self) -> Any:
        return self._box.value

    def show_value(self, value: Any) -> None:
        is_plain = value is None or isinstance(value, int | float | str)
        self._box.show_value(value if is_plain else json.dumps(value))


class SwitchEditor(Editor):
    """A check box with the text `on` or `off`."""

    def __init__(self, _parameter: Parameter) -> None:
        box = QCheckBox()
        super().__init__(box)
        self._box = box
        box.clicked.connect(lambda _: self.changed.emit())
        box.toggled.connect(self._update_text)
        self._update_text(False)

    @property
    def value(self) -> Any:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(value is True)

    def _update_text(self, is_on: bool) -> None:
        self._box.setText("on" if is_on else "off")


class OptionalSwitchEditor(Editor):
    """`on`, `off` or the default."""

    def __init__(self, _parameter: Parameter) -> None:
        combo = _combo([(_DEFAULT_TEXT, None), ("on", True), ("off", False)])
        super().__init__(combo)
        self._combo = combo
        combo.activated.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Any:
        return self._combo.currentData()

    def show_value(self, value: Any) -> None:
        self._combo.setCurrentIndex({None: 0, True: 1, False: 2}.get(value, 0))


class ChoiceEditor(Editor):
    def __init__(self, parameter: Parameter) -> None:
        self._values: list[Any] = list(parameter.choices)
        if parameter.default is None:
            self._values.insert(0, None)
        combo = _combo([(_choice_text(value), value) for value in self._values])
        super().__init__(combo)
        self._combo = combo
        combo.activated.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Any:
        index = self._combo.currentIndex()
        return self._values[index] if 0 <= index < len(self._values) else None

    def show_value(self, value: Any) -> None:
        index = next((i for i, choice in enumerate(self._values) if choice == value), -1)
        self._combo.setCurrentIndex(index)


class TextEditor(Editor):
    def __init__(self, parameter: Parameter) -> None:
        line = QLineEdit()
        line.setPlaceholderText(_DEFAULT_TEXT if parameter.default is None else "")
        super().__init__(line)
        self._line = line
        self._is_optional = parameter.default is None
        line.textEdited.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Any:
        text = self._line.text()
        return None if self._is_optional and not text else text

    def show_value(self, value: Any) -> None:
        self._line.setText("" if value is None else str(value))
        self._line.setCursorPosition(0)


class LongTextEditor(Editor):
    """Several lines in a fixed-width font, for maps and prompts."""

    def __init__(self, parameter: Parameter) -> None:
        text_edit = _GrowingTextEdit()
        text_edit.setPlaceholderText(parameter.help)
        super().__init__(text_edit)
        self._text_edit = text_edit
        self._is_optional = parameter.default is None
        self._is_updating = False
        text_edit.textChanged.connect(self._on_text_changed)

    @property
    def value(self) -> Any:
        text = self._text_edit.toPlainText()
        return None if self._is_optional and not text.strip() else text

    def show_value(self, value: Any) -> None:
        self._is_updating = True
        self._text_edit.setPlainText("" if value is None else str(value))
        self._is_updating = False

    def _on_text_changed(self) -> None:
        if not self._is_updating:
            self.changed.emit()


class _GrowingTextEdit(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setTabChangesFocus(True)
        self.blockCountChanged.connect(lambda _: self.updateGeometry())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().lineSpacing()
        lines = max(_MIN_LINES, min(self.blockCount(), _MAX_LINES))
        return QSize(line * 8, line * lines + line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 6, self.sizeHint().height())


def editor_for(parameter: Parameter, *, is_long_text: bool = False) -> Editor:
    """Create the editor for the type of `parameter`."""
    match parameter.type:
        case "int" | "float":
            return NumberEditor(parameter)
        case "bool":
            is_optional = parameter.default is None
            return OptionalSwitchEditor(parameter) if is_optional else SwitchEditor(parameter)
        case "choice":
            return ChoiceEditor(parameter)
        case _:
            return LongTextEditor(parameter) if is_long_text else TextEditor(parameter)


def _combo(options: Sequence[tuple[str, Any]]) -> QComboBox:
    combo = QComboBox()
    for text, value in options:
        combo.addItem(text, value)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(4)
    combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    ignore_wheel_without_focus(combo)
    return combo


def ignore_wheel_without_focus(combo: QComboBox) -> None:
    """Scrolling a form must not change a combo box below the pointer."""
    combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    combo.installEventFilter(_WheelFilter(combo))


class _WheelFilter(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_wheel = event.type() == QEvent.Type.Wheel
        if is_wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def _choice_text(value: Any) -> str:
    if value is None:
        return _DEFAULT_TEXT
    return value if isinstance(value, str) else json.dumps(value)
