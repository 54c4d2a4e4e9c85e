"""UiCollection: collects garbage on the UI thread, between two events, and nowhere else.

Python's automatic collector runs on whichever thread allocates, at any allocation. Both are wrong
for Qt objects that only a reference cycle keeps alive:

- Collected on another thread, a QObject is destroyed on a thread that it does not belong to. Its
  timers are not stopped, and the window may crash later, elsewhere.
- Collected inside the destructor of another QObject, it can deadlock the UI thread. `~QObject`
  holds a mutex out of a small pool while PySide looks up Python overrides, which allocates. If the
  collection that starts there destroys a QObject with the same mutex, the thread waits for itself.

So the automatic collector is off for as long as the process has Qt objects, which is until it ends.
`gc.collect` called from the event loop is safe: it runs in no destructor, and does not nest.
"""

import gc

from PySide6.QtCore import QObject, QTimer

_INTERVAL_MS = 500


class UiCollection(QObject):
    """Created on the UI thread. Turns the automatic collector off, for the rest of the process."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(collect_due)
        self._timer.start(_INTERVAL_MS)

    def close(self) -> None:
        """Collect a last time. The automatic collector stays off: Qt objects are still alive."""
        self._timer.stop()
        gc.collect()


def collect_due() -> None:
    """Collect as Python's automatic collector would: young objects often, all of them rarely."""
    due = [
        generation
        for generation, (count, threshold) in enumerate(
            zip(gc.get_count(), gc.get_threshold(), strict=True)
        )
        if count > threshold
    ]
    if due:
        gc.collect(max(due))
