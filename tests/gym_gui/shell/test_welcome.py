"""Welcome: three things to do, by mouse and keyboard, at any size."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.welcome import Welcome


def test_each_card_and_the_way_past_them(theme: ThemeModel, qtbot: QtBot) -> None:
    """Space on each card, in the order of Tab, tells what was chosen."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    buttons = {button.text(): button for button in page.findChildren(QPushButton)}
    for text, chosen in (
        ("Play FrozenLake", page.play_chosen),
        ("Train an agent", page.train_chosen),
        ("Start the demo run", page.demo_chosen),
        ("Go to the workbench", page.dismissed),
    ):
        with qtbot.waitSignal(chosen):
            QTest.keyClick(buttons[text], Qt.Key.Key_Space)


def test_whether_it_is_shown_at_start(theme: ThemeModel, qtbot: QtBot) -> None:
    """What was kept is not reported back; what the person changes is."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    heard: list[bool] = []
    page.show_at_start_changed.connect(heard.append)
    page.set_show_at_start(False)
    assert heard == []
    page.findChildren(QCheckBox)[0].click()
    assert heard == [True]


def test_the_cards_never_reach_over_the_page(theme: ThemeModel, qtbot: QtBot) -> None:
    """Beside each other in a wide page, below each other in a narrow one, and never cut."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    page.show()
    cards = [button for button in page.findChildren(QPushButton) if button.accessibleDescription()]
    for width in (420, 1400):
        page.resize(width, 700)
        qtbot.waitUntil(lambda: (cards[0].y() == cards[2].y()) == (page.width() > 1000))
        assert all(card.mapTo(page, card.rect().topRight()).x() < page.width() for card in cards)
