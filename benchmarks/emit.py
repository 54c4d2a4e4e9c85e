"""Overhead of telemetry in a worker: FrozenLake with every step emitted, against no telemetry.

    benchmarks/run emit [--steps N]

The loop is the usual one (random actions, slippery ice) and runs in a child process whose stdout
is a file opened for appending, as under the supervisor. The variants alternate, many times each;
the table shows the fastest round and the median ratio of neighbouring rounds. Also: scalars emitted
per second.
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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from report import print_ratio, print_table

_TURNS = 60
_ACTIONS = 4
_BARE = "no telemetry"
_BEST = "msgspec"
_VARIANTS: dict[str, dict[str, Any]] = {
    _BEST: {"encoder": "msgspec"},
    "msgspec, one write a step": {"encoder": "msgspec", "burst": 1},
    "orjson": {"encoder": "orjson"},
    "json": {"encoder": "json"},
}
_WITH_EPISODES = "msgspec, episodes too"
_METRICS = "scalars"
_FLAG = "--in-child"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=4_000, help="Steps per round. Default: 4000.")
    parser.add_argument(_FLAG, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_child:
        sys.stderr.write(json.dumps(measure(options.steps)))
    else:
        show(run_child(options.steps), options.steps)


def run_child(steps: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        spool = os.open(Path(folder) / "spool", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            child = subprocess.run(
                [sys.executable, __file__, _FLAG, "--steps", str(steps)],
                stdout=spool,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(spool)
    if child.returncode:
        sys.exit(child.stderr.decode())
    seconds: dict[str, list[float]] = json.loads(child.stderr)
    return seconds


def measure(steps: int) -> dict[str, list[float]]:
    """Return the seconds of each round of each variant."""
    import gymnasium  # noqa: PLC0415 - not for the parent

    from mosaic_worker.emitter import Emitter  # noqa: PLC0415 - likewise
    from mosaic_worker.standard_streams import claim_stdout  # noqa: PLC0415 - likewise

    env = gymnasium.make("FrozenLake-v1", is_slippery=True)
    spool = claim_stdout()
    emitters = {variant: Emitter(fd=spool, **options) for variant, options in _VARIANTS.items()}
    turns: dict[str, Callable[[], None]] = {_BARE: partial(play_bare, env, steps)}
    for variant, emitter in emitters.items():
        turns[variant] = partial(play, env, steps, emitter)
    turns[_WITH_EPISODES] = partial(play, env, steps, emitters[_BEST], episodes=True)
    turns[_METRICS] = partial(emit_metrics, emitters[_BEST], steps)

    seconds: dict[str, list[float]] = {variant: [] for variant in turns}
    for _ in range(_TURNS):
        for variant, turn in turns.items():
            os.ftruncate(spool, 0)
            start = time.perf_counter()
            turn()
            seconds[variant].append(time.perf_counter() - start)
    return seconds


def play_bare(env: Any, steps: int) -> None:
    choose = random.Random(1).randrange
    env.reset(seed=1)
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(choose(_ACTIONS))
        if terminated or truncated:
            env.reset()


def play(env: Any, steps: int, emitter: Any, *, episodes: bool = False) -> None:
    choose = random.Random(1).randrange
    env.reset(seed=1)
    episode_id = emitter.episode_start(seed=1)
    step, total = 0, 0.0
    for _ in range(steps):
        action = choose(_ACTIONS)
        obs, reward, terminated, truncated, _ = env.step(action)
        emitter.step(episode_id, step, action, reward, terminated, truncated, obs)
        step += 1
        total += reward
        if terminated or truncated:
            env.reset()
            if episodes:
                emitter.episode(episode_id, step, total)
                episode_id = emitter.episode_start()
            step, total = 0, 0.0
    emitter.flush()


def emit_metrics(emitter: Any, points: int) -> None:
    for n in range(points):
        emitter.metric("losses/value_loss", n * 0.5, n)


def show(seconds: dict[str, list[float]], steps: int) -> None:
    fastest = {variant: min(turns) / steps * 1e6 for variant, turns in seconds.items()}
    # Each turn against the bare one beside it in time: a machine that slows down slows both.
    ratios = {
        variant: statistics.median(
            turn / bare for turn, bare in zip(turns, seconds[_BARE], strict=True)
        )
        for variant, turns in seconds.items()
    }
    print_table(
        f"FrozenLake-v1, {_TURNS} rounds of {steps:,} steps each",
        ("every step emitted by", "µs a step", "median ratio"),
        [
            (variant, fastest[variant], ratios[variant])
            for variant in fastest
            if variant != _METRICS
        ],
    )
    print_ratio("emitting every step", ratios[_BEST], "1.35 or less")
    print(f"scalars: {1e6 / fastest[_METRICS]:,.0f} a second  (goal: 150,000 or more)")


if __name__ == "__main__":
    main()
