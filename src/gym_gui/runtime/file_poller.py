"""FilePoller: looks at something on the disk again and again, on one thread, at a calm pace.

For files that others write and that tell nobody. Looking costs a moment of a thread and nothing of
the UI thread. While nothing is watched the thread sleeps; before the first time there is none.
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
Found = TypeVar("Found")

_log = logging.getLogger(__name__)
_BROKEN = "C398"
"""Looking at files of others failed by a bug; the log has the traceback."""
_REST_PER_WORK = 4.0
"""A look that takes long is followed by a rest that is so many times as long; one that failed, most
likely because it waited, by one that is as long."""


@dataclass(frozen=True, slots=True)
class News(Generic[Target, Found]):
    """What a look at `target` has brought: something found, or why nothing could be."""

    target: Target
    found: Found | None = None
    error: UserError | None = None


class FilePoller(Generic[Target, Found]):
    """All methods are for the UI thread and do not wait."""

    def __init__(
        self,
        name: str,
        begin: Callable[[Target], Callable[[], Found | None]],
        wake: Callable[[], None],
        pace_s: float = 1.5,
    ) -> None:
        """`begin` is called on the thread with what is to be watched, and returns how to look at
        it: that is called over and over, and returns None while nothing is new."""
        self._name = name
        self._begin = begin
        self._pace_s = pace_s
        self._box: Mailbox[News[Target, Found]] = Mailbox(wake)
        self._changed = threading.Condition()
        self._target: Target | None = None
        self._latest: Target | None = None
        """What was watched last, also while it rests."""
        self._number = 0
        """Counts beginnings."""
        self._is_live = False
        self._is_due = False
        self._is_settled = False
        """Nothing is new, and nothing will be."""
        self._is_closed = False
        self.thread: threading.Thread | None = None

    def watch(self, target: Target | None, *, is_live: bool = True) -> None:
        """Look at this from now on, beginning at once. None: rest.

        The same target again goes on where it was, also after a rest. What is not live is looked
        at until nothing is new.
        """
        with self._changed:
            self._target = target
            if target is not None and target != self._latest:
                self._latest = target
                self._number += 1
            self._is_live = is_live
            self._is_settled = False
            self._is_due = target is not None
            self._changed.notify_all()
        if self.thread is None and target is not None and not self._is_closed:
            self.thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self.thread.start()

    def look_now(self) -> None:
        """There is reason to believe that something is new."""
        with self._changed:
            self._is_settled = False
            self._is_due = self._target is not None
            self._changed.notify_all()

    def begin_again(self) -> None:
        """Tell everything once more, failures too."""
        with self._changed:
            self._number += 1
        self.look_now()

    def take(self) -> list[News[Target, Found]]:
        """What was found since the last time."""
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
        look: Callable[[], Found | None] | None = None
        told = ""
        rest_s = self._pace_s
        while True:
            with self._changed:
                self._wait(rest_s)
                if self._is_closed:
                    return
                target, is_new = self._target, number != self._number
                number = self._number
                self._is_due = False
            if target is None:
                continue
            begun, per_work = time.monotonic(), 1.0
            try:
                if is_new:
                    look, told = None, ""
                if look is None:
                    look = self._begin(target)
                found = look()
            except UserError as error:
                if str(error) != told:  # once, not with every look
                    told = str(error)
                    self._box.put(News(target, error=error))
            except Exception as error:  # noqa: BLE001 - the edge of the thread
                look = None
                problem = _bug(error)
                if str(problem) != told:
                    told = str(problem)
                    _log.exception("%s a look at %s broke by a bug", _BROKEN, target)
                    self._box.put(News(target, error=problem))
            else:
                per_work = _REST_PER_WORK
                if found is not None:
                    told = ""
                    self._box.put(News(target, found))
                else:
                    self._is_settled = not self._is_live
            rest_s = max(self._pace_s, per_work * (time.monotonic() - begun))

    def _wait(self, rest_s: float) -> None:
        """Until it is time to look, or all is over."""
        deadline = time.monotonic() + rest_s
        while not (self._is_closed or self._is_due):
            is_resting = self._target is None or self._is_settled
            left_s = None if is_resting else deadline - time.monotonic()
            if left_s is not None and left_s <= 0:
                return
            self._changed.wait(left_s)


def _bug(error: Exception) -> UserError:
    return UserError(
        f"Reading it failed: {type(error).__name__}: {error}.",
        remedy="It is tried again; if it stays so, please report it.",
        code=_BROKEN,
    )
