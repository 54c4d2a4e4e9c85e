"""A table of a million episodes in the window: its first paint, and scrolling through it.

benchmarks/run window_tables [--rows N] [--turns N] [--platform xcb]

The rows are in a store behind a daemon, as for any run. It alternates with a run of a thousand
rows.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from report import measure_cost, print_ratio, print_table
from throwaway_daemon import run_daemon, throwaway_home
from window_harness import (
    GAP_HEADER,
    GapMonitor,
    Gaps,
    add_platform_option,
    open_window,
    run_for,
    summarize,
    use_platform,
    wait_for,
)

from gym_gui.app.wiring import AppContext
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunStats
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.registry.run_registry import RunRegistry

_FEW = 1_000
_WHEEL_ROWS = 3
_SCROLL_S = 6.0
_TICK_MS = 16
_SETTLE_S = 1.5
_TIMEOUT_MS = 30_000
_GOAL_PAINT_MS = 100.0
_GOAL_GAP_MS = 33.0


@dataclass
class TableTimes:
    """Measurements of one of the two runs."""

    rows: int
    run_id: str
    paint_ms: list[float] = field(default_factory=list)
    paint_cpu_ms: list[float] = field(default_factory=list)
    wheel: Gaps = field(default_factory=Gaps)
    drag: Gaps = field(default_factory=Gaps)


def episode_lines(count: int) -> Iterator[bytes]:
    chooser = random.Random(3)
    for number in range(count):
        steps, total = chooser.randrange(8, 500), chooser.uniform(-200.0, 300.0)
        yield (
            f'{{"type":"episode","episode_id":"e{number}","episode":{number},"steps":{steps},'
            f'"return":{total:.3f},"terminated":true,"truncated":false}}\n'
        ).encode()


def make_run(home: Home, registry: RunRegistry, rows: int) -> TableTimes:
    """Create a finished run with this many episodes in its store."""
    run_id = new_ulid()
    config = TrainRunConfig(
        run_name=f"{rows} episodes", worker="echo_worker", algo="echo", env_id="Echo-v0"
    )
    registry.add(run_id, config)
    for before, after in (
        (RunState.QUEUED, RunState.PREPARING),
        (RunState.PREPARING, RunState.RUNNING),
        (RunState.RUNNING, RunState.SUCCEEDED),
    ):
        registry.transition(run_id, {before}, after, "for a benchmark")
    run = home.run(run_id)
    run.path.mkdir(parents=True, mode=0o700)
    with run.spool.open("wb") as file:
        file.writelines(episode_lines(rows))
    with TelemetryService(run) as service:
        assert service.finish()
    registry.set_digests({run_id: RunStats(episodes=rows)})
    return TableTimes(rows, run_id)


class FirstRows(QObject):
    """Ends a loop once the table was painted with its first row."""

    def __init__(self, bench: AppContext, loop: QEventLoop) -> None:
        super().__init__()
        self._table = bench.models.episodes
        self._loop = loop
        self._viewport = bench.episodes_view.grid.viewport()
        self._viewport.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        is_there = self._table.rowCount() > 0 and self._table.row_at(0) is not None
        if event.type() == QEvent.Type.Paint and is_there:
            self._viewport.removeEventFilter(self)
            QTimer.singleShot(0, self._loop.quit)  # after the paint
        return False


def show(bench: AppContext, times: TableTimes) -> None:
    """Measure from the selection of the run until its rows are painted."""
    loop = QEventLoop()
    QTimer.singleShot(_TIMEOUT_MS, loop, loop.quit)
    watch = FirstRows(bench, loop)
    wall, cpu = time.perf_counter(), time.thread_time()
    bench.navigation.show_run(times.run_id)
    loop.exec()
    times.paint_ms.append((time.perf_counter() - wall) * 1_000)
    times.paint_cpu_ms.append((time.thread_time() - cpu) * 1_000)
    watch.deleteLater()
    wait_for(lambda: bench.models.episodes.rowCount() == times.rows, "complete table")


def scroll(bench: AppContext, *, by_drag: bool) -> Gaps:
    """Scroll by a few rows per tick with the wheel, or drag through the complete table."""
    bar = bench.episodes_view.grid.verticalScrollBar()
    bar.setValue(0)
    ticks = round(_SCROLL_S * 1_000 / _TICK_MS)
    stride = max(1, bar.maximum() // ticks) if by_drag else _WHEEL_ROWS
    mover, watch = QTimer(), GapMonitor()
    mover.timeout.connect(lambda: bar.setValue((bar.value() + stride) % max(1, bar.maximum())))
    mover.start(_TICK_MS)
    watch.start()
    run_for(_SCROLL_S)
    return watch.stop()


def measure(bench: AppContext, runs: list[TableTimes], turns: int) -> None:
    bench.window.show_telemetry("episodes")
    wait_for(lambda: all(bench.models.runs.by_id(times.run_id) for times in runs), "runs")
    for turn in range(turns + 1):
        for times in runs:
            show(bench, times)
            run_for(_SETTLE_S)
            if not turn:  # the first time fills caches
                times.paint_ms.clear()
                times.paint_cpu_ms.clear()
    for times in runs:
        show(bench, times) if bench.models.live.run_id != times.run_id else None
        run_for(_SETTLE_S)
        times.wheel = scroll(bench, by_drag=False)
        times.drag = scroll(bench, by_drag=True)


def report(few: TableTimes, many: TableTimes) -> None:
    print_table(
        "A run is chosen, until its episodes are painted",
        ("rows", "median ms", "fastest ms", "slowest ms", "UI cpu ms"),
        [
            (
                f"{times.rows:,}",
                statistics.median(times.paint_ms),
                min(times.paint_ms),
                max(times.paint_ms),
                statistics.median(times.paint_cpu_ms),
            )
            for times in (few, many)
        ],
    )
    print_table(
        "Gaps of the event loop while it is scrolled",
        GAP_HEADER,
        [
            gaps.row(f"{times.rows:,}, {how}")
            for how in ("wheel", "drag")
            for times in (few, many)
            for gaps in [times.wheel if how == "wheel" else times.drag]
        ],
    )
    paint = statistics.median(many.paint_ms)
    print(f"first paint: {paint / _GOAL_PAINT_MS:.2f} of the goal of {_GOAL_PAINT_MS:.0f} ms")
    for how, gaps in (("wheel", many.wheel), ("drag", many.drag)):
        wall, own = summarize(gaps.wall)[2], summarize(gaps.own)[2]
        print(
            f"longest gap, {how}: {wall / _GOAL_GAP_MS:.2f} of the goal of {_GOAL_GAP_MS:.0f} ms,"
            f" {own / _GOAL_GAP_MS:.2f} without waiting for a processor"
        )
    print_ratio(
        "first paint against a thousand rows",
        paint / statistics.median(few.paint_ms),
        f"{_GOAL_PAINT_MS:.0f} ms",
    )
    print_ratio(
        "longest gap while dragging against a thousand rows",
        summarize(many.drag.own)[2] / summarize(few.drag.own)[2],
        f"{_GOAL_GAP_MS:.0f} ms",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=9)
    add_platform_option(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with throwaway_home() as home:
        home.trainer.mkdir(parents=True, mode=0o700)
        with RunRegistry(home.registry) as registry, measure_cost() as making:
            few, many = (make_run(home, registry, rows) for rows in (_FEW, options.rows))
        with run_daemon(home), open_window(home) as bench:
            measure(bench, [few, many], options.turns)
    report(few, many)
    print(f"runs created in {making.wall_s:.1f} s")


if __name__ == "__main__":
    main()
