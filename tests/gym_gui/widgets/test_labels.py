"""SteadyLabel: frequent changes of its text cause no layout."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gym_gui.widgets.labels import SteadyLabel


class _LayoutCounter(QObject):
    """Counts layout requests of a widget."""

    count = 0

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.count += event.type() is QEvent.Type.LayoutRequest
        return False


def test_only_a_longer_text_requests_a_layout(qapp: QApplication, qtbot: QtBot) -> None:
    """A text that fits requests none."""
    page, label, layouts = QWidget(), SteadyLabel("0000"), _LayoutCounter()
    QHBoxLayout(page).addWidget(label)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    qapp.processEvents()
    page.installEventFilter(layouts)

    for number in range(50):
        label.setText(str(number))
        qapp.processEvents()
    count_before = layouts.count
    label.setText("1,234,567.89")
    qtbot.waitUntil(lambda: layouts.count > count_before)

    assert count_before == 0
    assert label.width() >= label.fontMetrics().horizontalAdvance("1,234,567.89")
