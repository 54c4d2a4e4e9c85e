"""The window with four runs that send 20,000 events/s and frames at 60 Hz.

benchmarks/run window_live [--minutes M] [--platform xcb]

First without runs, then the Live tab shows one of the runs with frames, then the Frame tab shows a
session of LunarLander while the hidden Live tab keeps following the run.
"""

import argparse
import os
import time
from dataclasses import dataclass, field

from cached_bundles import daemon_with_bundle
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget  # noqa: TID251
from report import print_ratio, print_table
from throwaway_daemon import cpu_seconds, echo_config, resident_mb
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
from gym_gui.live.view.live_tab import LiveCanvas
from gym_gui.play.view.frame_canvas import ZoomableFrameCanvas
from mosaic.client import TrainerClient

_RUNS = 4
_RATE = 5_000
_QUIET_S = 20.0
_SETTLE_S = 5.0
_GOAL_GAP_MS = 33.0
_GOAL_FPS = 30
_ENVIRONMENT = "LunarLander-v3"
_OPTIONS = ("--max-runs", str(_RUNS + 2), "--cpus", str(2 * _RUNS))


class PaintCount(QObject):
    """Counts the paint events of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.paints = 0
        widget.installEventFilter(self)

    def eventFilter(self, _: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.paints += event.type() == QEvent.Type.Paint
        return False


@dataclass
class Phase:
    """Measurements of one phase."""

    name: str
    gaps: Gaps = field(default_factory=Gaps)
    seconds: float = 0.0
    ui_cpu_s: float = 0.0
    process_cpu_s: float = 0.0
    ticks: int = 0
    paints: int = 0
    events: int = 0
    memory_mb: list[float] = field(default_factory=list)

    def summarize(self) -> tuple[object, ...]:
        return (
            self.name,
            self.events / self.seconds,
            self.paints / self.seconds,
            self.ticks / self.seconds,
            self.ui_cpu_s / max(1, self.ticks) * 1_000,
            self.ui_cpu_s / self.seconds * 100,
            self.process_cpu_s / self.seconds * 100,
        )

    def memory(self) -> tuple[object, ...]:
        third = max(1, len(self.memory_mb) // 3)
        first, last = self.memory_mb[:third], self.memory_mb[-third:]
        return self.name, max(first), max(last), max(last) / max(first)


class PhaseRecorder:
    """Measures phases of one window and its runs."""

    def __init__(self, bench: AppContext, client: TrainerClient) -> None:
        self._bench = bench
        self._client = client
        self._gaps = GapMonitor()
        self._ticks = 0
        bench.ticker.subscribe(bench, self._count_tick)

    def record(self, name: str, seconds: float, widget: QWidget, runs: list[str]) -> Phase:
        phase = Phase(name)
        paints, memory = PaintCount(widget), QTimer()
        memory.timeout.connect(lambda: phase.memory_mb.append(resident_mb(os.getpid())))
        run_for(_SETTLE_S)
        steps = self._steps_of(runs)
        before = (time.perf_counter(), time.thread_time(), cpu_seconds(os.getpid()), self._ticks)
        paints.paints = 0
        memory.start(1_000)
        self._gaps.start()
        run_for(seconds)
        phase.gaps = self._gaps.stop()
        memory.stop()
        phase.seconds = time.perf_counter() - before[0]
        phase.ui_cpu_s = time.thread_time() - before[1]
        phase.process_cpu_s = cpu_seconds(os.getpid()) - before[2]
        phase.ticks = self._ticks - before[3]
        phase.paints = paints.paints
        phase.events = self._steps_of(runs) - steps
        return phase

    def _steps_of(self, runs: list[str]) -> int:
        return sum(self._client.stats(run_id).steps for run_id in runs)

    def _count_tick(self) -> bool:
        self._ticks += 1
        return False


def start_runs(client: TrainerClient) -> list[str]:
    """Start the runs; the first one also renders frames."""
    config = echo_config(steps=100_000_000, rate=_RATE, episode_length=200)
    return [
        client.submit({**config, "telemetry": {"frames": number == 0}}).run_id
        for number in range(_RUNS)
    ]


def watch_run(bench: AppContext, run_id: str) -> QWidget:
    wait_for(lambda: bench.models.runs.by_id(run_id) is not None, "run in the list")
    bench.navigation.watch(run_id)
    wait_for(lambda: bench.models.live.frame is not None, "frame of the run")
    canvas = bench.live_tab.findChild(LiveCanvas)
    assert canvas is not None
    return canvas


def play(bench: AppContext, run_id: str) -> QWidget:
    panel, models = bench.models.session_panel, bench.models
    panel.set_mode("hybrid")
    panel.choice.choose(_ENVIRONMENT)
    wait_for(lambda: panel.actors.find("scripted") is not None, "actor")
    panel.choose_actor("scripted")
    panel.play()
    wait_for(lambda: models.play.state.env_id == _ENVIRONMENT, "game")
    bench.window.centre.show_tab("frame")
    wait_for(lambda: models.play.frame is not None, "frame of the session")
    bench.navigation.show_run(run_id)
    canvas = bench.play_area.frame_page.findChild(ZoomableFrameCanvas)
    assert canvas is not None
    return canvas


def report(phases: list[Phase]) -> None:
    quiet, *busy = phases
    print_table(
        "Gaps of the event loop", GAP_HEADER, [phase.gaps.row(phase.name) for phase in phases]
    )
    print_table(
        "What the window did",
        ("", "events/s", "frames/s", "ticks/s", "UI cpu ms/tick", "UI cpu %", "all cpu %"),
        [phase.summarize() for phase in phases],
    )
    print_table(
        "Its memory, largest of the first and of the last third",
        ("MB", "first", "last", "last / first"),
        [phase.memory() for phase in phases],
    )
    for phase in busy:
        wall, own = summarize(phase.gaps.wall)[1], summarize(phase.gaps.own)[1]
        print(
            f"{phase.name}: p99 {wall / _GOAL_GAP_MS:.2f} of the goal of {_GOAL_GAP_MS:.0f} ms,"
            f" {own / _GOAL_GAP_MS:.2f} without waiting for a processor;"
            f" {phase.paints / phase.seconds / _GOAL_FPS:.2f} of {_GOAL_FPS} frames/s"
        )
        print_ratio(
            f"{phase.name}, p99 against the window without runs",
            own / max(0.01, summarize(quiet.gaps.own)[1]),
            f"{_GOAL_GAP_MS:.0f} ms",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=2.0, help="Minutes on the Live tab. Default: 2."
    )
    add_platform_option(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    seconds = options.minutes * 60
    with (
        daemon_with_bundle(options=_OPTIONS) as (client, home),
        open_window(home) as bench,
    ):
        bench.window.centre.show_tab("live")
        recorder = PhaseRecorder(bench, client)
        phases = [recorder.record("without runs", _QUIET_S, bench.live_tab, [])]
        runs = start_runs(client)
        canvas = watch_run(bench, runs[0])
        phases.append(recorder.record("Live tab", seconds, canvas, runs))
        canvas = play(bench, runs[0])
        phases.append(recorder.record("Frame tab", min(seconds, 60.0), canvas, runs))
        for run_id in runs:
            client.cancel(run_id)
    report(phases)


if __name__ == "__main__":
    main()
