"""The real window for a benchmark: put together, waited for, watched, and taken apart again.

On a machine that others use too, wall time says more about them than about the window. So each gap
of the event loop is told three times: as it was, without the time for which the UI thread could
run and no processor was free, and in processor time of the UI thread.
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

from gym_gui.app.start_up import Wishes
from gym_gui.app.theme import apply_theme
from gym_gui.app.wiring import AppContext
from mosaic.contract.layout import Home

_PATIENCE_S = 120.0
_LOOK_MS = 20
_TICK_MS = 4
_SCHEDSTAT = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")


def take_platform(parser: argparse.ArgumentParser) -> None:
    """Adds `--platform`; call `use_platform` with what came of it before anything of Qt starts."""
    parser.add_argument(
        "--platform", default="offscreen", help="of Qt; xcb under Xvfb needs DISPLAY"
    )


def use_platform(name: str) -> None:
    os.environ["QT_QPA_PLATFORM"] = name


@contextmanager
def open_window(home: Home) -> Iterator[AppContext]:
    """As `mosaic gui` opens it, with a daemon that serves `home`; connected when this begins."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    bench = AppContext(home)
    apply_theme(app, bench.theme, bench.window)
    bench.window.show()
    bench.open(Wishes(starts_daemon=False))
    try:
        wait_for(lambda: bench.link.is_ready, "daemon")
        yield bench
    finally:
        bench.window.close()
        bench.close()


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """With the event loop running."""
    loop, deadline, seen = QEventLoop(), time.monotonic() + _PATIENCE_S, False

    def look() -> None:
        nonlocal seen
        seen = condition()  # once is enough: what is over may begin again
        if seen or time.monotonic() > deadline:
            loop.quit()

    timer = QTimer()
    timer.setInterval(_LOOK_MS)
    timer.timeout.connect(look)
    timer.start()
    loop.exec()
    timer.stop()
    if not seen:
        raise SystemExit(f"There was no {what} within {_PATIENCE_S:.0f} s.")


def run_for(seconds: float) -> None:
    """With the event loop running."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1_000), loop.quit)
    loop.exec()


@dataclass
class Gaps:
    """Between two turns of the event loop, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    """Without the time for which no processor was free."""
    cpu: list[float] = field(default_factory=list)
    """Processor time of the UI thread."""

    def row(self, name: str) -> tuple[object, ...]:
        kinds = (self.wall, self.own, self.cpu)
        return (name, *(value for kind in kinds for value in figures(kind)))


def figures(values: list[float]) -> tuple[float, float, float]:
    return percentile(values, 0.5), percentile(values, 0.99), max(values)


GAP_HEAD = (
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


class GapWatch(QObject):
    """Looks every few milliseconds whether the event loop comes round."""

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
    """Wall, waited for a processor, processor: all of the UI thread."""
    queued = int(_SCHEDSTAT.read_text().split()[1])
    return time.perf_counter() * 1_000, queued / 1e6, time.thread_time() * 1_000
