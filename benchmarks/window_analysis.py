"""The window with 8 live runs: how long the UI thread is held in each of its pages.

benchmarks/run window_analysis [--seconds S] [--platform xcb]

First nothing runs; then 8 runs tell steps and metrics, and a person goes from page to page, picks
other runs, compares all of them, opens the training form, changes the algorithm, and launches a
run of the CleanRL worker.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

from kept_bundles import daemon_with_bundle
from report import print_ratio, print_table
from throwaway_daemon import echo_config
from window_parts import (
    GAP_HEAD,
    Gaps,
    GapWatch,
    open_window,
    run_for,
    take_platform,
    use_platform,
    wait_for,
)

from gym_gui.app.screens import CentreTab
from gym_gui.app.wiring import AppContext
from gym_gui.training.view.training_panel import TrainingPanel
from mosaic.client import TrainerClient
from mosaic.contract.run_states import RunState

_RUNS = 8
_GET_READY_S = 4.0
_NEXT_CLICK_S = 0.5
"""Nobody is quicker from one click to the next, elsewhere."""
"""What the window loads by itself after it has started."""
_RATE = 500
_GOAL_MS = 50.0
_GOAL_LAUNCH_S = 1.0
_GOAL_FORM_MS = 150.0
_OPTIONS = ("--max-runs", str(_RUNS + 2), "--cpus", str(2 * _RUNS))
_PAGES: tuple[CentreTab, ...] = ("live", "run", "charts", "compare")


@dataclass
class Phase:
    """What was seen for a while."""

    name: str
    gaps: Gaps


class Watch:
    """Over one window."""

    def __init__(self) -> None:
        self._gaps = GapWatch()
        self.phases: list[Phase] = []

    def look(self, name: str, seconds: float, do: Callable[[], None] = lambda: None) -> None:
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


def go_through_pages(bench: AppContext, watch: Watch, runs: list[str], seconds: float) -> None:
    centre = bench.window.centre
    wait_for(lambda: bench.models.runs.running_count == _RUNS, "running of all runs")
    bench.conduct.show_run(runs[0])
    for page in _PAGES:
        watch.look(f"first look at {page}", seconds / 2, lambda page=page: centre.show_tab(page))  # type: ignore[misc]
        watch.look(page, seconds)
    centre.show_tab("charts")

    def pick_others() -> None:
        for number, run_id in enumerate(runs):
            bench.runs_view.select(run_id)
            run_for(seconds / len(runs) if number else 0.1)

    watch.look("picking other runs", 0.5, pick_others)
    watch.look("comparing all 8", seconds, lambda: bench.analysis.compare(runs))
    watch.look("comparing all 8, later", seconds)


def open_form(bench: AppContext) -> float:
    """From the click to a form that is whole and painted, in milliseconds."""
    began = time.perf_counter()
    bench.training_conduct.train()

    def is_whole() -> bool:
        panel = bench.session_panel.findChild(TrainingPanel)
        return panel is not None and panel.isVisible() and panel.sections.is_finished

    wait_for(is_whole, "form")
    return (time.perf_counter() - began) * 1_000


def launch(bench: AppContext) -> float:
    """From Launch to the run visible as running, in seconds."""
    model = bench.training.model
    wait_for(lambda: not model.launch_problem, "ready form")
    launched: list[str] = []
    model.launched.connect(launched.append)
    began = time.perf_counter()
    model.launch()
    if model.consent_wanted:
        model.allow_and_launch()

    def runs_now() -> bool:
        run = bench.models.runs.by_id(launched[0]) if launched else None
        return run is not None and run.state is RunState.RUNNING

    wait_for(runs_now, "run that was launched")
    return time.perf_counter() - began


def report(watch: Watch, form_ms: list[float], launch_s: list[float]) -> None:
    print_table(
        "Gaps of the event loop", GAP_HEAD, [each.gaps.row(each.name) for each in watch.phases]
    )
    quiet, *busy = watch.phases
    longest = max(busy, key=lambda phase: max(phase.gaps.own))
    print(f"Longest hold: {max(longest.gaps.own):.0f} ms, in: {longest.name}")
    print_ratio(
        "longest hold against the window without runs",
        max(longest.gaps.own) / max(0.01, *quiet.gaps.own),
        f"{_GOAL_MS:.0f} ms",
    )
    print_table(
        "Training",
        ("", "seen", "goal", "seen / goal"),
        [
            (
                "form opens the first time, ms",
                form_ms[0],
                _GOAL_FORM_MS,
                form_ms[0] / _GOAL_FORM_MS,
            ),
            ("form opens again, ms", form_ms[1], _GOAL_FORM_MS, form_ms[1] / _GOAL_FORM_MS),
            *(
                ("launch to running, s", each, _GOAL_LAUNCH_S, each / _GOAL_LAUNCH_S)
                for each in launch_s
            ),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0, help="in each page")
    take_platform(parser)
    options = parser.parse_args()
    use_platform(options.platform)
    with (
        daemon_with_bundle("cleanrl_worker", _OPTIONS) as (client, home),
        open_window(home) as bench,
    ):
        bench.window.resize(1440, 900)
        run_for(_GET_READY_S)
        watch = Watch()
        watch.look("without runs", options.seconds)
        runs = start_runs(client)
        go_through_pages(bench, watch, runs, options.seconds)
        bench.models.session_panel.choice.choose("CartPole-v1")
        run_for(_NEXT_CLICK_S)
        form_ms: list[float] = []
        watch.look("opening the form", 0.5, lambda: form_ms.append(open_form(bench)))
        bench.models.session_panel.set_mode("human")
        run_for(_NEXT_CLICK_S)
        watch.look("opening the form again", 0.5, lambda: form_ms.append(open_form(bench)))
        for run_id in runs:
            client.cancel(run_id)
        wait_for(lambda: bench.models.runs.running_count == 0, "end of the runs")
        launch_s: list[float] = []
        for _ in range(3):
            watch.look("launching", 1.0, lambda: launch_s.append(launch(bench)))
    report(watch, form_ms, launch_s)


if __name__ == "__main__":
    main()
