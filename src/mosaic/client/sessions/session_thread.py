"""SessionThread: the thread on which a session talks to the daemon.

Callers queue commands and return immediately. Commands run in order; updates of the followed runs
run in between. After each iteration the session publishes its state if it has changed.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

_log = logging.getLogger(__name__)

MAX_QUEUED_ACTIONS = 256
"""Older key presses are no longer what the player intends."""


class SessionLoop(Protocol):
    """What the thread calls, on the thread only."""

    def attempt(self, command: Callable[[], None], *, is_action: bool) -> None:
        """Run a command; a `UserError` becomes part of the state."""
        ...

    def run_due_tasks(self, now: float) -> float:
        """Run what is due; return the value of `time.monotonic()` at which more is due."""
        ...

    def publish_state(self) -> None:
        """Publish the state if it has changed."""
        ...

    def close(self) -> None:
        """Release everything; only `publish_state` is called once more."""
        ...


class SessionThread:
    """Created by `SessionController`, started on construction. Thread-safe."""

    def __init__(self, loop: SessionLoop) -> None:
        self._loop = loop
        self._changed = threading.Condition()
        self._commands: deque[tuple[Callable[[], None], bool]] = deque()
        self._updates: deque[Callable[[], None]] = deque()
        self._queued_actions = 0
        self._submitted = 0
        self._completed = 0
        self._is_closing = False
        self.is_finished = False
        """Closed: no command runs and no state is published."""
        self.thread = threading.Thread(target=self._run, name="session", daemon=True)
        self.thread.start()

    @property
    def submitted(self) -> int:
        """Number of commands that were submitted."""
        return self._submitted

    @property
    def completed(self) -> int:
        """Number of commands that were completed."""
        return self._completed

    def submit(self, command: Callable[[], None], *, is_action: bool = False) -> bool:
        """Queue `command` after all commands submitted so far.

        Return False if it was dropped: the thread is closing, or too many actions are queued.
        """
        with self._changed:
            if self._is_closing or (is_action and self._queued_actions >= MAX_QUEUED_ACTIONS):
                return False
            self._commands.append((command, is_action))
            self._queued_actions += is_action
            self._submitted += 1
            self._changed.notify_all()
            return True

    def post_update(self, update: Callable[[], None]) -> None:
        """Run `update` before all queued commands."""
        with self._changed:
            self._updates.append(update)
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread after all queued commands; queued actions are dropped."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            with self._changed:
                if not self._is_closing:
                    self._changed.wait_for(self._has_work, max(0.0, due - time.monotonic()))
                updates = list(self._updates)
                self._updates.clear()
                if self._is_closing:
                    self._drop_actions()
                    if not self._commands:
                        break
                command, is_action = self._commands.popleft() if self._commands else (None, False)
                self._queued_actions -= is_action
            for update in updates:
                self._run_guarded(update)
            if command is not None:
                try:
                    self._loop.attempt(command, is_action=is_action)
                except Exception:  # noqa: BLE001 - thread boundary
                    _report_bug()
                self._completed += 1
            due = self._run_due_tasks()
            self._run_guarded(self._loop.publish_state)
        self._run_guarded(self._loop.close)
        self.is_finished = True
        self._run_guarded(self._loop.publish_state)

    def _has_work(self) -> bool:
        return bool(self._commands or self._updates or self._is_closing)

    def _drop_actions(self) -> None:
        kept = [queued for queued in self._commands if not queued[1]]
        self._completed += len(self._commands) - len(kept)
        self._commands = deque(kept)
        self._queued_actions = 0

    def _run_due_tasks(self) -> float:
        due = [time.monotonic() + 1.0]
        self._run_guarded(lambda: due.append(self._loop.run_due_tasks(time.monotonic())))
        return due[-1]

    def _run_guarded(self, call: Callable[[], None]) -> None:
        """Log an unexpected exception of `call`, so that it does not end the session."""
        try:
            call()
        except Exception:  # noqa: BLE001 - thread boundary
            _report_bug()


def _report_bug() -> None:
    _log.exception("C212 a session command failed unexpectedly")
