"""Our learners, CleanRL's scripts and Stable-Baselines3's, each as a separate process.

All three print CleanRL's lines, from which speed and returns are read: the speed is counted by the
program itself, without the import of torch. One thread each.
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

from cached_bundles import bundle_python
from report import print_ratio, print_table

_ROOT = Path(__file__).parents[1]
_SOURCES = ("worker_sdk/src", "workers/cleanrl_worker/src")
_SPEED = re.compile(rb"^SPS: (\d+)", re.MULTILINE)
_RETURN = re.compile(rb"episodic_return=\[?\s*(-?[\d.]+(?:e[-+]?\d+)?)")
_LAST_EPISODES = 100


@dataclass(frozen=True)
class Outcome:
    """Result of a training."""

    steps_per_s: float
    mean_return: float
    """Of the last hundred episodes."""
    returns: tuple[float, ...]
    """Of all episodes, in order."""
    cpu_s: float
    """CPU time of the process: more reliable than wall time on a busy machine."""


@dataclass(frozen=True)
class Sides:
    """Paths of the three programs; None: skipped."""

    ours: Path
    cleanrl: Path | None
    upstream: Path
    has_sb3: bool


def sides_parser(description: str | None, *, steps: int) -> argparse.ArgumentParser:
    """Return a parser with the options that all comparisons share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cleanrl", type=Path, help="Checkout of CleanRL.")
    parser.add_argument(
        "--upstream-python",
        type=Path,
        help="Python that runs CleanRL. Default: the bundle cleanrl_upstream.",
    )
    parser.add_argument(
        "--python",
        type=Path,
        help="Python that runs our learners. Default: the bundle cleanrl_worker.",
    )
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seeds", type=int, default=3)
    return parser


def find_sides(arguments: argparse.Namespace) -> Sides:
    upstream = arguments.upstream_python or bundle_python("cleanrl_upstream")
    probe = subprocess.run(
        [upstream, "-c", "import stable_baselines3"], check=False, capture_output=True
    )
    if probe.returncode != 0:
        print("Stable-Baselines3 is not installed there: skipped.", file=sys.stderr)
    return Sides(
        ours=arguments.python or bundle_python("cleanrl_worker"),
        cleanrl=arguments.cleanrl and arguments.cleanrl.resolve(),
        upstream=upstream,
        has_sb3=probe.returncode == 0,
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
    """Train with Stable-Baselines3; `settings` are arguments of its algorithm class."""
    if not sides.has_sb3:
        return None
    child = _ROOT / "benchmarks" / "cleanrl_sb3_child.py"
    order = {"algo": algo, "env_id": env_id, "steps": steps, "seed": seed, "settings": settings}
    return _outcome([str(sides.upstream), str(child), json.dumps(order)], [])


def print_comparison(
    title: str, outcomes: dict[str, list[Outcome | None]], *, goal: str, ours: str = "ours"
) -> None:
    """Print one row per program; ratios are medians over seeds."""
    ran = {name: [result for result in results if result] for name, results in outcomes.items()}
    rows: list[tuple[object, ...]] = [
        (
            name,
            statistics.median(result.steps_per_s for result in results),
            statistics.median(result.cpu_s for result in results),
            statistics.mean(result.mean_return for result in results),
            min(result.mean_return for result in results),
        )
        for name, results in ran.items()
        if results
    ]
    head = ("", "steps/s", "CPU s, start included", "return, mean of seeds", "worst seed")
    print_table(f"{title}, {len(ran[ours])} seeds", head, rows)
    for name, results in ran.items():
        if name != ours and results:
            pairs = list(zip(ran[ours], results, strict=True))
            ratio = statistics.median(one.steps_per_s / other.steps_per_s for one, other in pairs)
            print_ratio(f"steps/s against {name}", ratio, goal)
            ratio = statistics.median(other.cpu_s / one.cpu_s for one, other in pairs)
            print_ratio(f"steps per CPU-second against {name}", ratio, goal)


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
    returns = [float(text) for text in _RETURN.findall(ended.stdout)]
    assert speeds, f"no speed in what {command[1]} printed"
    assert returns, f"no return in what {command[1]} printed"
    mean_return = statistics.mean(returns[-_LAST_EPISODES:])
    return Outcome(float(speeds[-1]), mean_return, tuple(returns), cpu_s)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
