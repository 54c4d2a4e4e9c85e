"""NumberBox: numbers that stay what they are."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.widgets.forms.number_box import NumberBox, NumberKind, number_in


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("", "int", None),
        ("1,000", "int", 1000),
        ("1e6", "int", 1_000_000),
        ("0.5", "int", 0.5),
        ("3", "float", 3),
        ("2.5e-4", "float", 2.5e-4),
        ("many", "float", "many"),
    ],
)
def test_what_is_typed(text: str, kind: NumberKind, number: object) -> None:
    """Numbers as people write them; anything else stays text."""
    assert number_in(text, kind) == number


def test_a_shown_value_is_not_rounded(qtbot: QtBot) -> None:
    """The screen shows six digits, the value keeps all."""
    box = NumberBox("float")
    qtbot.addWidget(box)
    box.show_value(1 / 3)
    assert box.text() == "0.333333"
    assert box.value == 1 / 3


def test_steps_stay_within_the_limits(qtbot: QtBot) -> None:
    """The arrow keys go by tidy steps, Shift by ten of them, and stop at the ends."""
    box = NumberBox("float", low=0.0, high=1.0)
    qtbot.addWidget(box)
    box.show_value(0.2)
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value == 0.25
    QTest.keyClick(box, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert box.value == 0.0
    whole = NumberBox("int", low=2, high=2**62)
    qtbot.addWidget(whole)
    QTest.keyClick(whole, Qt.Key.Key_Up)
    assert whole.value == 3


def test_scrolling_past_changes_nothing(qtbot: QtBot) -> None:
    """A wheel counts only where the keyboard is."""
    box = NumberBox("int")
    qtbot.addWidget(box)
    box.show_value(5)
    turn = QWheelEvent(
        QPointF(4, 4),
        QPointF(4, 4),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, turn)
    assert box.value == 5
    assert not turn.isAccepted()
