"""UiCollection: garbage is collected on the UI thread, and on no other.

Python collects on whichever thread happens to allocate. A widget that only a cycle of references
keeps would then be destroyed on a thread that it does not belong to, which Qt does not allow: its
timers are not stopped, and the window may crash much later, elsewhere.
"""

import gc

from PySide6.QtCore import QObject, QTimer

_LOOK_MS = 500


class UiCollection(QObject):
    """Made on the UI thread, by the wiring; from then on Python does not collect by itself."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(_LOOK_MS)

    def close(self) -> None:
        """Python collects by itself again."""
        self._timer.stop()
        gc.enable()

    def _collect(self) -> None:
        """As much as Python would have: young objects often, all of them seldom."""
        due = [
            generation
            for generation, (count, most) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            if count > most
        ]
        if due:
            gc.collect(max(due))
