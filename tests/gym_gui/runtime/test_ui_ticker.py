"""The ticker beats while there is something to do, and costs nothing otherwise."""

import sys
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.mailbox import Mailbox


def test_it_rests_when_nobody_has_anything_to_do(ticker: UiTicker, qtbot: QtBot) -> None:
    """An idle window has no timer."""
    ticker.subscribe(QObject(ticker), lambda: False)

    qtbot.waitUntil(lambda: not ticker.is_ticking)


def test_a_letter_from_a_thread_wakes_it(ticker: UiTicker, qtbot: QtBot) -> None:
    """What a stream puts into a mailbox reaches the listener, also after a rest."""
    box: Mailbox[int] = Mailbox(ticker.wake)
    seen: list[int] = []

    def look() -> bool:
        items = box.take()
        seen.extend(items)
        return bool(items)

    ticker.subscribe(QObject(ticker), look)
    qtbot.waitUntil(lambda: not ticker.is_ticking)

    thread = threading.Thread(target=lambda: [box.put(number) for number in range(100)])
    thread.start()

    qtbot.waitUntil(lambda: seen == list(range(100)))
    thread.join()


def test_a_full_mailbox_waits_instead_of_losing(qtbot: QtBot) -> None:
    """Nothing is dropped: the putting thread stands still until there is room."""
    box: Mailbox[int] = Mailbox(lambda: None, capacity=3)
    thread = threading.Thread(target=lambda: [box.put(number) for number in range(10)])
    thread.start()
    seen: list[int] = []

    def take() -> bool:
        seen.extend(box.take())
        return len(seen) == 10

    qtbot.waitUntil(take)

    assert seen == list(range(10))
    thread.join()


def test_a_bug_of_one_listener_is_told_and_keeps_nobody_else_waiting(
    ticker: UiTicker, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes after it in the list is still called."""
    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: told.append(kind))
    seen: list[bool] = []

    def break_once() -> bool:
        if not told:
            raise LookupError
        return False

    def look() -> bool:
        seen.append(bool(told))
        return False

    ticker.subscribe(QObject(ticker), break_once)
    ticker.subscribe(QObject(ticker), look)

    qtbot.waitUntil(lambda: bool(seen))
    assert seen[0]
    assert told == [LookupError]
