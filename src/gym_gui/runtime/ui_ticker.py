"""UiTicker: the only timer that delivers the results of threads to models.

It ticks only while a listener is busy, so an idle window uses no CPU. Mailboxes wake it, from any
thread.
"""

import sys
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

TICK_MS = 16
_SUSPEND_AFTER = 30
"""Idle ticks before the timer stops."""


class UiTicker(QObject):
    """Created once, by the wiring."""

    _woken = Signal()

    def __init__(self, parent: QObject | None = None, tick_ms: int = TICK_MS) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(tick_ms)
        self._timer.timeout.connect(self._tick)
        self._woken.connect(self._start, Qt.ConnectionType.QueuedConnection)
        self._listeners: list[tuple[QObject, Callable[[], bool]]] = []
        self._idle_ticks = 0
        self._is_suspended = threading.Event()
        self._is_suspended.set()
        self._is_closed = False

    def subscribe(self, owner: QObject, on_tick: Callable[[], bool]) -> None:
        """Call `on_tick` on every tick until `owner` is deleted. It returns whether it was busy.

        It must be fast. Listeners are called in the order of subscription.
        """
        self._listeners.append((owner, on_tick))
        self.wake()

    def wake(self) -> None:
        """Start ticking. Thread-safe and cheap."""
        if self._is_suspended.is_set() and not self._is_closed:
            self._is_suspended.clear()
            self._woken.emit()

    @property
    def is_ticking(self) -> bool:
        return self._timer.isActive()

    def close(self) -> None:
        self._is_closed = True
        self._timer.stop()
        self._listeners.clear()

    @Slot()
    def _start(self) -> None:
        if not self._is_closed:
            self._idle_ticks = 0
            self._timer.start()

    @Slot()
    def _tick(self) -> None:
        was_busy = False
        for owner, on_tick in tuple(self._listeners):
            if not isValid(owner):
                self._listeners = [item for item in self._listeners if isValid(item[0])]
                continue
            was_busy = _call_listener(on_tick) or was_busy
        self._idle_ticks = 0 if was_busy else self._idle_ticks + 1
        if self._idle_ticks >= _SUSPEND_AFTER:
            self._timer.stop()
            # Items that arrived since the last tick did not wake the ticker: check once more.
            self._is_suspended.set()
            listeners = [on_tick for owner, on_tick in self._listeners if isValid(owner)]
            if any(map(_call_listener, listeners)):
                self.wake()


def _call_listener(on_tick: Callable[[], bool]) -> bool:
    """Report an error of one listener without stopping the others."""
    try:
        return on_tick()
    except Exception as error:  # noqa: BLE001 - the edge of the event loop
        sys.excepthook(type(error), error, error.__traceback__)
        return False
