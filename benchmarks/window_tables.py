"""A table of a million episodes in the window: its first paint, and scrolling through it.

benchmarks/run window_tables [--rows N] [--turns N] [--platform xcb]

The rows are in a store behind a daemon, as those of any run. A run with a thousand rows is shown in
turn with it.
"""

import argparse
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QEventLoop, QObject, QTimer
from report import measured, print_ratio, print_table
from throwaway_daemon import serving, throwaway_home
from window_parts import (
    GAP_HEAD,
    Gaps,
    GapWatch,
    figures,
    open_window,
    run_for,
    take_platform,
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
_BEAT_MS = 16
_SETTLE_S = 1.5
_PATIENCE_MS = 30_000
_GOAL_PAINT_MS = 100.0
_GOAL_GAP_MS = 33.0


@dataclass
class Seen:
    """Of one of the two runs."""

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


def make_run(home: Home, registry: RunRegistry, rows: int) -> Seen:
    """A run that is over, with this many episodes in its store."""
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
    return Seen(rows, run_id)


class FirstRows(QObject):
    """Ends a loop once the table has been painted with its first row."""

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


def show(bench: AppContext, seen: Seen) -> None:
    """From choosing the run to its rows on the screen."""
    loop = QEventLoop()
    QTimer.singleShot(_PATIENCE_MS, loop, loop.quit)
    watch = FirstRows(bench, loop)
    wall, cpu = time.perf_counter(), time.thread_time()
    bench.conduct.show_run(seen.run_id)
    loop.exec()
    seen.paint_ms.append((time.perf_counter() - wall) * 1_000)
    seen.paint_cpu_ms.append((time.thread_time() - cpu) * 1_000)
    watch.deleteLater()
    wait_for(lambda: bench.models.episodes.rowCount() == seen.rows, "whole table")


def scroll(bench: AppContext, *, by_drag: bool) -> Gaps:
    """The wheel goes on by a few rows a beat, a drag goes through all of the table."""
    bar = bench.episodes_view.grid.verticalScrollBar()
    bar.setValue(0)
    beats = round(_SCROLL_S * 1_000 / _BEAT_MS)
    stride = max(1, bar.maximum() // beats) if by_drag else _WHEEL_ROWS
    mover, watch = QTimer(), GapWatch()
    mover.timeout.connect(lambda: bar.setValue((bar.value() + stride) % max(1, bar.maximum())))
    mover.start(_BEAT_MS)
    watch.start()
    run_for(_SCROLL_S)
    return watch.stop()


def measure(bench: AppContext, runs: list[Seen], turns: int) -> None:
    bench.window.show_telemetry("episodes")
    wait_for(lambda: all(bench.models.runs.by_id(each.run_id) for each in runs), "runs")
    for turn in range(turns + 1):
        for seen in runs:
            show(bench, seen)
            run_for(_SETTLE_S)
            if not turn:  # the first time fills caches
                seen.paint_ms.clear()
                seen.paint_cpu_ms.clear()
    for seen in runs:
        show(bench, seen) if bench.models.live.run_id != seen.run_id else None
        run_for(_SETTLE_S)
        seen.wheel = scroll(bench, by_drag=False)
        seen.drag = scroll(bench, by_drag=True)


def report(few: Seen, many: Seen) -> None:
    print_table(
        "A run is chosen, until its episodes are painted",
        ("rows", "median ms", "fastest ms", "slowest ms", "UI cpu ms"),
        [
            (
                f"{seen.rows:,}",
                statistics.median(seen.paint_ms),
                min(seen.paint_ms),
                max(seen.paint_ms),
                statistics.median(seen.paint_cpu_ms),
            )
            for seen in (few, many)
        ],
    )
    print_table(
        "Gaps of the event loop while it is scrolled",
        GAP_HEAD,
        [
            gaps.row(f"{seen.rows:,}, {how}")
            for how in ("wheel", "drag")
            for seen in (few, many)
            for gaps in [seen.wheel if how == "wheel" else seen.drag]
        ],
    )
    paint = statistics.median(many.paint_ms)
    print(f"first paint: {paint / _GOAL_PAINT_MS:.2f} of the goal of {_GOAL_PAINT_MS:.0f} ms")
    for how, gaps in (("wheel", many.wheel), ("drag", many.drag)):
        wall, own = figures(gaps.wall)[2], figures(gaps.own)[2]
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
        figures(many.drag.own)[2] / figures(few.drag.own)[2],
        f"{_GOAL_GAP_MS:.0f} ms",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--turns", type=int, default=9)
    take_platform(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with throwaway_home() as home:
        home.trainer.mkdir(parents=True, mode=0o700)
        with RunRegistry(home.registry) as registry, measured() as making:
            few, many = (make_run(home, registry, rows) for rows in (_FEW, options.rows))
        with serving(home), open_window(home) as bench:
            measure(bench, [few, many], options.turns)
    report(few, many)
    print(f"the runs were made in {making.wall_s:.1f} s")


if __name__ == "__main__":
    main()
