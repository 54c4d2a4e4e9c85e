"""The real window for a benchmark: opened, monitored and closed.

On a shared machine, wall time depends on other processes. So each gap of the event loop is reported
three times: wall time, wall time without waiting for a free CPU, and CPU time of the UI thread.
"""

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication  # noqa: TID251
from report import percentile

from gym_gui.app.start_up import StartupOptions
from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from mosaic.contract.layout import Home

_TIMEOUT_S = 120.0
_POLL_MS = 20
_TICK_MS = 4
_SCHEDSTAT = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")


def add_platform_option(parser: argparse.ArgumentParser) -> None:
    """Add `--platform`; pass its value to `use_platform` before importing Qt."""
    parser.add_argument("--platform", default="offscreen", help="Qt platform; xcb needs DISPLAY.")


def use_platform(name: str) -> None:
    os.environ["QT_QPA_PLATFORM"] = name


@contextmanager
def open_window(home: Home) -> Iterator[AppContext]:
    """Open the window as `mosaic gui` does, connected to the daemon of `home`."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    bench = AppContext(home)
    apply_theme(app, bench.theme, bench.window)
    bench.window.show()
    bench.open(StartupOptions(starts_daemon=False))
    try:
        wait_for(lambda: bench.link.is_ready, "daemon")
        yield bench
    finally:
        bench.window.close()
        bench.close()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Wait with the event loop running."""
    loop, deadline, is_met = QEventLoop(), time.monotonic() + _TIMEOUT_S, False

    def poll() -> None:
        nonlocal is_met
        is_met = condition()  # remember: the condition may become false again
        if is_met or time.monotonic() > deadline:
            loop.quit()

    timer = QTimer()
    timer.setInterval(_POLL_MS)
    timer.timeout.connect(poll)
    timer.start()
    loop.exec()
    timer.stop()
    if not is_met:
        raise SystemExit(f"Timeout after {_TIMEOUT_S:.0f} s: no {what}.")


def run_for(seconds: float) -> None:
    """Wait with the event loop running."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1_000), loop.quit)
    loop.exec()


@dataclass
class Gaps:
    """Gaps between two iterations of the event loop, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    """Without the time for which no processor was free."""
    cpu: list[float] = field(default_factory=list)
    """Processor time of the UI thread."""

    def row(self, name: str) -> tuple[object, ...]:
        kinds = (self.wall, self.own, self.cpu)
        return (name, *(value for kind in kinds for value in summarize(kind)))


def summarize(values: list[float]) -> tuple[float, float, float]:
    return percentile(values, 0.5), percentile(values, 0.99), max(values)


GAP_HEADER = (
    "gap, ms",
    "p50",
    "p99",
    "max",
    "own p50",
    "own p99",
    "own max",
    "cpu p50",
    "cpu p99",
    "cpu max",
)


class GapMonitor(QObject):
    """Measures the gaps of the event loop with a timer of a few milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps = Gaps()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._last = (0.0, 0.0, 0.0)

    def start(self) -> None:
        self.gaps = Gaps()
        self._last = clocks_ms()
        self._timer.start()

    def stop(self) -> Gaps:
        self._timer.stop()
        return self.gaps

    def _tick(self) -> None:
        now = clocks_ms()
        wall, queued, cpu = (new - old for new, old in zip(now, self._last, strict=True))
        self._last = now
        self.gaps.wall.append(max(0.0, wall - _TICK_MS))
        self.gaps.own.append(max(0.0, wall - queued - _TICK_MS))
        self.gaps.cpu.append(cpu)


def clocks_ms() -> tuple[float, float, float]:
    """Return wall time, time waiting for a CPU and CPU time of the UI thread."""
    queued = int(_SCHEDSTAT.read_text().split()[1])
    return time.perf_counter() * 1_000, queued / 1e6, time.thread_time() * 1_000
