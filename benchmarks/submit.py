"""Latency from SubmitRun to the first line in the store, without the worker's own start.

python benchmarks/submit.py [REPETITIONS]
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from report import percentile, print_table
from throwaway_daemon import echo_config, throwaway_daemon

from mosaic.client import TrainerClient

GOAL_MS = 150.0


def plain_child_ms(command: list[str], environment: dict[str, str], folder: Path) -> float:
    """Start the same worker as a plain child: interpreter, imports, and its first line."""
    started_at = time.perf_counter()
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline()
        taken = time.perf_counter() - started_at
        worker.kill()
        worker.stdout.read()
    return taken * 1000


def through_the_daemon_ms(client: TrainerClient) -> tuple[float, str]:
    """Measure until a subscriber receives the first line, which is after its commit."""
    started_at = time.perf_counter()
    run = client.submit(echo_config(steps=1000, rate=500))
    with client.events(run.run_id, follow=True) as events:
        next(iter(events))
    taken = time.perf_counter() - started_at
    client.cancel(run.run_id, grace_s=0.1)
    client.wait(run.run_id, 60)
    return taken * 1000, run.run_id


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with throwaway_daemon() as (client, home), tempfile.TemporaryDirectory() as scratch:
        _, run_id = through_the_daemon_ms(client)  # makes the bundle
        details = client.run(run_id)
        assert details.bundle is not None
        config = Path(scratch) / "config.json"
        config.write_bytes(msgspec.json.encode(echo_config(steps=1000, rate=500)))
        command = [*details.command[:-1], str(config)]
        environment = {"PYTHONPATH": str(home.path / details.bundle.code_path), "PATH": "/usr/bin"}
        alone, daemon = [], []
        for _ in range(repetitions):
            alone.append(plain_child_ms(command, environment, Path(scratch)))
            daemon.append(through_the_daemon_ms(client)[0])
    beyond = [there - here for here, there in zip(alone, daemon, strict=True)]
    print_table(
        f"Submit to first line received, {repetitions} runs",
        ("", "p50 ms", "p90 ms", "worst ms"),
        [
            (name, statistics.median(values), percentile(values, 0.9), max(values))
            for name, values in (
                ("the worker alone", alone),
                ("through the daemon", daemon),
                ("beyond the worker", beyond),
            )
        ],
    )
    ratio = statistics.median(beyond) / GOAL_MS
    print(f"beyond the worker's own start: {ratio:.2f} of the goal of {GOAL_MS:.0f} ms")


if __name__ == "__main__":
    main()
