"""StopSignals: the first SIGTERM or SIGINT requests a stop, the second exits immediately.

The handler only writes a byte to a pipe, which a thread reads: anything else could take locks that
the interrupted code holds.
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
    """Calls `first` and `again` in separate threads, with the signal number."""

    def __init__(self, first: Callable[[int], None], again: Callable[[int], None]) -> None:
        self._first = first
        self._again = again
        self._previous: dict[int, Any] = {}
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._write_end, False)
        self._thread = threading.Thread(target=self._watch, name="mosaic-signals", daemon=True)
        self._masks = threading.local()

    def install(self) -> None:
        """Main thread only, as Python requires."""
        self._thread.start()
        os.register_at_fork(
            before=self._block_signals,
            after_in_parent=self._unblock_signals,
            after_in_child=self._restore_in_child,
        )
        for number in _SIGNALS:
            self._previous[number] = signal.signal(number, self._handle_signal)

    def restore(self) -> None:
        """Restore the previous handlers, so that code after the last line can be interrupted."""
        for number, handler in self._previous.items():
            if signal.getsignal(number) == self._handle_signal:
                signal.signal(number, handler)

    def _handle_signal(self, number: int, _frame: object) -> None:
        with contextlib.suppress(BlockingIOError):  # 65,536 signals are pending already
            os.write(self._write_end, bytes((number,)))

    def _watch(self) -> None:
        number = os.read(self._read_end, 1)[0]
        # In another thread, because `first` may block on a reader.
        threading.Thread(target=self._first, args=(number,), daemon=True).start()
        self._again(os.read(self._read_end, 1)[0])

    # A forked child (such as a sub-environment) lacks the thread, so its handlers are restored.
    # Signals are blocked during the fork: Python drops those that arrive before a child is ready.

    def _block_signals(self) -> None:
        self._masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)

    def _unblock_signals(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._masks.before)

    def _restore_in_child(self) -> None:
        self.restore()
        self._unblock_signals()
