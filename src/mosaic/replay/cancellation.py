"""Cancellation: cancels a long operation from any thread.

A separate module because verification and export share it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mosaic.contract.errors import UserError


class CancelledError(UserError):
    """The operation was cancelled by its caller."""

    default_code = "C173"

    def __init__(self) -> None:
        super().__init__("Cancelled.", remedy="No files were left behind.", code=self.default_code)


class Cancellation:
    """Passed to a long operation; `cancel` may be called at any time and more than once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._interrupt: Callable[[], None] | None = None

    @property
    def is_cancelled(self) -> bool:
        return self._is_cancelled

    def cancel(self) -> None:
        with self._lock:
            self._is_cancelled = True
            interrupt = self._interrupt
        if interrupt is not None:
            interrupt()

    def check(self) -> None:
        """Raise `CancelledError` if the operation was cancelled."""
        if self._is_cancelled:
            raise CancelledError

    @contextmanager
    def interrupt_with(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While the block runs, `cancel` also calls `interrupt`, to end a wait in the block."""
        with self._lock:
            self._interrupt = interrupt
            is_cancelled = self._is_cancelled
        if is_cancelled:
            interrupt()
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None
