"""UiTicker: the one timer that brings what threads have collected onto the screen.

It beats only while somebody has something to do, so an idle window costs nothing. Whoever puts
something into a mailbox wakes it, from any thread.
"""

import sys
import threading
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from shiboken6 import isValid

BEAT_MS = 16
_RESTS_AFTER = 30
"""Beats in which nobody had anything to do."""


class UiTicker(QObject):
    """Made once, by the wiring."""

    _woken = Signal()

    def __init__(self, parent: QObject | None = None, beat_ms: int = BEAT_MS) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(beat_ms)
        self._timer.timeout.connect(self._beat)
        self._woken.connect(self._start, Qt.ConnectionType.QueuedConnection)
        self._listeners: list[tuple[QObject, Callable[[], bool]]] = []
        self._idle_beats = 0
        self._is_resting = threading.Event()
        self._is_resting.set()
        self._is_closed = False

    def subscribe(self, owner: QObject, on_beat: Callable[[], bool]) -> None:
        """Call `on_beat` on every beat for as long as `owner` lives; True: it had something to do.

        It must be quick. Listeners are called in the order in which they came.
        """
        self._listeners.append((owner, on_beat))
        self.wake()

    def wake(self) -> None:
        """There is something to do. Any thread may call this, as often as it likes."""
        if self._is_resting.is_set() and not self._is_closed:
            self._is_resting.clear()
            self._woken.emit()

    @property
    def is_beating(self) -> bool:
        return self._timer.isActive()

    def close(self) -> None:
        self._is_closed = True
        self._timer.stop()
        self._listeners.clear()

    @Slot()
    def _start(self) -> None:
        if not self._is_closed:
            self._idle_beats = 0
            self._timer.start()

    @Slot()
    def _beat(self) -> None:
        was_busy = False
        for owner, on_beat in tuple(self._listeners):
            if not isValid(owner):
                self._listeners = [each for each in self._listeners if isValid(each[0])]
                continue
            was_busy = _beaten(on_beat) or was_busy
        self._idle_beats = 0 if was_busy else self._idle_beats + 1
        if self._idle_beats >= _RESTS_AFTER:
            self._timer.stop()
            # What was put in between the last beat and now has seen a pulse that does not rest.
            self._is_resting.set()
            listeners = [on_beat for owner, on_beat in self._listeners if isValid(owner)]
            if any(map(_beaten, listeners)):
                self.wake()


def _beaten(on_beat: Callable[[], bool]) -> bool:
    """A bug in one listener is told, and keeps nobody else from the screen."""
    try:
        return on_beat()
    except Exception as error:  # noqa: BLE001 - the edge of the event loop
        sys.excepthook(type(error), error, error.__traceback__)
        return False
