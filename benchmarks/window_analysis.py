"""The window with 8 live runs: how long the UI thread is blocked on each page.

benchmarks/run window_analysis [--seconds S] [--platform xcb]

First without runs; then 8 runs report steps and metrics while the pages are opened, other runs are
selected, all are compared, the training form is opened, the algorithm is changed, and a run of the
CleanRL worker is launched.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

from cached_bundles import daemon_with_bundle
from report import print_ratio, print_table
from throwaway_daemon import echo_config
from window_harness import (
    GAP_HEADER,
    GapMonitor,
    Gaps,
    add_platform_option,
    open_window,
    run_for,
    use_platform,
    wait_for,
)

from gym_gui.app.screens import CentreTab
from gym_gui.app.wiring import AppContext
from gym_gui.training.view.training_panel import TrainingPanel
from mosaic.client import TrainerClient
from mosaic.contract.run_states import RunState

_RUNS = 8
_PRELOAD_S = 4.0
"""Time for what the window loads in the background after its start."""
_CLICK_INTERVAL_S = 0.5
"""Time between two clicks of a fast user."""
_RATE = 500
_GOAL_MS = 50.0
_GOAL_LAUNCH_S = 1.0
_GOAL_FORM_MS = 150.0
_OPTIONS = ("--max-runs", str(_RUNS + 2), "--cpus", str(2 * _RUNS))
_PAGES: tuple[CentreTab, ...] = ("live", "run", "charts", "compare")


@dataclass
class Phase:
    """Measurements of one phase."""

    name: str
    gaps: Gaps


class PhaseRecorder:
    """Measures phases of one window."""

    def __init__(self) -> None:
        self._gaps = GapMonitor()
        self.phases: list[Phase] = []

    def record(self, name: str, seconds: float, do: Callable[[], None] = lambda: None) -> None:
        self._gaps.start()
        do()
        run_for(seconds)
        self.phases.append(Phase(name, self._gaps.stop()))


def start_runs(client: TrainerClient) -> list[str]:
    config = echo_config(steps=100_000_000, rate=_RATE, episode_length=50)
    return [
        client.submit({**config, "run_name": f"run {number}", "seed": number}).run_id
        for number in range(_RUNS)
    ]


def go_through_pages(
    bench: AppContext, recorder: PhaseRecorder, runs: list[str], seconds: float
) -> None:
    centre = bench.window.centre
    wait_for(lambda: bench.models.runs.running_count == _RUNS, "running of all runs")
    bench.navigation.show_run(runs[0])
    for page in _PAGES:
        recorder.record(f"opening {page}", seconds / 2, lambda page=page: centre.show_tab(page))  # type: ignore[misc]
        recorder.record(page, seconds)
    centre.show_tab("charts")

    def select_others() -> None:
        for number, run_id in enumerate(runs):
            bench.runs_view.select(run_id)
            run_for(seconds / len(runs) if number else 0.1)

    recorder.record("selecting other runs", 0.5, select_others)
    recorder.record("comparing all 8", seconds, lambda: bench.analysis.compare(runs))
    recorder.record("comparing all 8, later", seconds)


def open_form(bench: AppContext) -> float:
    """Return the milliseconds from the click to the completely painted form."""
    started_at = time.perf_counter()
    bench.training_navigation.train()

    def is_complete() -> bool:
        panel = bench.session_panel.findChild(TrainingPanel)
        return panel is not None and panel.isVisible() and panel.sections.is_finished

    wait_for(is_complete, "form")
    return (time.perf_counter() - started_at) * 1_000


def launch(bench: AppContext) -> float:
    """Return the seconds from Launch until the run is shown as running."""
    model = bench.training.model
    wait_for(lambda: not model.launch_problem, "ready form")
    launched: list[str] = []
    model.launched.connect(launched.append)
    started_at = time.perf_counter()
    model.launch()
    if model.is_consent_requested:
        model.allow_and_launch()

    def runs_now() -> bool:
        run = bench.models.runs.by_id(launched[0]) if launched else None
        return run is not None and run.state is RunState.RUNNING

    wait_for(runs_now, "run that was launched")
    return time.perf_counter() - started_at


def report(recorder: PhaseRecorder, form_ms: list[float], launch_s: list[float]) -> None:
    print_table(
        "Gaps of the event loop",
        GAP_HEADER,
        [phase.gaps.row(phase.name) for phase in recorder.phases],
    )
    quiet, *busy = recorder.phases
    longest = max(busy, key=lambda phase: max(phase.gaps.own))
    print(f"Longest gap: {max(longest.gaps.own):.0f} ms, in: {longest.name}")
    print_ratio(
        "longest hold against the window without runs",
        max(longest.gaps.own) / max(0.01, *quiet.gaps.own),
        f"{_GOAL_MS:.0f} ms",
    )
    print_table(
        "Training",
        ("", "measured", "goal", "measured / goal"),
        [
            (
                "form opens the first time, ms",
                form_ms[0],
                _GOAL_FORM_MS,
                form_ms[0] / _GOAL_FORM_MS,
            ),
            ("form opens again, ms", form_ms[1], _GOAL_FORM_MS, form_ms[1] / _GOAL_FORM_MS),
            *(
                ("launch to running, s", seconds, _GOAL_LAUNCH_S, seconds / _GOAL_LAUNCH_S)
                for seconds in launch_s
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="Seconds per page. Default: 6.")
    add_platform_option(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with (
        daemon_with_bundle("cleanrl_worker", _OPTIONS) as (client, home),
        open_window(home) as bench,
    ):
        bench.window.resize(1440, 900)
        run_for(_PRELOAD_S)
        recorder = PhaseRecorder()
        recorder.record("without runs", options.seconds)
        runs = start_runs(client)
        go_through_pages(bench, recorder, runs, options.seconds)
        bench.models.session_panel.choice.choose("CartPole-v1")
        run_for(_CLICK_INTERVAL_S)
        form_ms: list[float] = []
        recorder.record("opening the form", 0.5, lambda: form_ms.append(open_form(bench)))
        bench.models.session_panel.set_mode("human")
        run_for(_CLICK_INTERVAL_S)
        recorder.record("opening the form again", 0.5, lambda: form_ms.append(open_form(bench)))
        for run_id in runs:
            client.cancel(run_id)
        wait_for(lambda: bench.models.runs.running_count == 0, "end of the runs")
        launch_s: list[float] = []
        for _ in range(3):
            recorder.record("launching", 1.0, lambda: launch_s.append(launch(bench)))
    report(recorder, form_ms, launch_s)


if __name__ == "__main__":
    main()
