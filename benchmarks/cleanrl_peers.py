"""Our learners, CleanRL's scripts and Stable-Baselines3's, each as a process of its own.

All three print CleanRL's lines, which the speed and the returns are read from: the speed is what
the program itself counted, without the time it takes to import torch. One thread each.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kept_bundles import bundle_python
from report import print_ratio, print_table

_ROOT = Path(__file__).parents[1]
_SOURCES = ("worker_sdk/src", "workers/cleanrl_worker/src")
_SPEED = re.compile(rb"^SPS: (\d+)", re.MULTILINE)
_RETURN = re.compile(rb"episodic_return=\[?\s*(-?[\d.]+(?:e[-+]?\d+)?)")
_LAST_EPISODES = 100


@dataclass(frozen=True)
class Outcome:
    """What a training came to."""

    steps_per_s: float
    mean_return: float
    """Of the last hundred episodes."""
    returns: tuple[float, ...]
    """Of all episodes, in order."""
    cpu_s: float
    """Of the whole process: what to go by when others keep the machine busy."""


@dataclass(frozen=True)
class Sides:
    """Where to find the three programs; None: left out."""

    ours: Path
    cleanrl: Path | None
    upstream: Path
    has_sb3: bool


def sides_parser(description: str | None, *, steps: int) -> argparse.ArgumentParser:
    """The flags of every comparison."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cleanrl", type=Path, help="a checkout of CleanRL")
    parser.add_argument(
        "--upstream-python",
        type=Path,
        help="the Python to run it with (default: that of the bundle cleanrl_upstream)",
    )
    parser.add_argument("--python", type=Path, help="the Python to run ours with")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seeds", type=int, default=3)
    return parser


def find_sides(arguments: argparse.Namespace) -> Sides:
    upstream = arguments.upstream_python or bundle_python("cleanrl_upstream")
    asked = subprocess.run(
        [upstream, "-c", "import stable_baselines3"], check=False, capture_output=True
    )
    if asked.returncode != 0:
        print("Stable-Baselines3 is not installed there: left out.", file=sys.stderr)
    return Sides(
        ours=arguments.python or bundle_python("cleanrl_worker"),
        cleanrl=arguments.cleanrl and arguments.cleanrl.resolve(),
        upstream=upstream,
        has_sb3=asked.returncode == 0,
    )


def run_ours(sides: Sides, algo: str, flags: Sequence[str]) -> Outcome:
    paths = [str(_ROOT / folder) for folder in _SOURCES]
    module = ("-m", f"cleanrl_worker.learners.{algo}")
    return _outcome([str(sides.ours), *module, *flags, "--no-save-model"], paths)


def run_cleanrl(sides: Sides, script: str, flags: Sequence[str]) -> Outcome | None:
    if sides.cleanrl is None:
        return None
    command = [str(sides.upstream), str(sides.cleanrl / "cleanrl" / f"{script}.py"), *flags]
    return _outcome(command, [str(sides.cleanrl)])


def run_sb3(
    sides: Sides, algo: str, env_id: str, *, steps: int, seed: int, settings: dict[str, object]
) -> Outcome | None:
    """`settings` are arguments of the algorithm's class, but for the network's."""
    if not sides.has_sb3:
        return None
    child = _ROOT / "benchmarks" / "cleanrl_sb3_child.py"
    order = {"algo": algo, "env_id": env_id, "steps": steps, "seed": seed, "settings": settings}
    return _outcome([str(sides.upstream), str(child), json.dumps(order)], [])


def print_comparison(
    title: str, outcomes: dict[str, list[Outcome | None]], *, goal: str, ours: str = "ours"
) -> None:
    """`outcomes` has one of each seed; the ratio of a pair is the median over seeds."""
    ran = {name: [each for each in found if each] for name, found in outcomes.items()}
    rows: list[tuple[object, ...]] = [
        (
            name,
            statistics.median(each.steps_per_s for each in found),
            statistics.median(each.cpu_s for each in found),
            statistics.mean(each.mean_return for each in found),
            min(each.mean_return for each in found),
        )
        for name, found in ran.items()
        if found
    ]
    head = ("", "steps/s", "CPU s, start included", "return, mean of seeds", "worst seed")
    print_table(f"{title}, {len(ran[ours])} seeds", head, rows)
    for name, found in ran.items():
        if name != ours and found:
            pairs = list(zip(ran[ours], found, strict=True))
            ratio = statistics.median(one.steps_per_s / other.steps_per_s for one, other in pairs)
            print_ratio(f"steps/s against {name}", ratio, goal)
            ratio = statistics.median(other.cpu_s / one.cpu_s for one, other in pairs)
            print_ratio(f"steps a CPU second against {name}", ratio, goal)


def _outcome(command: list[str], paths: list[str]) -> Outcome:
    inherited = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, *([inherited] if inherited else [])]),
        "OMP_NUM_THREADS": "1",
    }
    cpu_before = _cpu_of_children()
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True
        )
    cpu_s = _cpu_of_children() - cpu_before
    speeds = _SPEED.findall(ended.stdout)
    returns = [float(each) for each in _RETURN.findall(ended.stdout)]
    assert speeds, f"no speed in what {command[1]} printed"
    assert returns, f"no return in what {command[1]} printed"
    mean_return = statistics.mean(returns[-_LAST_EPISODES:])
    return Outcome(float(speeds[-1]), mean_return, tuple(returns), cpu_s)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
