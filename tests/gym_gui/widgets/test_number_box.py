"""NumberBox: parsing, exact values, steps and the wheel."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gym_gui.widgets.forms.number_box import NumberBox, NumberKind, parse_number


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
def test_parse_number(text: str, kind: NumberKind, number: object) -> None:
    """Thousands separators and exponents are accepted; other text is returned unchanged."""
    assert parse_number(text, kind) == number


def test_a_shown_value_is_not_rounded(qtbot: QtBot) -> None:
    """The text has six digits, the value all of them."""
    box = NumberBox("float")
    qtbot.addWidget(box)
    box.show_value(1 / 3)
    assert box.text() == "0.333333"
    assert box.value == 1 / 3


def test_steps_stay_within_the_limits(qtbot: QtBot) -> None:
    """Arrow keys use round steps, Shift ten of them."""
    box = NumberBox("float", minimum=0.0, maximum=1.0)
    qtbot.addWidget(box)
    box.show_value(0.2)
    QTest.keyClick(box, Qt.Key.Key_Up)
    assert box.value == 0.25
    QTest.keyClick(box, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert box.value == 0.0
    integer = NumberBox("int", minimum=2, maximum=2**62)
    qtbot.addWidget(integer)
    QTest.keyClick(integer, Qt.Key.Key_Up)
    assert integer.value == 3


def test_the_wheel_is_ignored_without_focus(qtbot: QtBot) -> None:
    """Scrolling a form must not change its fields."""
    box = NumberBox("int")
    qtbot.addWidget(box)
    box.show_value(5)
    event = QWheelEvent(
        QPointF(4, 4),
        QPointF(4, 4),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)
    assert box.value == 5
    assert not event.isAccepted()
