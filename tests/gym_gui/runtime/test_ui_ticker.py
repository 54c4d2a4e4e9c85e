"""The pulse beats while there is something to do, and costs nothing otherwise."""

import sys
import threading

import pytest
from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.mailbox import Mailbox


def test_it_rests_when_nobody_has_anything_to_do(pulse: UiTicker, qtbot: QtBot) -> None:
    """An idle window has no timer."""
    pulse.subscribe(QObject(pulse), lambda: False)

    qtbot.waitUntil(lambda: not pulse.is_beating)


def test_a_letter_from_a_thread_wakes_it(pulse: UiTicker, qtbot: QtBot) -> None:
    """What a stream puts into a mailbox reaches the listener, also after a rest."""
    box: Mailbox[int] = Mailbox(pulse.wake)
    seen: list[int] = []

    def look() -> bool:
        items = box.take()
        seen.extend(items)
        return bool(items)

    pulse.subscribe(QObject(pulse), look)
    qtbot.waitUntil(lambda: not pulse.is_beating)

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
    pulse: UiTicker, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
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

    pulse.subscribe(QObject(pulse), break_once)
    pulse.subscribe(QObject(pulse), look)

    qtbot.waitUntil(lambda: bool(seen))
    assert seen[0]
    assert told == [LookupError]
