"""Overhead of daemon, telemetry and manifest, against the learner as a plain script.

Both sides are the time from a process's start to its end; they alternate, and the ratio is the
median over neighbouring rounds.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from cached_bundles import bundle_python, daemon_with_bundle
from report import print_ratio, print_table

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.process_records import ExitRecord

_ROOT = Path(__file__).parents[1]
_SOURCES = ("worker_sdk/src", "workers/cleanrl_worker/src")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    python = bundle_python("cleanrl_worker")
    plain, run = [], []
    with daemon_with_bundle("cleanrl_worker") as (client, home):
        for turn in range(arguments.turns):
            plain.append(_as_script(python, arguments.steps))
            run.append(_as_run(client, home, arguments.steps))
            print(f"round {turn + 1}: script {plain[-1]:.2f} s, run {run[-1]:.2f} s", flush=True)
    rows: list[tuple[object, ...]] = [
        ("plain script", statistics.median(plain), arguments.steps / statistics.median(plain)),
        ("through the daemon", statistics.median(run), arguments.steps / statistics.median(run)),
    ]
    title = f"ppo, CartPole-v1, {arguments.steps:,} steps"
    print_table(title, ("", "seconds", "steps/s"), rows)
    ratio = statistics.median(one / other for one, other in zip(run, plain, strict=True))
    print_ratio("time of a run against the plain script", ratio, "1.03")


def _as_script(python: Path, steps: int) -> float:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(_ROOT / folder) for folder in _SOURCES),
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "out").open("wb") as output:
        started = time.perf_counter()
        subprocess.run(
            [python, "-m", "cleanrl_worker.learners.ppo", "--total-timesteps", str(steps)],
            cwd=folder,
            env=environment,
            stdout=output,
            check=True,
        )
        return time.perf_counter() - started


def _as_run(client: TrainerClient, home: Home, steps: int) -> float:
    config = {
        "worker": "cleanrl_worker",
        "algo": "ppo",
        "env_id": "CartPole-v1",
        "total_timesteps": steps,
    }
    run = client.wait(client.submit(config).run_id)
    assert run.state == "succeeded", run.reason
    ended = ExitRecord.read(home.run(run.run_id).exit)
    assert ended is not None
    return ended.duration_s


if __name__ == "__main__":
    main()
