"""Charts: 20 curves of 50,000 points moved, a run of a million points opened, 8 runs live.

benchmarks/run window_charts [--frames N] [--seconds S] [--platform xcb]

The baselines are pyqtgraph alone: with the same downsampled points for panning and zooming, with
all points in memory for the opening, and with new points ten times a second in as many plots for
the live runs. On a busy machine compare CPU time; wall time is shown as well.
"""

import argparse
import importlib
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QWidget  # noqa: TID251
from report import print_ratio, print_table
from throwaway_daemon import echo_config, throwaway_daemon
from window_harness import (
    GAP_HEADER,
    GapMonitor,
    Gaps,
    add_platform_option,
    run_for,
    use_platform,
    wait_for,
)

from gym_gui.app.theme import apply_theme
from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.charts_page import ChartsPage
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.telemetry.service import TelemetryService

_CURVES = 20
_POINTS = 50_000
_OPENED_POINTS = 1_000_000
_KEY = MetricKey("charts/episodic_return")
_SIZES = ((740, 560), (1_600, 900))
_GOAL_FPS = 30
_GOAL_MS = 300
_OPENINGS = 5
_LIVE_RUNS = 8
_LIVE_RATE = 400
_LIVE_KEY = MetricKey("episode_return")
_GOAL_GAP_MS = 50
_GOAL_HZ = 10


@dataclass
class Frames:
    """Frame times of panning and zooming."""

    name: str
    frames: int
    wall_s: float
    cpu_s: float
    max_ms: float

    def row(self) -> tuple[object, ...]:
        per = 1_000 / self.frames
        return (
            self.name,
            self.frames / self.wall_s,
            self.frames / self.cpu_s,
            self.wall_s * per,
            self.cpu_s * per,
            self.max_ms,
        )


class Painted(QObject):
    """Detects whether a widget was painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.count += event.type() == QEvent.Type.Paint
        return False


def fill(home: Home, run_id: str, points: int) -> None:
    """Add a noisy curve to a finished run."""
    noise = random.Random(run_id)
    run = home.run(run_id)
    with run.spool.open("a") as file:
        for number in range(points):
            value = 500 * (1 - math.exp(-4 * number / points)) + noise.gauss(0, 40)
            file.write(
                f'{{"type":"metric","name":"{_KEY.name}","value":{value:.3f},'
                f'"step":{number * 20}}}\n'
            )
    with TelemetryService(run) as service:
        assert service.finish()


def make_runs(client: TrainerClient, home: Home) -> tuple[list[str], str]:
    config = echo_config(steps=10)
    runs = [
        client.submit({**config, "seed": seed, "run_name": f"curve {seed}"}).run_id
        for seed in range(1, _CURVES + 2)
    ]
    for run_id in runs:
        client.wait(run_id)
    *many, large = runs
    for run_id in many:
        fill(home, run_id, _POINTS)
    fill(home, large, _OPENED_POINTS)
    return many, large


@contextmanager
def open_page(home: Home) -> Iterator[tuple[ChartsPage, ChartsModel]]:
    """Open the page in a separate window, connected to the daemon."""
    theme, tasks, ticker = ThemeModel(), Tasks(), UiTicker()
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    link = TrainerLink(home)
    model = ChartsModel(Services(link, tasks, ticker, Notices(), SettingsStore(home)))
    page = ChartsPage(model, theme)
    apply_theme(app, theme, page)
    page.resize(*_SIZES[0])
    page.show()
    link.open(start=False)
    try:
        wait_for(lambda: link.is_ready, "daemon")
        yield page, model
    finally:
        page.close()
        page.deleteLater()
        tasks.close()
        ticker.close()
        link.close()
        link.join(10)
        tasks.join()


def opening(home: Home, run_id: str) -> tuple[float, float]:
    """Return the milliseconds of wall and CPU time from `show` until the curve is painted."""
    app = QApplication.instance()
    assert app is not None
    with open_page(home) as (page, model):
        started_at, cpu = time.perf_counter(), time.process_time()
        model.show([run_id])
        painted: Painted | None = None
        while painted is None or not painted.count:
            app.processEvents()
            card = page.board.card(_KEY)
            if painted is None and card and card.plot and model.plot_data(_KEY):
                painted = Painted(card.plot.viewport())
            time.sleep(0.0005)
        return (time.perf_counter() - started_at) * 1_000, (time.process_time() - cpu) * 1_000


def move(
    name: str, frames: int, set_visible_range: Callable[[float, float], None], view: QWidget
) -> Frames:
    """Zoom and pan a little in each frame; each frame is painted."""
    app = QApplication.instance()
    assert app is not None
    full_range = _POINTS * 20.0
    longest, painted = 0.0, Painted(view)
    started_at, cpu = time.perf_counter(), time.thread_time()
    for number in range(frames):
        start, before = time.perf_counter(), painted.count
        width = full_range * (0.1 + 0.8 * abs(math.cos(number / 60)))
        first = (full_range - width) * (0.5 + 0.5 * math.sin(number / 23))
        set_visible_range(first, first + width)
        while painted.count == before:
            app.processEvents()
        longest = max(longest, (time.perf_counter() - start) * 1_000)
    return Frames(name, frames, time.perf_counter() - started_at, time.thread_time() - cpu, longest)


def moved(home: Home, runs: list[str], frames: int) -> list[tuple[Frames, Frames]]:
    """Measure ours and the baseline for each size."""
    pairs = []
    with open_page(home) as (page, model):
        model.set_group_by("")
        model.show(runs)
        wait_for(lambda: _is_complete(model), "curves")
        page.board.enlarge(_KEY)
        for size in _SIZES:
            page.resize(*size)
            wait_for(lambda: _is_complete(model), "curves")
            card = page.board.card(_KEY)
            assert card is not None
            assert card.plot is not None
            plot = card.plot
            size_text = f"{size[0]} x {size[1]}"
            ours = move(f"mosaic, {size_text}", frames, plot.set_visible_range, plot.viewport())
            plot.show_full_range()
            wait_for(lambda: _is_complete(model), "curves")
            pairs.append((ours, baseline(f"pyqtgraph, {size_text}", frames, model, plot.size())))
    return pairs


def _is_complete(model: ChartsModel) -> bool:
    plot_data = model.plot_data(_KEY)
    return plot_data is not None and len(plot_data.runs) == _CURVES


def baseline(name: str, frames: int, model: ChartsModel, size: object) -> Frames:
    """Plain pyqtgraph with the downsampled points of the complete curves."""
    pg = importlib.import_module("pyqtgraph")
    plot_data = model.plot_data(_KEY)
    assert plot_data is not None
    plot = pg.PlotWidget()
    plot.resize(size)
    for run in plot_data.runs:
        plot.plot(run.x, run.y, pen=pg.mkPen("#9ec5e0", width=1))
        plot.plot(run.smooth_x, run.smooth_y, pen=pg.mkPen("#0072b2", width=1))
    plot.show()
    plot.enableAutoRange(y=True)

    def set_visible_range(first: float, last: float) -> None:
        plot.setXRange(first, last, padding=0)

    made = move(name, frames, set_visible_range, plot.viewport())
    plot.close()
    return made


def bare_opening(points: int) -> tuple[float, float]:
    """Plain pyqtgraph with all points in memory: until the curve is painted."""
    pg, np = importlib.import_module("pyqtgraph"), importlib.import_module("numpy")
    x, y = np.arange(float(points)), np.random.default_rng(1).normal(size=points)
    app = QApplication.instance()
    assert app is not None
    started_at, cpu = time.perf_counter(), time.process_time()
    plot = pg.PlotWidget()
    plot.resize(*_SIZES[0])
    plot.plot(x, y)
    painted = Painted(plot.viewport())
    plot.show()
    while not painted.count:
        app.processEvents()
    took = (time.perf_counter() - started_at) * 1_000, (time.process_time() - cpu) * 1_000
    plot.close()
    return took


def live(home: Home, runs: list[str], seconds: float) -> tuple[Gaps, Gaps, float, int]:
    """Return gaps of ours and the baseline, repaints per second and plot, and the plot count."""
    drawn: Counter[MetricKey] = Counter()
    with open_page(home) as (page, model):
        model.set_group_by("")
        model.show(runs)
        wait_for(lambda: _is_live(model), "curves")
        run_for(2.0)
        model.plot_changed.connect(lambda key: drawn.update([key]))
        watch = GapMonitor()
        watch.start()
        run_for(seconds)
        ours = watch.stop()
        plots = sum(card.is_on_screen for card in page.board.cards)
        plot_data = model.plot_data(_LIVE_KEY)
        assert plot_data is not None
        curves = [(run.x, run.y) for run in plot_data.runs]
    return ours, bare_live(curves, plots, seconds), drawn[_LIVE_KEY] / seconds, plots


def bare_live(curves: list[tuple[Any, Any]], plots: int, seconds: float) -> Gaps:
    """Plain pyqtgraph that gets the same curves ten times a second."""
    pg = importlib.import_module("pyqtgraph")
    widget = pg.GraphicsLayoutWidget()
    widget.resize(*_SIZES[0])
    items = []
    for _ in range(plots):
        plot = widget.addPlot()
        widget.nextRow()
        items += [(plot.plot(x, y), x, y) for x, y in curves]
    widget.show()
    run_for(1.0)
    timer = QTimer()
    timer.setInterval(1_000 // _GOAL_HZ)
    number = 0

    def update() -> None:
        nonlocal number
        number += 1
        for item, x, y in items:
            item.setData(x, y + number * 0.001)

    timer.timeout.connect(update)
    watch = GapMonitor()
    watch.start()
    timer.start()
    run_for(seconds)
    timer.stop()
    gaps = watch.stop()
    widget.close()
    return gaps


def _is_live(model: ChartsModel) -> bool:
    plot_data = model.plot_data(_LIVE_KEY)
    return plot_data is not None and len(plot_data.runs) == _LIVE_RUNS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument(
        "--seconds", type=float, default=15.0, help="Seconds with live runs. Default: 15."
    )
    add_platform_option(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with throwaway_daemon(("--max-runs", "8", "--cpus", "8")) as (client, home):
        runs, large = make_runs(client, home)
        QApplication(sys.argv[:1])
        first = opening(home, large)
        again = sorted(opening(home, large) for _ in range(_OPENINGS))
        bare = sorted(bare_opening(_OPENED_POINTS) for _ in range(_OPENINGS))
        pairs = moved(home, runs, options.frames)
        going = [
            client.submit(
                {**echo_config(steps=10_000_000, rate=_LIVE_RATE, episode_length=10), "seed": seed}
            ).run_id
            for seed in range(_LIVE_RUNS)
        ]
        ours, alone, repaints_hz, plots = live(home, going, options.seconds)
    print_table(
        f"A run of {_OPENED_POINTS:,} points, until its curve is painted",
        ("", "wall ms", "cpu ms"),
        [
            ("the first chart, with pyqtgraph's import", *first),
            ("later, median", *again[2]),
            ("pyqtgraph, with the points in memory", *bare[2]),
        ],
    )
    print_ratio("first paint against pyqtgraph", again[2][0] / bare[2][0], f"{_GOAL_MS} ms")
    print_table(
        f"{_CURVES} curves of {_POINTS:,} points, moved",
        ("", "frames/s", "frames/cpu s", "wall ms", "cpu ms", "longest ms"),
        [frames.row() for pair in pairs for frames in pair],
    )
    for moving, base in pairs:
        print_ratio(
            f"{moving.name}, processor time against pyqtgraph",
            (moving.cpu_s / moving.frames) / (base.cpu_s / base.frames),
            f"{_GOAL_FPS} frames/s",
        )
    print_table(
        f"{_LIVE_RUNS} live runs in {plots} plots, {repaints_hz:.1f} repaints/s each",
        GAP_HEADER,
        [ours.row("mosaic"), alone.row("pyqtgraph")],
    )
    print_ratio(
        "longest hold of the UI thread against pyqtgraph, processor time",
        max(ours.cpu) / max(alone.cpu),
        f"{_GOAL_GAP_MS} ms, at {_GOAL_HZ} repaints/s",
    )


if __name__ == "__main__":
    main()
