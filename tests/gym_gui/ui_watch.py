"""UiWatch: notices when the window's own code holds up the UI thread.

A gap between two beats of the event loop counts when our code is on the stack and has either used
the processor for that long or waited for something. A gap because other processes had the
processor does not: that says nothing about the window.
"""

import sys
import threading
import time
import traceback
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

LONGEST_S = 0.1
_LOOK_S = 0.02
_BEAT_MS = 10
_OURS = str(Path("src") / "gym_gui")


class UiWatch(QObject):
    """Made on the UI thread; `stop` ends it and returns what it has seen, as text."""

    def __init__(self) -> None:
        super().__init__()
        self._ui_thread = threading.get_ident()
        self._native_id = threading.get_native_id()
        self._cpu_clock = time.pthread_getcpuclockid(self._ui_thread)
        self._last_beat = (time.monotonic(), time.clock_gettime(self._cpu_clock))
        self._blocks: list[str] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(_BEAT_MS)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ui watch", daemon=True)
        self._thread.start()

    def stop(self) -> list[str]:
        self._timer.stop()
        self._stopped.set()
        self._thread.join()
        return self._blocks

    def _beat(self) -> None:
        self._last_beat = (time.monotonic(), time.clock_gettime(self._cpu_clock))

    def _watch(self) -> None:
        told: tuple[float, float] | None = None
        asleep = 0
        while not self._stopped.wait(_LOOK_S):
            beat = self._last_beat
            gap_s = time.monotonic() - beat[0]
            if gap_s < LONGEST_S / 2:
                asleep = 0
                continue
            asleep += self._is_asleep()
            if gap_s < LONGEST_S or told == beat:
                continue
            used_s = time.clock_gettime(self._cpu_clock) - beat[1]
            stack = traceback.extract_stack(sys._current_frames()[self._ui_thread])
            is_ours = any(_OURS in frame.filename for frame in stack)
            is_waiting = asleep * _LOOK_S >= LONGEST_S / 2
            if is_ours and (used_s >= LONGEST_S or is_waiting):
                told = beat
                why = f"{used_s:.2f} s of work" if used_s >= LONGEST_S else "waiting"
                lines = "".join(traceback.format_list(stack[-12:]))
                self._blocks.append(f"blocked for {gap_s:.2f} s by {why}\n{lines}")

    def _is_asleep(self) -> bool:
        """Whether the thread waits for something, as the kernel sees it."""
        status = Path(f"/proc/self/task/{self._native_id}/stat").read_text()
        return status.rpartition(")")[2].split()[0] in ("S", "D")
