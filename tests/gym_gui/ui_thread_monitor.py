"""UiThreadMonitor: reports when our code blocks the UI thread.

A gap between two ticks of the event loop is reported if our code is on the stack and either waits
or computes for a long time. Shorter computations depend on the machine and are measured by
`benchmarks/window_analysis.py`. Time of other processes is not counted, nor is garbage collection,
which in tests visits many more objects than in a window.
"""

import gc
import sys
import threading
import time
import traceback
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer

MAX_WAIT_S = 0.1
MAX_COMPUTE_S = 0.5
_SAMPLE_S = 0.02
_TICK_MS = 10
_OUR_CODE = str(Path("src") / "gym_gui")
_EVENT_LOOPS = ("qtbot.py", "wait_signal.py", "event_loop.py")
"""Files that run the event loop, or send it events like a user. Calls of fixtures outside of it
may block."""


class _Gap:
    """A time range in which our code does not return to the event loop."""

    def __init__(self) -> None:
        self.is_reported = False
        self._first: tuple[float, float] | None = None
        self._cpu_s = self._duration_s = 0.0
        self._samples = self._waiting_samples = 0

    def record(self, now: float, cpu_s: float, *, is_waiting: bool) -> None:
        self._first = self._first or (now, cpu_s)
        self._duration_s, self._cpu_s = now - self._first[0], cpu_s - self._first[1]
        self._samples += 1
        self._waiting_samples += is_waiting

    @property
    def reason(self) -> str:
        if self._cpu_s >= MAX_COMPUTE_S:
            return f"it computes for {MAX_COMPUTE_S} s or more"
        is_waiting = self._duration_s >= MAX_WAIT_S and self._waiting_samples * 2 > self._samples
        return f"it waits for {MAX_WAIT_S} s or more" if is_waiting else ""


class UiThreadMonitor(QObject):
    """Created on the UI thread; `stop` returns the reported gaps as text."""

    def __init__(self) -> None:
        super().__init__()
        self._ui_thread = threading.get_ident()
        self._native_id = threading.get_native_id()
        self._cpu_clock = time.pthread_getcpuclockid(self._ui_thread)
        self._last_tick = (time.monotonic(), time.clock_gettime(self._cpu_clock))
        self._collected_s = 0.0
        self._collecting_since: float | None = None
        gc.callbacks.append(self._record_collection)
        self._switches = 0
        self._blocks: list[str] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start(_TICK_MS)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._monitor, name="ui thread monitor", daemon=True)
        self._thread.start()

    def stop(self) -> list[str]:
        self._timer.stop()
        self._stopped.set()
        self._thread.join()
        gc.callbacks.remove(self._record_collection)
        return self._blocks

    def _record_collection(self, phase: str, _: dict[str, int]) -> None:
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

    def _tick(self) -> None:
        self._last_tick = (time.monotonic(), time.clock_gettime(self._cpu_clock))

    def _monitor(self) -> None:
        gap = _Gap()
        while not self._stopped.wait(_SAMPLE_S):
            now, tick = time.monotonic(), self._last_tick[0]
            if now - tick < MAX_WAIT_S / 4:
                gap = _Gap()
                continue
            stack = traceback.extract_stack(sys._current_frames()[self._ui_thread])
            if not _is_our_call(stack):
                gap = _Gap()
                continue
            gap.record(now, self._used_s(), is_waiting=self._is_waiting())
            if gap.reason and not gap.is_reported:
                gap.is_reported = True
                lines = "".join(traceback.format_list(stack[-12:]))
                self._blocks.append(f"blocked: {gap.reason}\n{lines}")

    def _is_waiting(self) -> bool:
        """Whether the thread waits for something other than the GIL.

        A thread that waits for the GIL wakes up every few milliseconds, which causes context
        switches; a thread that waits for an answer or a file does not.
        """
        before, self._switches = self._switches, self._voluntary_switches()
        status = Path(f"/proc/self/task/{self._native_id}/stat").read_text()
        is_waiting = status.rpartition(")")[2].split()[0] in ("S", "D")
        return is_waiting and self._switches == before

    def _voluntary_switches(self) -> int:
        status = Path(f"/proc/self/task/{self._native_id}/status").read_text()
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def _is_our_call(stack: traceback.StackSummary) -> bool:
    """Whether the event loop called our code."""
    names = [Path(frame.filename) for frame in stack]
    # Thread.start waits until the thread runs.
    if any(
        path.name == "threading.py" and frame.name == "start"
        for path, frame in zip(names, stack, strict=True)
    ):
        return False
    return any(path.name in _EVENT_LOOPS for path in names) and any(
        _OUR_CODE in str(path) for path in names
    )
