"""What the BDI agent learns with default parameters, given only environment and seed.

    benchmarks/run bdi_learning [--seeds N] [--world WORDS]

Runs `mosaic train` and then `mosaic evaluate`, and compares with the first hundred episodes of the
same training runs.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import Any

from cached_bundles import daemon_with_bundle
from report import print_ratio, print_table

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home

_WORKER = "spade_bdi_rl_worker"
_FIRST = 100
_CLI = (sys.executable, "-c", "from mosaic.cli.main import main; main()")


@dataclass(frozen=True, slots=True)
class World:
    """An environment and the score to reach."""

    name: str
    env_id: str
    goal: float
    arguments: tuple[str, ...] = ()
    episodes: int = 100
    is_measured_by_success: bool = False

    @property
    def options(self) -> list[str]:
        return ["--env", self.env_id, *(f"--env-arg={argument}" for argument in self.arguments)]


_WORLDS = (
    World(
        "FrozenLake 4x4", "FrozenLake-v1", 1.0, ("is_slippery=false",), is_measured_by_success=True
    ),
    World(
        "FrozenLake 8x8",
        "FrozenLake8x8-v1",
        1.0,
        ("is_slippery=false",),
        is_measured_by_success=True,
    ),
    World(
        "FrozenLake 4x4, slippery",
        "FrozenLake-v1",
        0.70,
        episodes=1_000,
        is_measured_by_success=True,
    ),
    World("CliffWalking", "CliffWalking-v1", -13.0),
    World("Taxi", "Taxi-v4", 7.0, episodes=1_000),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--world", default="", help="Only worlds whose name contains this text.")
    options = parser.parse_args()
    rows: list[tuple[object, ...]] = []
    reached = 0
    with daemon_with_bundle(_WORKER) as (client, home):
        for world in _WORLDS:
            if options.world not in world.name:
                continue
            trials = [trial(client, home, world, seed + 1) for seed in range(options.seeds)]
            scores = [score for _, score in trials]
            reached += min(scores) >= world.goal
            rows.append((world.name, fmean(first for first, _ in trials), *scores, world.goal))
            print(*rows[-1], flush=True)
    print_table(
        "Success rate of FrozenLake, mean return of the others",
        ("world", "at first", *(f"seed {seed + 1}" for seed in range(options.seeds)), "goal"),
        rows,
    )
    print_ratio("worlds in which every seed reached the goal", reached / len(rows), "1")


def trial(client: TrainerClient, home: Home, world: World, seed: int) -> tuple[float, float]:
    """Return the score of the first training episodes and of the learned policy."""
    run = run_cli(
        home, "train", _WORKER, "--algo", "q_learning", *world.options, "--seed", str(seed)
    )
    played = run_cli(home, "evaluate", run["run_id"], "--episodes", str(world.episodes))
    return (
        score(client, world, run["run_id"], _FIRST),
        score(client, world, played["run_id"], world.episodes),
    )


def score(client: TrainerClient, world: World, run_id: str, episodes: int) -> float:
    """Of that many episodes, as the store has them."""
    returns = [episode.total_return for episode in islice(client.episodes(run_id), episodes)]
    if len(returns) != episodes:
        raise SystemExit(f"run {run_id} has {len(returns)} episodes instead of {episodes}")
    return fmean(value > 0 for value in returns) if world.is_measured_by_success else fmean(returns)


def run_cli(home: Home, *arguments: str) -> dict[str, Any]:
    """Run a command and return its JSON output."""
    finished = subprocess.run(
        [*_CLI, *arguments, "--json", "--home", str(home.path)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    document: dict[str, Any] = json.loads(finished.stdout)
    return document


if __name__ == "__main__":
    main()
