"""One start of the window in a separate process; prints the measurements as JSON.

window_start_child.py bare | window [HOME] | live HOME RUN_ID | idle HOME
"""

import time

START_WALL, START_CPU = time.perf_counter(), time.process_time()

import gc  # noqa: E402 - imports are measure_cost
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from collections.abc import Callable  # noqa: E402
from itertools import pairwise  # noqa: E402
from pathlib import Path  # noqa: E402

_PAGE = os.sysconf("SC_PAGE_SIZE")
_SETTLE_S = 6.0
_WATCH_S = 10.0


def report(**measurements: object) -> None:
    print(json.dumps(measurements), flush=True)
    os._exit(0)  # do not measure the shutdown


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 1e6


def report_first_paint(steps: list[tuple[str, float, float]]) -> None:
    report(
        wall_s=time.perf_counter() - START_WALL,
        cpu_s=time.process_time() - START_CPU,
        steps=steps,
        mb=resident_mb(),
        heavy=[
            name
            for name in ("grpc", "numpy", "av", "pyqtgraph", "gymnasium")
            if name in sys.modules
        ],
    )


def when_painted(window: object, then: Callable[[], None]) -> object:
    """Call back after the first paint of the window."""
    from PySide6.QtCore import QEvent, QObject, QTimer  # noqa: PLC0415 - imports are measure_cost
    from PySide6.QtWidgets import QWidget  # noqa: PLC0415, TID251

    class FirstPaint(QObject):
        def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
            if event.type() == QEvent.Type.Paint:
                QTimer.singleShot(0, then)
            return False

    assert isinstance(window, QWidget)
    watch = FirstPaint()
    window.installEventFilter(watch)
    return watch


def start_bare() -> None:
    from PySide6.QtWidgets import QApplication, QLabel, QMainWindow  # noqa: PLC0415, TID251

    app = QApplication(sys.argv[:1])
    window = QMainWindow()
    window.setCentralWidget(QLabel("There is nothing here."))
    window.resize(1440, 900)
    watch = when_painted(window, lambda: report_first_paint([]))
    window.show()
    app.exec()
    del watch


def start_window(home: str, then: Callable[[object], None] | None = None) -> None:
    """What `python -m gym_gui.app` does."""
    gc.disable()
    steps = [("interpreter", START_WALL, START_CPU)]

    def passed(name: str) -> None:
        steps.append((name, time.perf_counter(), time.process_time()))

    from PySide6.QtWidgets import QApplication  # noqa: PLC0415, TID251

    passed("import of PySide6")
    from gym_gui.app.start_up import StartupOptions  # noqa: PLC0415
    from gym_gui.app.theme import apply_theme  # noqa: PLC0415
    from gym_gui.app.wiring import AppContext  # noqa: PLC0415
    from mosaic.contract.layout import Home  # noqa: PLC0415

    passed("remaining imports")
    app = QApplication(sys.argv[:1])
    bench = AppContext(Home(Path(home)))
    passed("models and views")
    apply_theme(app, bench.theme, bench.window)
    passed("theme")
    if then is None:

        def painted() -> None:
            passed("show to paint")
            report_first_paint(
                [
                    (after[0], after[1] - before[1], after[2] - before[2])
                    for before, after in pairwise(steps)
                ]
            )

        watch = when_painted(bench.window, painted)
        bench.window.show()
        app.exec()
        del watch
    else:
        bench.window.show()
        gc.freeze()
        gc.enable()
        bench.open(StartupOptions(starts_daemon=False))
        then(bench)


def watch_run(home: str, run_id: str) -> None:
    """Show an active run in the Live tab."""

    def watch(bench: object) -> None:
        from window_harness import run_for, wait_for  # noqa: PLC0415

        from gym_gui.app.wiring import AppContext  # noqa: PLC0415

        assert isinstance(bench, AppContext)
        wait_for(lambda: bench.models.runs.by_id(run_id) is not None, "run in the list")
        bench.navigation.watch(run_id)
        wait_for(lambda: bench.models.live.frame is not None, "frame of the run")
        run_for(_SETTLE_S)
        report(mb=resident_mb())

    start_window(home, watch)


def measure_idle(home: str) -> None:
    """Measure the connected, idle window."""

    def watch(bench: object) -> None:
        from window_harness import run_for, wait_for  # noqa: PLC0415

        from gym_gui.app.wiring import AppContext  # noqa: PLC0415

        assert isinstance(bench, AppContext)
        wait_for(lambda: bench.link.is_ready, "daemon")
        run_for(_SETTLE_S)
        wall, cpu = time.perf_counter(), time.process_time()
        run_for(_WATCH_S)
        share = (time.process_time() - cpu) / (time.perf_counter() - wall)
        report(percent=share * 100, mb=resident_mb())

    start_window(home, watch)


def main() -> None:
    kind, arguments = sys.argv[1], sys.argv[2:]
    if kind == "bare":
        start_bare()
    elif kind == "window":
        start_window(arguments[0])
    elif kind == "live":
        watch_run(*arguments)
    else:
        measure_idle(*arguments)


main()
