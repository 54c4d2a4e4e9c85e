"""SessionLink: the one thread on which a session talks to the daemon.

Whoever asks for something leaves it here and goes on. What is asked is done in order; what the
followers of runs tell is taken in between. After each round the session may announce what changed.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

_log = logging.getLogger(__name__)

MOST_WAITING_ACTIONS = 256
"""A person cannot mean what was pressed so long ago."""


class Rounds(Protocol):
    """What the thread does; all of it is called on the thread."""

    def keep_up(self, now: float) -> float:
        """Do what is due; the reading of `time.monotonic()` at which something is due next."""
        ...

    def announce(self) -> None:
        """Tell what has changed since the last time, if anything has."""
        ...

    def shut(self) -> None:
        """Let go of everything; only `announce` is called once more."""
        ...


class SessionLink:
    """Made by `SessionController`. Any thread may ask."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds = rounds
        self._changed = threading.Condition()
        self._wanted: deque[tuple[Callable[[], None], bool]] = deque()
        self._told: deque[Callable[[], None]] = deque()
        self._actions = 0
        self._asked = 0
        self._done = 0
        self._is_closing = False
        self.is_over = False
        """Closed, and nothing will be carried out or announced any more."""
        self.thread = threading.Thread(target=self._run, name="session", daemon=True)
        self.thread.start()

    @property
    def asked(self) -> int:
        """How much has been asked for."""
        return self._asked

    @property
    def done(self) -> int:
        """How much of that has been carried out."""
        return self._done

    def ask(self, command: Callable[[], None]) -> None:
        """Have `command` carried out after everything that was asked for before."""
        self._put(command, is_action=False)

    def ask_action(self, command: Callable[[], None]) -> bool:
        """The same for an action; False when too many wait already, and this one was dropped."""
        return self._put(command, is_action=True)

    def tell(self, news: Callable[[], None]) -> None:
        """Have `news` taken in before anything else that was asked for."""
        with self._changed:
            self._told.append(news)
            self._changed.notify_all()

    def close(self) -> None:
        """What was asked for before is still carried out, but for actions; then the thread ends."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    def _put(self, command: Callable[[], None], *, is_action: bool) -> bool:
        with self._changed:
            if self._is_closing or (is_action and self._actions >= MOST_WAITING_ACTIONS):
                return False
            self._wanted.append((command, is_action))
            self._actions += is_action
            self._asked += 1
            self._changed.notify_all()
            return True

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            with self._changed:
                if not self._is_closing:
                    self._changed.wait_for(self._has_work, max(0.0, due - time.monotonic()))
                told = list(self._told)
                self._told.clear()
                command = self._next_command()
                if self._is_closing and command is None:
                    break
            for news in told:
                self._guarded(news)
            if command is not None:
                self._guarded(command)
                self._done += 1
            due = self._keep_up()
            self._guarded(self._rounds.announce)
        self._guarded(self._rounds.shut)
        self.is_over = True
        self._guarded(self._rounds.announce)

    def _has_work(self) -> bool:
        return bool(self._wanted or self._told or self._is_closing)

    def _next_command(self) -> Callable[[], None] | None:
        while self._wanted:
            command, is_action = self._wanted.popleft()
            self._actions -= is_action
            if not (is_action and self._is_closing):
                return command
            self._done += 1
        return None

    def _keep_up(self) -> float:
        due = [time.monotonic() + 1.0]
        self._guarded(lambda: due.append(self._rounds.keep_up(time.monotonic())))
        return due[-1]

    def _guarded(self, call: Callable[[], None]) -> None:
        """A bug in one call, or in what a caller hangs onto it, does not end the session."""
        try:
            call()
        except Exception:  # noqa: BLE001 - the edge of the thread
            _log.exception("C212 a session failed to carry something out by a bug")
