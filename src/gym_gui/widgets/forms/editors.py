"""Editors: the widget with which a parameter of each type is set, all with the same few methods."""

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

_NOT_SET = "default"
_FEWEST_LINES, _MAX_LINES = 4, 10


class Editor(QWidget):
    """Holds one value; `input` is the widget that takes the keyboard."""

    changed = Signal()
    """By the person, not by `show_value`."""

    def __init__(self, field: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.input = field
        self.setFocusProxy(field)
        self.setFocusPolicy(field.focusPolicy())  # else Tab order knows nothing of it
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
        box = NumberBox(kind, low=parameter.min, high=parameter.max)
        box.set_empty_text(_NOT_SET)
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
    """On or off, and says which."""

    def __init__(self, _parameter: Parameter) -> None:
        box = QCheckBox()
        super().__init__(box)
        self._box = box
        box.clicked.connect(lambda _: self.changed.emit())
        box.toggled.connect(self._say)
        self._say(False)

    @property
    def value(self) -> Any:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(value is True)

    def _say(self, is_on: bool) -> None:
        self._box.setText("on" if is_on else "off")


class OptionalSwitchEditor(Editor):
    """On, off, or as whoever takes it decides."""

    def __init__(self, _parameter: Parameter) -> None:
        combo = _combo([(_NOT_SET, None), ("on", True), ("off", False)])
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
        combo = _combo([(_choice_text(each), each) for each in self._values])
        super().__init__(combo)
        self._combo = combo
        combo.activated.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Any:
        at = self._combo.currentIndex()
        return self._values[at] if 0 <= at < len(self._values) else None

    def show_value(self, value: Any) -> None:
        at = next((at for at, each in enumerate(self._values) if each == value), -1)
        self._combo.setCurrentIndex(at)


class TextEditor(Editor):
    def __init__(self, parameter: Parameter) -> None:
        line = QLineEdit()
        line.setPlaceholderText(_NOT_SET if parameter.default is None else "")
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
    """Several lines in letters of one width, for maps and prompts."""

    def __init__(self, parameter: Parameter) -> None:
        page = _Page()
        page.setPlaceholderText(parameter.help)
        super().__init__(page)
        self._page = page
        self._is_optional = parameter.default is None
        self._is_showing = False
        page.textChanged.connect(self._on_text_changed)

    @property
    def value(self) -> Any:
        text = self._page.toPlainText()
        return None if self._is_optional and not text.strip() else text

    def show_value(self, value: Any) -> None:
        self._is_showing = True
        self._page.setPlainText("" if value is None else str(value))
        self._is_showing = False

    def _on_text_changed(self) -> None:
        if not self._is_showing:
            self.changed.emit()


class _Page(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.setTabChangesFocus(True)
        self.blockCountChanged.connect(lambda _: self.updateGeometry())
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        line = self.fontMetrics().lineSpacing()
        lines = max(_FEWEST_LINES, min(self.blockCount(), _MAX_LINES))
        return QSize(line * 8, line * lines + line)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 6, self.sizeHint().height())


def editor_for(parameter: Parameter, *, is_long_text: bool = False) -> Editor:
    """The editor of a parameter's type."""
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
    leave_wheel_alone(combo)
    return combo


def leave_wheel_alone(combo: QComboBox) -> None:
    """Who scrolls past a combo must not change it."""
    combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    combo.installEventFilter(_WheelGuard(combo))


class _WheelGuard(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_wheel = event.type() == QEvent.Type.Wheel
        if is_wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def _choice_text(value: Any) -> str:
    if value is None:
        return _NOT_SET
    return value if isinstance(value, str) else json.dumps(value)
