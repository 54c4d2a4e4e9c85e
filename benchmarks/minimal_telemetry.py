"""Overhead of the minimal telemetry switch in a CleanRL-style script.

    benchmarks/run minimal_telemetry [--python PATH …] [--turns N]

The script is a PPO loop in CleanRL's style (SyncVectorEnv, torch, Adam), with and without the
instrumentation of `gymnasium.make`, which records what an exact replay needs. Each round is a
rollout and its update; both variants alternate, and the table shows the fastest round and the
median ratio of neighbouring rounds. Runs in the bundles of CleanRL's own scripts (gymnasium 0.29)
and of our learners (1.x).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from cached_bundles import bundle_python
from report import print_ratio, print_table

_ROOT = Path(__file__).parents[1]
_CHILD = Path(__file__).with_name("minimal_telemetry_child.py")
_CODE = (_ROOT / "worker_sdk" / "src", _ROOT / "workers" / "cleanrl_worker" / "src")
_BUNDLES = ("cleanrl_upstream", "cleanrl_worker")
_GOAL = "1.05 or less"
_ENVIRONMENTS = ("CartPole-v1", "Acrobot-v1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument(
        "--steps", type=int, default=128, help="Steps per environment and round. Default: 128."
    )
    parser.add_argument(
        "--python", action="append", help="Python to use instead of those of the bundles."
    )
    options = parser.parse_args()
    for python in options.python or [str(bundle_python(name)) for name in _BUNDLES]:
        for env_id in _ENVIRONMENTS:
            show(env_id, run_child(python, env_id, options.steps, options.turns))


def run_child(python: str, env_id: str, steps: int, turns: int) -> dict[str, list[float] | str]:
    with tempfile.TemporaryDirectory() as folder:
        spool = os.open(Path(folder) / "spool", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            child = subprocess.run(
                [python, str(_CHILD), env_id, str(steps), str(turns)],
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(map(str, _CODE)),
                    "OMP_NUM_THREADS": "1",
                },
                stdout=spool,
                stderr=subprocess.PIPE,
                check=False,
            )
        finally:
            os.close(spool)
    if child.returncode:
        sys.exit(child.stderr.decode())
    result: dict[str, list[float] | str] = json.loads(child.stderr.splitlines()[-1])
    return result


def show(env_id: str, result: dict[str, list[float] | str]) -> None:
    plain, recorded = result["plain"], result["recorded"]
    assert isinstance(plain, list)
    assert isinstance(recorded, list)
    ratio = statistics.median(
        recorded_s / plain_s for recorded_s, plain_s in zip(recorded, plain, strict=True)
    )
    print_table(
        f"{env_id}, gymnasium {result['gymnasium']}, {len(plain)} rounds",
        ("script", "ms a turn"),
        [("as it is", min(plain) * 1e3), ("with instruments", min(recorded) * 1e3)],
    )
    print_ratio(f"{env_id}, gymnasium {result['gymnasium']}", ratio, _GOAL)


if __name__ == "__main__":
    main()
