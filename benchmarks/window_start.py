"""The window from its first import to its first paint, its memory with a live run, and at rest.

benchmarks/run window_start [--turns N] [--platform xcb]

Each start is a process of its own, with byte code that is there already. A bare window is started
in turn with it, so that a busy machine slows both alike.
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


def start(environment: dict[str, str], *arguments: str) -> dict[str, Any]:
    command = [sys.executable, str(_CHILD), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def warm(platform: str, byte_code: str) -> dict[str, str]:
    """Byte code is kept, wherever the checkout or the shell would not have it."""
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": platform,
        "PYTHONPYCACHEPREFIX": byte_code,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def middle(starts: list[dict[str, Any]], name: str) -> float:
    return statistics.median(float(each[name]) for each in starts)


def measure_starts(environment: dict[str, str], home: str, turns: int) -> None:
    found: dict[str, list[dict[str, Any]]] = {"bare": [], "window": []}
    for turn in range(turns + 1):
        for kind, starts in found.items():
            told = start(environment, kind, *([home] if kind == "window" else []))
            if turn:  # the first one fills the caches
                starts.append(told)
    bare, window = found["bare"], found["window"]
    print_table(
        f"First import to first paint, {turns} starts each",
        ("start", "median s", "fastest s", "median cpu s", "fastest cpu s", "MB"),
        [
            (
                name,
                middle(starts, "wall_s"),
                min(each["wall_s"] for each in starts),
                middle(starts, "cpu_s"),
                min(each["cpu_s"] for each in starts),
                middle(starts, "mb"),
            )
            for name, starts in (("bare QMainWindow", bare), ("the window", window))
        ],
    )
    print_table(
        "Where it goes",
        ("part", "median s", "median cpu s"),
        [
            (
                name,
                statistics.median(each["steps"][number][1] for each in window),
                statistics.median(each["steps"][number][2] for each in window),
            )
            for number, (name, _, _) in enumerate(window[0]["steps"])
        ],
    )
    print(f"of the heavy libraries it has imported: {', '.join(window[0]['heavy']) or 'none'}")
    print(f"median: {middle(window, 'wall_s') / _GOAL_S:.2f} of the goal of {_GOAL_S} s")
    print(f"in processor time: {middle(window, 'cpu_s') / _GOAL_S:.2f} of it")
    print_ratio(
        "the window against the bare one",
        middle(window, "wall_s") / middle(bare, "wall_s"),
        f"{_GOAL_S} s or less",
    )


def measure_memory_and_rest(environment: dict[str, str], bare_mb: float) -> None:
    with throwaway_daemon() as (client, home):
        idle = start(environment, "idle", str(home.path))
        config = echo_config(steps=10_000_000, rate=1_000, episode_length=200)
        run = client.submit({**config, "telemetry": {"frames": True}})
        live = start(environment, "live", str(home.path), run.run_id)
        client.cancel(run.run_id)
    print_table(
        "Memory and rest",
        ("", "MB", "% of a core"),
        [
            ("bare QMainWindow", bare_mb, ""),
            ("connected, nothing to do", idle["mb"], idle["percent"]),
            ("with one live run", live["mb"], ""),
        ],
    )
    print(f"memory: {live['mb'] / _GOAL_MB:.2f} of the goal of {_GOAL_MB} MB")
    print(f"at rest: {idle['percent'] / _GOAL_PERCENT:.2f} of the goal of {_GOAL_PERCENT} %")
    print_ratio("memory against the bare window", live["mb"] / bare_mb, f"{_GOAL_MB} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--platform", default="offscreen", help="of Qt; xcb needs a DISPLAY")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as folder:
        environment = warm(options.platform, str(Path(folder) / "byte-code"))
        measure_starts(environment, str(Path(folder) / "home"), options.turns)
        bare_mb = float(start(environment, "bare")["mb"])
        measure_memory_and_rest(environment, bare_mb)


if __name__ == "__main__":
    main()
