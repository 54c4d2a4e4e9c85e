"""UiWatch: notices when the window's own code holds up the UI thread.

A gap between two beats of the event loop counts when our code is on the stack and has either
waited for something, or used the processor for so long that a person would call it a freeze. How
long it computes below that says as much about the machine as about the window, and is measured by
`benchmarks/window_analysis.py`. A gap because other processes had the processor does not count.
Nor does garbage collection: it goes over all that the tests and their tools have made, many times
what a window has.
"""

import gc
import sys
import threading
import time
import traceback
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

LONGEST_WAIT_S = 0.1
LONGEST_WORK_S = 0.5
_LOOK_S = 0.02
_BEAT_MS = 10
_OURS = str(Path("src") / "gym_gui")
_EVENT_LOOPS = ("qtbot.py", "wait_signal.py", "event_loop.py")
"""Files whose functions run the event loop, or send it events as a person does. What fixtures call
outside of it may take its time."""


class _HeldUp:
    """One stretch of time in which our code does not return to the event loop."""

    def __init__(self) -> None:
        self.is_told = False
        self._first: tuple[float, float] | None = None
        self._used_s = self._lasted_s = 0.0
        self._looks = self._asleep = 0

    def note(self, now: float, cpu_s: float, *, is_asleep: bool) -> None:
        self._first = self._first or (now, cpu_s)
        self._lasted_s, self._used_s = now - self._first[0], cpu_s - self._first[1]
        self._looks += 1
        self._asleep += is_asleep

    @property
    def why(self) -> str:
        if self._used_s >= LONGEST_WORK_S:
            return f"it computes for {LONGEST_WORK_S} s and more"
        is_waiting = self._lasted_s >= LONGEST_WAIT_S and self._asleep * 2 > self._looks
        return f"it waits for {LONGEST_WAIT_S} s and more" if is_waiting else ""


class UiWatch(QObject):
    """Made on the UI thread; `stop` ends it and returns what it has seen, as text."""

    def __init__(self) -> None:
        super().__init__()
        self._ui_thread = threading.get_ident()
        self._native_id = threading.get_native_id()
        self._cpu_clock = time.pthread_getcpuclockid(self._ui_thread)
        self._last_beat = (time.monotonic(), time.clock_gettime(self._cpu_clock))
        self._collected_s = 0.0
        self._collecting_since: float | None = None
        gc.callbacks.append(self._note_collection)
        self._switches = 0
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
        gc.callbacks.remove(self._note_collection)
        return self._blocks

    def _note_collection(self, phase: str, _: dict[str, int]) -> None:
        if threading.get_ident() != self._ui_thread:
            return
        now = time.clock_gettime(self._cpu_clock)
        if phase == "start":
            self._collecting_since = now
        elif self._collecting_since is not None:
            self._collected_s += now - self._collecting_since
            self._collecting_since = None

    def _used_s(self) -> float:
        now, since = time.clock_gettime(self._cpu_clock), self._collecting_since
        return now - self._collected_s - (now - since if since is not None else 0.0)

    def _beat(self) -> None:
        self._last_beat = (time.monotonic(), time.clock_gettime(self._cpu_clock))

    def _watch(self) -> None:
        held = _HeldUp()
        while not self._stopped.wait(_LOOK_S):
            now, beat = time.monotonic(), self._last_beat[0]
            if now - beat < LONGEST_WAIT_S / 4:
                held = _HeldUp()
                continue
            stack = traceback.extract_stack(sys._current_frames()[self._ui_thread])
            if not _is_ours(stack):
                held = _HeldUp()
                continue
            held.note(now, self._used_s(), is_asleep=self._is_asleep())
            if held.why and not held.is_told:
                held.is_told = True
                lines = "".join(traceback.format_list(stack[-12:]))
                self._blocks.append(f"held up: {held.why}\n{lines}")

    def _is_asleep(self) -> bool:
        """Whether the thread waits for something other than its turn at Python's own lock.

        Who waits for that lock wakes up every few milliseconds to ask for it, and so is switched
        to again and again; who waits for an answer or a file is not.
        """
        before, self._switches = self._switches, self._voluntary_switches()
        status = Path(f"/proc/self/task/{self._native_id}/stat").read_text()
        is_waiting = status.rpartition(")")[2].split()[0] in ("S", "D")
        return is_waiting and self._switches == before

    def _voluntary_switches(self) -> int:
        status = Path(f"/proc/self/task/{self._native_id}/status").read_text()
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def _is_ours(stack: traceback.StackSummary) -> bool:
    """Whether our code was called by the event loop."""
    names = [Path(frame.filename) for frame in stack]
    # To start a thread is to wait until the system has run its first line.
    if any(
        path.name == "threading.py" and frame.name == "start"
        for path, frame in zip(names, stack, strict=True)
    ):
        return False
    return any(path.name in _EVENT_LOOPS for path in names) and any(
        _OURS in str(path) for path in names
    )
