"""FilePoller: polls files on one thread, at a limited rate.

For files that other processes write without notification. The thread starts with the first target
and sleeps while there is none.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from mosaic.client.mailbox import Mailbox
from mosaic.contract.errors import UserError

Target = TypeVar("Target")
Value = TypeVar("Value")

_log = logging.getLogger(__name__)
_BROKEN = "C398"
"""Polling a file failed because of a bug; the log has the traceback."""
_PAUSE_PER_WORK = 4.0
"""The pause after a successful poll, as a multiple of its duration. After a failed poll it is 1."""


@dataclass(frozen=True, slots=True)
class PollResult(Generic[Target, Value]):
    """The result of one poll of `target`: a value or an error."""

    target: Target
    value: Value | None = None
    error: UserError | None = None


class FilePoller(Generic[Target, Value]):
    """All methods are for the UI thread and do not wait."""

    def __init__(
        self,
        name: str,
        open_target: Callable[[Target], Callable[[], Value | None]],
        wake: Callable[[], None],
        pace_s: float = 1.5,
    ) -> None:
        """`open_target` is called on the thread and returns the poll function of a target, which
        returns None while nothing has changed."""
        self._name = name
        self._open = open_target
        self._pace_s = pace_s
        self._box: Mailbox[PollResult[Target, Value]] = Mailbox(wake)
        self._changed = threading.Condition()
        self._target: Target | None = None
        self._latest: Target | None = None
        """The last target, also while polling is suspended."""
        self._number = 0
        """Counts targets and restarts."""
        self._is_live = False
        self._is_due = False
        self._is_idle = False
        """The target is not live and has been read completely."""
        self._is_closed = False
        self.thread: threading.Thread | None = None

    def watch(self, target: Target | None, *, is_live: bool = True) -> None:
        """Poll this target, starting now. None suspends polling.

        The same target continues where it was. A target that is not live is polled until
        nothing has changed.
        """
        with self._changed:
            self._target = target
            if target is not None and target != self._latest:
                self._latest = target
                self._number += 1
            self._is_live = is_live
            self._is_idle = False
            self._is_due = target is not None
            self._changed.notify_all()
        if self.thread is None and target is not None and not self._is_closed:
            self.thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self.thread.start()

    def poll_now(self) -> None:
        """Poll without waiting for the interval."""
        with self._changed:
            self._is_idle = False
            self._is_due = self._target is not None
            self._changed.notify_all()

    def restart(self) -> None:
        """Report everything again, including errors."""
        with self._changed:
            self._number += 1
        self.poll_now()

    def drain(self) -> list[PollResult[Target, Value]]:
        """Results since the last call."""
        return self._box.take()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._box.close()

    def join(self, timeout_s: float) -> bool:
        """After `close`: whether the thread has ended."""
        if self.thread is None:
            return True
        self.thread.join(timeout_s)
        return not self.thread.is_alive()

    def _run(self) -> None:
        """On the thread."""
        number = -1
        poll: Callable[[], Value | None] | None = None
        last_error = ""
        pause_s = self._pace_s
        while True:
            with self._changed:
                self._wait(pause_s)
                if self._is_closed:
                    return
                target, is_new = self._target, number != self._number
                number = self._number
                self._is_due = False
            if target is None:
                continue
            started, per_work = time.monotonic(), 1.0
            try:
                if is_new:
                    poll, last_error = None, ""
                if poll is None:
                    poll = self._open(target)
                value = poll()
            except UserError as error:
                if str(error) != last_error:  # once, not with every poll
                    last_error = str(error)
                    self._box.put(PollResult(target, error=error))
            except Exception as error:  # noqa: BLE001 - the edge of the thread
                poll = None
                problem = _bug_error(error)
                if str(problem) != last_error:
                    last_error = str(problem)
                    _log.exception("%s polling %s failed because of a bug", _BROKEN, target)
                    self._box.put(PollResult(target, error=problem))
            else:
                per_work = _PAUSE_PER_WORK
                if value is not None:
                    last_error = ""
                    self._box.put(PollResult(target, value))
                else:
                    self._is_idle = not self._is_live
            pause_s = max(self._pace_s, per_work * (time.monotonic() - started))

    def _wait(self, pause_s: float) -> None:
        """Until the next poll is due, or the poller is closed."""
        deadline = time.monotonic() + pause_s
        while not (self._is_closed or self._is_due):
            is_suspended = self._target is None or self._is_idle
            left_s = None if is_suspended else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return
            self._changed.wait(left_s)


def _bug_error(error: Exception) -> UserError:
    return UserError(
        f"Reading the file failed: {type(error).__name__}: {error}.",
        remedy="It is retried automatically; report it if it does not recover.",
        code=_BROKEN,
    )
