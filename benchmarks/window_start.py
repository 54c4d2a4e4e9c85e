"""Start of the window until its first paint, memory with a live run, and idle CPU usage.

benchmarks/run window_start [--turns N] [--platform xcb]

Each start is a separate process with compiled byte code. It alternates with the start of a bare
window, so that load affects both alike.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import print_ratio, print_table
from throwaway_daemon import echo_config, throwaway_daemon

_CHILD = Path(__file__).with_name("window_start_child.py")
_GOAL_S = 0.8
_GOAL_MB = 300
_GOAL_PERCENT = 2.0


def run_start(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(_CHILD), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def warm(platform: str, byte_code: str) -> dict[str, str]:
    """Compile byte code, even if the checkout or the shell disables it."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": platform,
        "PYTHONPYCACHEPREFIX": byte_code,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def median_of(starts: list[dict[str, Any]], name: str) -> float:
    return statistics.median(float(start[name]) for start in starts)


def measure_starts(environment: dict[str, str], home: str, turns: int) -> None:
    starts_by_kind: dict[str, list[dict[str, Any]]] = {"bare": [], "window": []}
    for turn in range(turns + 1):
        for kind, starts in starts_by_kind.items():
            result = run_start(environment, kind, *([home] if kind == "window" else []))
            if turn:  # the first one fills the caches
                starts.append(result)
    bare, window = starts_by_kind["bare"], starts_by_kind["window"]
    print_table(
        f"First import to first paint, {turns} starts each",
        ("start", "median s", "fastest s", "median cpu s", "fastest cpu s", "MB"),
        [
            (
                name,
                median_of(starts, "wall_s"),
                min(start["wall_s"] for start in starts),
                median_of(starts, "cpu_s"),
                min(start["cpu_s"] for start in starts),
                median_of(starts, "mb"),
            )
            for name, starts in (("bare QMainWindow", bare), ("the window", window))
        ],
    )
    print_table(
        "Time by phase",
        ("phase", "median s", "median cpu s"),
        [
            (
                name,
                statistics.median(start["steps"][number][1] for start in window),
                statistics.median(start["steps"][number][2] for start in window),
            )
            for number, (name, _, _) in enumerate(window[0]["steps"])
        ],
    )
    print(f"imported heavy libraries: {', '.join(window[0]['heavy']) or 'none'}")
    print(f"median: {median_of(window, 'wall_s') / _GOAL_S:.2f} of the goal of {_GOAL_S} s")
    print(f"CPU time: {median_of(window, 'cpu_s') / _GOAL_S:.2f} of it")
    print_ratio(
        "the window against the bare one",
        median_of(window, "wall_s") / median_of(bare, "wall_s"),
        f"{_GOAL_S} s or less",
    )


def measure_memory_and_idle(environment: dict[str, str], bare_mb: float) -> None:
    with throwaway_daemon() as (client, home):
        idle = run_start(environment, "idle", str(home.path))
        config = echo_config(steps=10_000_000, rate=1_000, episode_length=200)
        run = client.submit({**config, "telemetry": {"frames": True}})
        live = run_start(environment, "live", str(home.path), run.run_id)
        client.cancel(run.run_id)
    print_table(
        "Memory and idle CPU",
        ("", "MB", "% of a core"),
        [
            ("bare QMainWindow", bare_mb, ""),
            ("connected, nothing to do", idle["mb"], idle["percent"]),
            ("with one live run", live["mb"], ""),
        ],
    )
    print(f"memory: {live['mb'] / _GOAL_MB:.2f} of the goal of {_GOAL_MB} MB")
    print(f"idle CPU: {idle['percent'] / _GOAL_PERCENT:.2f} of the goal of {_GOAL_PERCENT} %")
    print_ratio("memory against the bare window", live["mb"] / bare_mb, f"{_GOAL_MB} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--platform", default="offscreen", help="Qt platform; xcb needs DISPLAY.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as folder:
        environment = warm(options.platform, str(Path(folder) / "byte-code"))
        measure_starts(environment, str(Path(folder) / "home"), options.turns)
        bare_mb = float(run_start(environment, "bare")["mb"])
        measure_memory_and_idle(environment, bare_mb)


if __name__ == "__main__":
    main()
