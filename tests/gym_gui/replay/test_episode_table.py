"""The episode table of the Replay tab."""

from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QScrollBar
from pytestqt.qtbot import QtBot

from gym_gui.replay.view.episodes_panel import _EpisodeTable


def test_the_selected_episode_stays_visible_when_the_table_shrinks(qtbot: QtBot) -> None:
    """Until the user scrolls."""
    model = QStandardItemModel()
    table = _EpisodeTable()
    table.setModel(model)
    qtbot.addWidget(table)
    table.resize(200, 600)
    table.show()
    for number in range(100):
        model.appendRow(QStandardItem(str(number)))
    selected = model.index(60, 0)
    table.setCurrentIndex(selected)
    table.scroll_to_selected(selected)

    def is_visible() -> bool:
        return table.viewport().rect().contains(table.visualRect(selected))

    qtbot.waitUntil(is_visible)
    table.resize(200, 200)
    qtbot.waitUntil(is_visible)
    bar = table.verticalScrollBar()
    bar.triggerAction(QScrollBar.SliderAction.SliderToMinimum)
    with qtbot.waitSignal(bar.rangeChanged):
        table.resize(200, 150)
    assert bar.value() == 0
