"""UiTicker: ticks only while a listener is busy."""

import sys
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.mailbox import Mailbox


def test_it_stops_when_all_listeners_are_idle(ticker: UiTicker, qtbot: QtBot) -> None:
    """An idle window has no timer."""
    ticker.subscribe(QObject(ticker), lambda: False)

    qtbot.waitUntil(lambda: not ticker.is_ticking)


def test_a_mailbox_wakes_it(ticker: UiTicker, qtbot: QtBot) -> None:
    """Items of a thread reach the listener, also while the ticker is stopped."""
    box: Mailbox[int] = Mailbox(ticker.wake)
    received: list[int] = []

    def drain() -> bool:
        items = box.take()
        received.extend(items)
        return bool(items)

    ticker.subscribe(QObject(ticker), drain)
    qtbot.waitUntil(lambda: not ticker.is_ticking)

    thread = threading.Thread(target=lambda: [box.put(number) for number in range(100)])
    thread.start()

    qtbot.waitUntil(lambda: received == list(range(100)))
    thread.join()


def test_a_full_mailbox_blocks_the_producer(qtbot: QtBot) -> None:
    """No item is dropped."""
    box: Mailbox[int] = Mailbox(lambda: None, capacity=3)
    thread = threading.Thread(target=lambda: [box.put(number) for number in range(10)])
    thread.start()
    received: list[int] = []

    def drain_all() -> bool:
        received.extend(box.take())
        return len(received) == 10

    qtbot.waitUntil(drain_all)

    assert received == list(range(10))
    thread.join()


def test_an_exception_of_one_listener_does_not_affect_others(
    ticker: UiTicker, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is passed to `sys.excepthook`, and the next listener is called."""
    errors: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: errors.append(kind))
    received: list[bool] = []

    def raise_once() -> bool:
        if not errors:
            raise LookupError
        return False

    def listen() -> bool:
        received.append(bool(errors))
        return False

    ticker.subscribe(QObject(ticker), raise_once)
    ticker.subscribe(QObject(ticker), listen)

    qtbot.waitUntil(lambda: bool(received))
    assert received[0]
    assert errors == [LookupError]
