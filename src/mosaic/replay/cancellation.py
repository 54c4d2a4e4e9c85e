"""Cancellation: how whoever waits for something long tells it to stop, from any thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mosaic.contract.errors import UserError


class CancelledError(UserError):
    """It was cancelled by whoever asked for it."""

    default_code = "C173"

    def __init__(self) -> None:
        super().__init__("Cancelled.", remedy="Nothing was left behind.", code=self.default_code)


class Cancellation:
    """Given to what takes long; `cancel` may be called at any time and more than once."""

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
        """Raises `CancelledError` once it was cancelled."""
        if self._is_cancelled:
            raise CancelledError

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """While the block runs, `cancel` also calls `interrupt`, so that a wait in it ends."""
        with self._lock:
            self._interrupt = interrupt
            is_late = self._is_cancelled
        if is_late:
            interrupt()
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None
