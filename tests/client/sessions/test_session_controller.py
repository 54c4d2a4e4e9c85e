"""SessionThread: order, limits, and unexpected exceptions."""

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from mosaic.client.sessions.session_controller import MAX_QUEUED_ACTIONS, SessionThread
from tests.support.daemon import eventually


class RecordingLoop:
    """Records calls."""

    def __init__(self) -> None:
        self.published = 0
        self.is_closed = False

    def attempt(self, command: Callable[[], None], *, is_action: bool) -> None:
        del is_action
        command()

    def run_due_tasks(self, now: float) -> float:
        return now + 60.0

    def publish_state(self) -> None:
        self.published += 1

    def close(self) -> None:
        self.is_closed = True


def _wait_for(answer: threading.Event) -> None:
    assert answer.wait(60)


@pytest.fixture
def loop() -> RecordingLoop:
    return RecordingLoop()


@pytest.fixture
def session_thread(loop: RecordingLoop) -> Iterator[SessionThread]:
    thread = SessionThread(loop)
    yield thread
    thread.close()
    thread.thread.join(60)
    assert not thread.thread.is_alive()
    assert loop.is_closed


def test_commands_run_in_order(session_thread: SessionThread) -> None:
    """Actions, too, because a turn-based environment needs each one."""
    done: list[int] = []
    for number in range(100):
        session_thread.submit(partial(done.append, number), is_action=bool(number % 2))
    eventually(lambda: session_thread.completed == 100)
    assert done == list(range(100))


def test_actions_beyond_the_limit_are_dropped(session_thread: SessionThread) -> None:
    """While the daemon does not answer, the queue is limited, and drops are reported."""
    answered = threading.Event()
    session_thread.submit(partial(_wait_for, answered))
    eventually(lambda: not session_thread._commands)
    done: list[int] = []
    accepted = [
        session_thread.submit(partial(done.append, number), is_action=True)
        for number in range(MAX_QUEUED_ACTIONS + 10)
    ]
    assert accepted == [True] * MAX_QUEUED_ACTIONS + [False] * 10
    answered.set()
    eventually(lambda: len(done) == MAX_QUEUED_ACTIONS)
    assert session_thread.submit(lambda: None, is_action=True)


def test_exception_does_not_end_thread(
    session_thread: SessionThread, loop: RecordingLoop, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged, and later commands run."""
    done: list[int] = []

    def fail() -> None:
        raise ValueError("a bug")

    session_thread.submit(fail)
    session_thread.post_update(fail)
    session_thread.submit(lambda: done.append(1))
    eventually(lambda: done == [1])
    assert caplog.text.count("C212") == 2
    eventually(lambda: loop.published >= 2)


def test_close_runs_queued_commands(loop: RecordingLoop) -> None:
    """Queued commands still run, actions do not; later ones are rejected."""
    session_thread = SessionThread(loop)
    answered = threading.Event()
    done: list[str] = []
    session_thread.submit(partial(_wait_for, answered))
    session_thread.submit(lambda: done.append("action"), is_action=True)
    session_thread.submit(lambda: done.append("stop"))
    session_thread.close()
    assert not session_thread.submit(lambda: done.append("late"), is_action=True)
    answered.set()
    session_thread.thread.join(60)
    assert done == ["stop"]
    assert loop.is_closed
