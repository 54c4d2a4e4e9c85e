"""SIGTERM and SIGINT: the first asks the run to end, the second ends it at once.

The handler only writes a byte to a pipe; a thread does the rest. Doing more in a handler would
take locks that the interrupted code may hold.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """`first` and `again` are called in threads of their own, with the signal's number."""

    def __init__(self, first: Callable[[int], None], again: Callable[[int], None]) -> None:
        self._first = first
        self._again = again
        self._previous: dict[int, Any] = {}
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)
        self._thread = threading.Thread(target=self._watch, name="mosaic-signals", daemon=True)
        self._masks = threading.local()

    def install(self) -> None:
        """From the main thread, as Python demands."""
        self._thread.start()
        os.register_at_fork(
            before=self._hold, after_in_parent=self._release, after_in_child=self._leave_child
        )
        for number in _SIGNALS:
            self._previous[number] = signal.signal(number, self._note)

    def restore(self) -> None:
        """Give the signals back, so that whatever runs after the last line can be ended."""
        for number, handler in self._previous.items():
            if signal.getsignal(number) == self._note:
                signal.signal(number, handler)

    def _note(self, number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):  # 65,536 signals wait already
            os.write(self._write_end, bytes((number,)))

    def _watch(self) -> None:
        number = os.read(self._read_end, 1)[0]
        # Beside this thread: the first may wait for a reader that never comes.
        threading.Thread(target=self._first, args=(number,), daemon=True).start()
        self._again(os.read(self._read_end, 1)[0])

    # A forked child (a sub-environment, say) has no watching thread, so it gets the signals back.
    # They are held during the fork: Python forgets what arrives before a child is ready.

    def _hold(self) -> None:
        self._masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def _release(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._masks.before)

    def _leave_child(self) -> None:
        self.restore()
        self._release()
