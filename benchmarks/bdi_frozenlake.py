"""Training of the BDI agent on FrozenLake 4x4: stored episodes per second, and start-up time.

    benchmarks/run bdi_frozenlake [--episodes N] [--slippery] [--repeats N]

The worker trains through daemon, ingester and store, recorded as columns and as steps, against
a plain gymnasium loop with the same method, in the bundle's Python and in the same run. Episodes a
second are counted from the first one's end until all are stored; the best of the repeats counts.
"""

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from cached_bundles import bundle_python, daemon_with_bundle
from report import print_ratio, print_table
from throwaway_daemon import cpu_seconds

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config

_WORKER = "spade_bdi_rl_worker"
_CHILD = Path(__file__).with_name("bdi_frozenlake_child.py")
_PLAIN_EPISODES = 20_000
_EPISODE = b'"type":"episode"'
_GOALS = {"columns": "4,200", "all": "2,500"}
_TIMEOUT_S = 120.0
_IDLE_S = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--slippery", action="store_true", help="longer episodes")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with daemon_with_bundle(_WORKER) as (client, home):
        show_speed(client, home, options.episodes, options.slippery, options.repeats)
        show_start(client, home, options.repeats)
        show_idle(client, home)


def show_speed(
    client: TrainerClient, home: Home, episodes: int, is_slippery: bool, repeats: int
) -> None:
    speeds: dict[str, list[float]] = {"plain": [], **{detail: [] for detail in _GOALS}}
    for _ in range(repeats):  # in turns, so that a busy machine slows all alike
        speeds["plain"].append(plain_speed(is_slippery))
        for detail in _GOALS:
            speeds[detail].append(stored_speed(client, home, episodes, is_slippery, detail))
    print_table(
        f"FrozenLake 4x4{', slippery' if is_slippery else ''}, {episodes:,} episodes",
        ("variant", "episodes/s", "goal"),
        [
            ("plain gymnasium loop, no telemetry", max(speeds["plain"]), ""),
            *(
                (f"worker, {detail}, until stored", max(speeds[detail]), goal)
                for detail, goal in _GOALS.items()
            ),
        ],
    )
    ratio = max(speeds["columns"]) / max(speeds["plain"])
    print_ratio("columns against the plain loop", ratio, "none; target 20,000 episodes/s")


def plain_speed(is_slippery: bool) -> float:
    command = [str(bundle_python(_WORKER)), str(_CHILD), str(_PLAIN_EPISODES), str(is_slippery)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return _PLAIN_EPISODES / float(done.stdout)


def stored_speed(
    client: TrainerClient, home: Home, episodes: int, is_slippery: bool, detail: str
) -> float:
    run_id = submit(client, episodes, {"is_slippery": is_slippery}, {}, detail)
    first = first_episode_at(home, run_id)
    run = client.wait(run_id)
    took = time.perf_counter() - first
    stats = client.stats(run_id)
    assert run.state == "succeeded", run.reason
    assert stats.episodes == episodes, "an episode was lost"
    assert (stats.rejects, stats.committed_bytes) == (0, stats.spool_bytes)
    client.delete(run_id)
    return episodes / took


def show_start(client: TrainerClient, home: Home, repeats: int) -> None:
    variants = {"in the process": ("", "2"), "embedded server": ("embedded", "4")}
    rows: list[tuple[object, ...]] = []
    for variant, (xmpp, goal) in variants.items():
        seconds = []
        for _ in range(repeats):
            started_at = time.perf_counter()
            run_id = submit(client, 50, {"is_slippery": False}, {"xmpp": xmpp}, "all")
            seconds.append(first_episode_at(home, run_id) - started_at)
            client.wait(run_id)
        rows.append((variant, min(seconds), max(seconds), goal))
    print_table("Submit to first episode", ("messages", "best s", "worst s", "goal"), rows)


def show_idle(client: TrainerClient, home: Home) -> None:
    """CPU usage of a paused run: one agent, and two agents with a server."""
    variants: dict[str, dict[str, Any]] = {
        "one agent": {},
        "a pair, embedded server": {"team": "pair", "xmpp": "embedded"},
    }
    rows: list[tuple[object, ...]] = []
    for variant, params in variants.items():
        run_id = submit(client, 100_000_000, {"is_slippery": False}, params, "columns")
        first_episode_at(home, run_id)
        client.pause(run_id)
        pid = json.loads(home.run(run_id).started.read_text())["pid"]
        before, started_at = cpu_seconds(pid), time.perf_counter()
        time.sleep(_IDLE_S)
        share = (cpu_seconds(pid) - before) / (time.perf_counter() - started_at)
        rows.append((variant, 100 * share, "3"))
        client.cancel(run_id)
        client.wait(run_id)
    print_table("CPU usage while paused", ("run", "% of a core", "goal"), rows)


def submit(
    client: TrainerClient,
    episodes: int,
    env_kwargs: dict[str, Any],
    params: dict[str, Any],
    detail: str,
) -> str:
    config = {
        "worker": _WORKER,
        "algo": "q_learning",
        "env_id": "FrozenLake-v1",
        "env_kwargs": env_kwargs,
        "max_episodes": episodes,
        "params": params,
        "telemetry": {"steps": detail},
    }
    return client.submit(load_run_config(config)).run_id


def first_episode_at(home: Home, run_id: str) -> float:
    """Return when the first line of a finished episode is in the spool."""
    spool = home.run(run_id).spool
    deadline = time.perf_counter() + _TIMEOUT_S
    while time.perf_counter() < deadline:
        if spool.exists():
            with spool.open("rb") as lines:
                if _EPISODE in lines.read(1 << 20):
                    return time.perf_counter()
        time.sleep(0.005)
    raise TimeoutError("the worker reported no episode")


if __name__ == "__main__":
    main()
