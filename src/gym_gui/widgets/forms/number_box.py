"""NumberBox: a spin box for integers and floats of any size, which can be empty."""

from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QSizePolicy, QWidget

NumberKind = Literal["int", "float"]
Number = int | float
_SHIFT_STEPS = 10


class NumberBox(QAbstractSpinBox):
    """Qt's spin boxes are limited to 32 bits, round decimals and cannot be empty.

    Text that is not a number is returned as text, so that the validation can report it.
    """

    changed = Signal()
    """The user edited the value; not emitted by `show_value`."""

    def __init__(
        self,
        kind: NumberKind,
        *,
        minimum: Number | None = None,
        maximum: Number | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._kind: NumberKind = kind
        self._minimum = minimum
        self._maximum = maximum
        self._set_value: Number | str | None = None
        self.setAccelerated(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.lineEdit().setAlignment(Qt.AlignmentFlag.AlignRight)
        self.lineEdit().textEdited.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Number | str | None:
        """None if empty; the text if it is not a number."""
        text = self.lineEdit().text().strip()
        # The text may be rounded: the exact value is returned until the text is edited.
        return (
            self._set_value
            if text == format_number(self._set_value)
            else parse_number(text, self._kind)
        )

    def show_value(self, value: Number | str | None) -> None:
        self._set_value = value
        self.lineEdit().setText(format_number(value))

    def set_placeholder(self, text: str) -> None:
        """Set the text that is shown while the box is empty."""
        self.lineEdit().setPlaceholderText(text)

    # QAbstractSpinBox.

    def stepBy(self, steps: int) -> None:  # noqa: N802 - Qt's name
        value = self.value
        start: Number = value if isinstance(value, int | float) else self._minimum or 0
        target = start + steps * self._step(start)
        if self._kind == "float":
            target = float(f"{target:.10g}")
        if self._minimum is not None:
            target = max(target, self._minimum)
        if self._maximum is not None:
            target = min(target, self._maximum)
        self.show_value(int(target) if self._kind == "int" else target)
        self.selectAll()
        self.changed.emit()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:  # noqa: N802 - Qt's name
        value = self.value
        flags = QAbstractSpinBox.StepEnabledFlag.StepNone
        if isinstance(value, str):
            return flags
        if value is None or self._maximum is None or value < self._maximum:
            flags |= QAbstractSpinBox.StepEnabledFlag.StepUpEnabled
        if value is None or self._minimum is None or value > self._minimum:
            flags |= QAbstractSpinBox.StepEnabledFlag.StepDownEnabled
        return flags

    def validate(self, text: str, position: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, position

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if has_shift and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepBy(_SHIFT_STEPS if event.key() == Qt.Key.Key_Up else -_SHIFT_STEPS)
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # scrolling a form must not change the box

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 6, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 4, super().minimumSizeHint().height())

    def _step(self, value: Number) -> Number:
        if self._kind == "int":
            return 1
        if self._minimum is not None and self._maximum is not None:
            return _round_step((self._maximum - self._minimum) / 20)
        return _round_step(abs(value) / 10) if value else 0.1


def format_number(value: Number | str | None) -> str:
    """With at most six significant digits."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parse_number(text: str, kind: NumberKind) -> Number | str | None:
    """Parse a number; return the text if it is not one, and None if it is empty."""
    if not text:
        return None
    plain = text.replace(",", "").replace("\N{NARROW NO-BREAK SPACE}", "")
    try:
        return int(plain)
    except ValueError:
        pass
    try:
        number = float(plain)
    except ValueError:
        return text
    return int(number) if kind == "int" and number.is_integer() else number


def _round_step(step: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is at most `step`."""
    power = float(f"1e{f'{step:e}'.partition('e')[2]}")
    return max(factor * power for factor in (1, 2, 5) if factor * power <= step * 1.0001)
