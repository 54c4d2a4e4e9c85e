"""Pages of a list of 10,000 runs: first, filtered, searched, and far down the list.

benchmarks/run list_runs [--runs N]
"""

import argparse
import json
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from report import measure_cost, measure_ms, percentile, print_ratio, print_table
from throwaway_daemon import run_daemon

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import BundleUse, RunQuery, RunStats
from mosaic.trainer.registry.run_registry import RunRegistry

_ROUNDS = 200
_GOAL_MS = 20.0
_SETTLE_S = 3.0
_ALGOS = ("ppo", "dqn", "c51", "sac")
_ENVS = ("CartPole-v1", "LunarLander-v3", "ALE/Pong-v5", "Taxi-v4", "MiniGrid-Empty-8x8-v0")
_ENDS = (RunState.SUCCEEDED, RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED)


def config_of(n: int) -> TrainRunConfig:
    return TrainRunConfig(
        run_name=f"sweep {n // 20} seed {n % 20}",
        worker="cleanrl_worker",
        algo=_ALGOS[n % len(_ALGOS)],
        env_id=_ENVS[n % len(_ENVS)],
        seed=n,
        params={f"parameter_{m}": m * 0.1 for m in range(25)},
    )


def fill(registry: RunRegistry, runs: int) -> None:
    """Add runs as the daemon does: submitted, started, finished; every tenth is tagged."""
    bundle = BundleUse(
        name="cleanrl",
        hash="0123456789ab",
        path="trainer/venvs/cleanrl-0123456789ab",
        python="3.11.9",
        packages={f"package-{m}": "1.2.3" for m in range(80)},
    )
    tail = [f"global_step={m * 100}, episodic_return=[{m}.]" for m in range(50)]
    digests = {}
    for n in range(runs):
        run_id = new_ulid()
        registry.add(run_id, config_of(n))
        registry.set_launch(run_id, ("python", "-m", "cleanrl_worker"), bundle)
        registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "next in the queue")
        registry.transition(run_id, {RunState.PREPARING}, RunState.RUNNING, "started")
        registry.transition(
            run_id,
            {RunState.RUNNING},
            _ENDS[n % len(_ENDS)],
            "reported by the worker",
            exit_code=0,
            output_tail=tail,
        )
        if n % 10 == 0:
            registry.annotate(run_id, add_tags=("baseline", f"round-{n // 1000}"), note="as before")
        digests[run_id] = RunStats(
            steps=n * 100,
            episodes=n,
            mean_return=n * 0.5,
            sps=3_900.5,
            spool_bytes=n << 10,
            committed_bytes=n << 10,
        )
    registry.set_digests(digests)


def fill_plain(path: Path, runs: int) -> sqlite3.Connection:
    """Fill the baseline: one row per run, documents as JSON."""
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE run (run_id TEXT PRIMARY KEY, created_at REAL, state TEXT, config TEXT,"
        " digest TEXT)"
    )
    connection.executemany(
        "INSERT INTO run VALUES (?, ?, ?, ?, ?)",
        (
            (
                new_ulid(),
                float(n),
                _ENDS[n % len(_ENDS)],
                to_json(config_of(n)).decode(),
                json.dumps({"steps": n * 100, "mean_return": n * 0.5}),
            )
            for n in range(runs)
        ),
    )
    connection.commit()
    return connection


def plain_page(connection: sqlite3.Connection) -> list[dict[str, object]]:
    rows = connection.execute("SELECT * FROM run").fetchall()
    rows.sort(key=lambda row: row[1], reverse=True)
    return [
        {"run_id": run_id, "state": state, **json.loads(config), **json.loads(digest)}
        for run_id, _, state, config, digest in rows[:50]
    ]


def token_deep_inside(registry: RunRegistry, runs: int) -> str:
    token = ""
    for _ in range(max(runs // 2_000, 1)):
        token = registry.list(RunQuery(page_size=1_000, page_token=token)).next_page_token
    return token


def times_of(work: Callable[[], object]) -> list[float]:
    return [measure_ms(work) for _ in range(_ROUNDS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "var")
        home.trainer.mkdir(parents=True)
        path = home.registry
        with RunRegistry(path) as registry, measure_cost() as filling:
            fill(registry, options.runs)
        with measure_cost() as opening:
            registry = RunRegistry(path)
        queries = {
            "first page": RunQuery(),
            "by state, algorithm, environment": RunQuery(
                states=(RunState.SUCCEEDED, RunState.FAILED), algo="ppo", env_id="CartPole-v1"
            ),
            "by tag": RunQuery(tag="baseline"),
            "by text": RunQuery(text="LUNAR"),
            "by text that no run has": RunQuery(text="100%"),
            "deep inside": RunQuery(page_token=token_deep_inside(registry, options.runs)),
        }
        with registry:
            assert registry.list(queries["first page"]).total == options.runs
            times = {name: times_of(partial(registry.list, q)) for name, q in queries.items()}
        with run_daemon(home) as client:
            time.sleep(_SETTLE_S)  # after its start a daemon asks all workers what they are
            times = {"first page through the daemon": times_of(client.page), **times}
        plain = fill_plain(Path(folder) / "plain.db", options.runs)
        baseline = [measure_ms(lambda: plain_page(plain)) for _ in range(_ROUNDS // 10)]
        plain.close()
        size_mb = path.stat().st_size / 1e6
    rows: list[tuple[object, ...]] = [
        (name, percentile(ms, 0.5), percentile(ms, 0.99)) for name, ms in times.items()
    ]
    rows.append(("SELECT * and sort in Python", percentile(baseline, 0.5), max(baseline)))
    print_table(
        f"A page of 50 of {options.runs:,} runs, with their total",
        ("page", "p50 ms", "p99 ms"),
        rows,
    )
    print(
        f"filled in {filling.wall_s:.1f} s, opened in {opening.wall_s * 1_000:.0f} ms,"
        f" {size_mb:.0f} MB"
    )
    through_the_daemon = times["first page through the daemon"]
    print_ratio(
        "faster than the baseline, although through the daemon",
        percentile(baseline, 0.5) / percentile(through_the_daemon, 0.5),
        f"{_GOAL_MS:.0f} ms or less",
    )
    print(f"p99: {percentile(through_the_daemon, 0.99) / _GOAL_MS:.2f} of the goal")


if __name__ == "__main__":
    main()
