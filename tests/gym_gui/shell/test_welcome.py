"""Welcome: its cards with mouse and keyboard, at any size."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QPushButton
from pytestqt.qtbot import QtBot

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.shell.view.welcome import Welcome


def test_each_card_emits_its_signal(theme: ThemeModel, qtbot: QtBot) -> None:
    """Space activates each card and the Skip button."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    page.resize(1000, 700)
    page.show()
    buttons = {button.text(): button for button in page.findChildren(QPushButton)}
    for text, signal in (
        ("Play FrozenLake", page.play_requested),
        ("Train an agent", page.train_requested),
        ("Start demo run", page.demo_requested),
        ("Skip", page.dismissed),
    ):
        with qtbot.waitSignal(signal):
            QTest.keyClick(buttons[text], Qt.Key.Key_Space)


def test_show_at_start(theme: ThemeModel, qtbot: QtBot) -> None:
    """Only a change by the user emits the signal."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    emitted: list[bool] = []
    page.show_at_start_changed.connect(emitted.append)
    page.set_show_at_start(False)
    assert emitted == []
    page.findChildren(QCheckBox)[0].click()
    assert emitted == [True]


def test_the_cards_fit_the_page(theme: ThemeModel, qtbot: QtBot) -> None:
    """In a row in a wide page, in a column in a narrow one."""
    page = Welcome(theme)
    qtbot.addWidget(page)
    page.show()
    cards = [button for button in page.findChildren(QPushButton) if button.accessibleDescription()]
    for width in (420, 1400):
        page.resize(width, 700)
        qtbot.waitUntil(lambda: (cards[0].y() == cards[2].y()) == (page.width() > 1000))
        assert all(card.mapTo(page, card.rect().topRight()).x() < page.width() for card in cards)
