"""The list of episodes beside a replay."""

from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QScrollBar
from pytestqt.qtbot import QtBot

from gym_gui.replay.view.episodes_panel import _EpisodeTable


def test_the_chosen_episode_stays_in_sight_when_the_list_gets_shorter(qtbot: QtBot) -> None:
    """What stands below it appears only once the episode is known; who scrolled away stays away."""
    model = QStandardItemModel()
    table = _EpisodeTable()
    table.setModel(model)
    qtbot.addWidget(table)
    table.resize(200, 600)
    table.show()
    for number in range(100):
        model.appendRow(QStandardItem(str(number)))
    chosen = model.index(60, 0)
    table.setCurrentIndex(chosen)
    table.bring_into_sight(chosen)

    def is_seen() -> bool:
        return table.viewport().rect().contains(table.visualRect(chosen))

    qtbot.waitUntil(is_seen)
    table.resize(200, 200)
    qtbot.waitUntil(is_seen)
    bar = table.verticalScrollBar()
    bar.triggerAction(QScrollBar.SliderAction.SliderToMinimum)
    with qtbot.waitSignal(bar.rangeChanged):
        table.resize(200, 150)
    assert bar.value() == 0
