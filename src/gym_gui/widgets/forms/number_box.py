"""NumberBox: a number of any size, or none, that keeps exactly what was given or typed."""

from typing import Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QValidator, QWheelEvent
from PySide6.QtWidgets import QAbstractSpinBox, QSizePolicy, QWidget

NumberKind = Literal["int", "float"]
Number = int | float
_FAST = 10


class NumberBox(QAbstractSpinBox):
    """Qt's own boxes hold 32 bits, round decimals, and cannot be empty; this one does neither.

    What is typed and is no number is handed on as text, so that one place says what is wrong.
    """

    changed = Signal()
    """By the person, not by `show_value`."""

    def __init__(
        self,
        kind: NumberKind,
        *,
        low: Number | None = None,
        high: Number | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._kind: NumberKind = kind
        self._low = low
        self._high = high
        self._shown: Number | str | None = None
        self.setAccelerated(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.lineEdit().setAlignment(Qt.AlignmentFlag.AlignRight)
        self.lineEdit().textEdited.connect(lambda _: self.changed.emit())

    @property
    def value(self) -> Number | str | None:
        """None when it is empty; the text when that is no number."""
        text = self.lineEdit().text().strip()
        # The text may be a rounded one: what was given stays what it is until it is edited.
        return self._shown if text == as_text(self._shown) else number_in(text, self._kind)

    def show_value(self, value: Number | str | None) -> None:
        self._shown = value
        self.lineEdit().setText(as_text(value))

    def set_empty_text(self, text: str) -> None:
        """What it means that nothing is typed."""
        self.lineEdit().setPlaceholderText(text)

    # QAbstractSpinBox.

    def stepBy(self, steps: int) -> None:  # noqa: N802 - Qt's name
        value = self.value
        at: Number = value if isinstance(value, int | float) else self._low or 0
        target = at + steps * self._step(at)
        if self._kind == "float":
            target = float(f"{target:.10g}")
        if self._low is not None:
            target = max(target, self._low)
        if self._high is not None:
            target = min(target, self._high)
        self.show_value(int(target) if self._kind == "int" else target)
        self.selectAll()
        self.changed.emit()

    def stepEnabled(self) -> QAbstractSpinBox.StepEnabledFlag:  # noqa: N802 - Qt's name
        value = self.value
        flags = QAbstractSpinBox.StepEnabledFlag.StepNone
        if isinstance(value, str):
            return flags
        if value is None or self._high is None or value < self._high:
            flags |= QAbstractSpinBox.StepEnabledFlag.StepUpEnabled
        if value is None or self._low is None or value > self._low:
            flags |= QAbstractSpinBox.StepEnabledFlag.StepDownEnabled
        return flags

    def validate(self, text: str, at: int) -> tuple[QValidator.State, str, int]:
        return QValidator.State.Acceptable, text, at

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        is_fast = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if is_fast and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepBy(_FAST if event.key() == Qt.Key.Key_Up else -_FAST)
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()  # Who scrolls past must not change it.

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 6, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 4, super().minimumSizeHint().height())

    def _step(self, at: Number) -> Number:
        if self._kind == "int":
            return 1
        if self._low is not None and self._high is not None:
            return _tidy((self._high - self._low) / 20)
        return _tidy(abs(at) / 10) if at else 0.1


def as_text(value: Number | str | None) -> str:
    """As short as it can be read: six digits are enough to see, all are kept."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def number_in(text: str, kind: NumberKind) -> Number | str | None:
    """The number that is meant; the text itself when none is."""
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


def _tidy(step: float) -> float:
    """1, 2 or 5 times a power of ten, not above `step`."""
    power = float(f"1e{f'{step:e}'.partition('e')[2]}")
    return max(factor * power for factor in (1, 2, 5) if factor * power <= step * 1.0001)
