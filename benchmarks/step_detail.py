"""Overhead of recording episodes: each step detail against the plain gymnasium loop.

    benchmarks/run step_detail [--steps N]

The loop is the usual one (random actions, resets without a seed) on CartPole and on slippery
FrozenLake, with everything that an exact replay needs: the random state at each reset, episode
lines and, depending on the detail, steps. It runs in a child process whose stdout is a file opened
for appending, as under the supervisor. The details alternate, many times each; the table shows the
fastest round and the median ratio of neighbouring rounds.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from report import print_ratio, print_table

_TURNS = 60
_PLAIN = "plain loop"
_DETAILS = ("columns", "all", "sampled", "off")
_ENVIRONMENTS = {"CartPole-v1": 2, "FrozenLake-v1": 4}
_GOALS = {
    ("CartPole-v1", "columns"): "1.05 or less",
    ("FrozenLake-v1", "columns"): "1.10 or less",
    ("CartPole-v1", "all"): "1.35 or less",
    ("FrozenLake-v1", "all"): "1.35 or less",
}
_FLAG = "--in-child"

Seconds = dict[str, list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=4_000, help="Steps per round. Default: 4000.")
    parser.add_argument("--turns", type=int, default=_TURNS)
    parser.add_argument(_FLAG, metavar="ENVIRONMENT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_child:
        sys.stderr.write(json.dumps(measure(options.in_child, options.steps, options.turns)))
        return
    for env_id in _ENVIRONMENTS:
        show(env_id, run_child(env_id, options.steps, options.turns), options.steps)


def run_child(env_id: str, steps: int, turns: int) -> Seconds:
    with tempfile.TemporaryDirectory() as folder:
        spool = os.open(Path(folder) / "spool", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        command = [sys.executable, __file__, _FLAG, env_id]
        try:
            child = subprocess.run(
                [*command, "--steps", str(steps), "--turns", str(turns)],
                stdout=spool,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(spool)
    if child.returncode:
        sys.exit(child.stderr.decode())
    seconds: Seconds = json.loads(child.stderr)
    return seconds


def measure(env_id: str, steps: int, turns: int) -> Seconds:
    """Return the seconds of each round of each detail."""
    import gymnasium  # noqa: PLC0415 - not for the parent

    from mosaic_worker.emitter import Emitter  # noqa: PLC0415 - likewise
    from mosaic_worker.recording.recorder import EpisodeRecorder  # noqa: PLC0415 - likewise
    from mosaic_worker.standard_streams import claim_stdout  # noqa: PLC0415 - likewise

    spool = claim_stdout()
    envs = {variant: gymnasium.make(env_id) for variant in (_PLAIN, *_DETAILS)}
    recorders = {
        variant: EpisodeRecorder(Emitter(fd=spool), detail=variant) for variant in _DETAILS
    }
    for detail, recorder in recorders.items():
        recorder.attach(envs[detail])
    seconds: Seconds = {variant: [] for variant in envs}
    for _ in range(turns):
        for variant, env in envs.items():
            os.ftruncate(spool, 0)
            start = time.perf_counter()
            play(env, steps, _ENVIRONMENTS[env_id])
            if variant in recorders:
                recorders[variant].flush()
            seconds[variant].append(time.perf_counter() - start)
    return seconds


def play(env: Any, steps: int, actions: int) -> None:
    choose = random.Random(1).randrange
    env.reset(seed=1)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(choose(actions))
        if terminated or truncated:
            env.reset()


def show(env_id: str, seconds: Seconds, steps: int) -> None:
    fastest = {variant: min(turns) / steps * 1e6 for variant, turns in seconds.items()}
    # Each turn against the plain one beside it in time: a machine that slows down slows both.
    ratios = {
        variant: statistics.median(
            turn / plain for turn, plain in zip(turns, seconds[_PLAIN], strict=True)
        )
        for variant, turns in seconds.items()
    }
    print_table(
        f"{env_id}, {len(seconds[_PLAIN])} rounds of {steps:,} steps each",
        ("detail", "µs a step", "median ratio"),
        [(variant, fastest[variant], ratios[variant]) for variant in fastest],
    )
    for (of, detail), goal in _GOALS.items():
        if of == env_id:
            print_ratio(f"{env_id}, detail `{detail}`", ratios[detail], goal)


if __name__ == "__main__":
    main()
