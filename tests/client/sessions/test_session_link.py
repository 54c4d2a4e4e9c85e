"""The thread of a session: order, limits, and what a bug must not end."""

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from mosaic.client.sessions.session_link import MOST_WAITING_ACTIONS, SessionLink
from tests.support.daemon import eventually


class Rounds:
    """Counts what it is called for."""

    def __init__(self) -> None:
        self.announced = 0
        self.is_shut = False

    def keep_up(self, now: float) -> float:
        return now + 60.0

    def announce(self) -> None:
        self.announced += 1

    def shut(self) -> None:
        self.is_shut = True


def _wait_for(answer: threading.Event) -> None:
    assert answer.wait(60)


@pytest.fixture
def rounds() -> Rounds:
    return Rounds()


@pytest.fixture
def link(rounds: Rounds) -> Iterator[SessionLink]:
    made = SessionLink(rounds)
    yield made
    made.close()
    made.thread.join(60)
    assert not made.thread.is_alive()
    assert rounds.is_shut


def test_what_is_asked_is_done_in_order(link: SessionLink) -> None:
    """Actions too: in a game of turns each of them counts."""
    done: list[int] = []
    for number in range(100):
        ask = link.ask_action if number % 2 else link.ask
        ask(lambda number=number: done.append(number))  # type: ignore[misc] # bound now
    eventually(lambda: link.done == 100)
    assert done == list(range(100))


def test_actions_that_nobody_can_mean_any_more(link: SessionLink) -> None:
    """While the daemon does not answer so many wait, and the caller learns of those beyond."""
    answered = threading.Event()
    link.ask(partial(_wait_for, answered))
    eventually(lambda: not link._wanted)
    done: list[int] = []
    taken = [
        link.ask_action(lambda number=number: done.append(number))  # type: ignore[misc] # bound now
        for number in range(MOST_WAITING_ACTIONS + 10)
    ]
    assert taken == [True] * MOST_WAITING_ACTIONS + [False] * 10
    answered.set()
    eventually(lambda: len(done) == MOST_WAITING_ACTIONS)
    assert link.ask_action(lambda: None)


def test_a_bug_ends_nothing(
    link: SessionLink, rounds: Rounds, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and what was asked after it is done."""
    done: list[int] = []

    def fail() -> None:
        raise ValueError("a bug")

    link.ask(fail)
    link.tell(fail)
    link.ask(lambda: done.append(1))
    eventually(lambda: done == [1])
    assert caplog.text.count("C212") == 2
    eventually(lambda: rounds.announced >= 2)


def test_closing(rounds: Rounds) -> None:
    """Commands that were given are still carried out, actions are not; later ones are refused."""
    link = SessionLink(rounds)
    answered = threading.Event()
    done: list[str] = []
    link.ask(partial(_wait_for, answered))
    link.ask_action(lambda: done.append("action"))
    link.ask(lambda: done.append("stop"))
    link.close()
    assert not link.ask_action(lambda: done.append("late"))
    answered.set()
    link.thread.join(60)
    assert done == ["stop"]
    assert rounds.is_shut
