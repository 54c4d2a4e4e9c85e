"""A number that changes leaves its surroundings alone."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.widgets.steady_label import SteadyLabel


class _Layouts(QObject):
    """Counts how often a widget is laid out anew."""

    count = 0

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


def test_another_number_asks_for_no_layout_and_a_longer_one_gets_room(
    qapp: QApplication, qtbot: QtBot
) -> None:
    """The window is laid out once for a longer text, and never for one that fits."""
    page, label, layouts = QWidget(), SteadyLabel("0000"), _Layouts()
    QHBoxLayout(page).addWidget(label)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    qapp.processEvents()
    page.installEventFilter(layouts)

    for number in range(50):
        label.setText(str(number))
        qapp.processEvents()
    fitting = layouts.count
    label.setText("1,234,567.89")
    qtbot.waitUntil(lambda: layouts.count > fitting)

    assert fitting == 0
    assert label.width() >= label.fontMetrics().horizontalAdvance("1,234,567.89")
