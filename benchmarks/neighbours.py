"""A run with 100 lines per second beside runs that try to occupy the daemon.

python benchmarks/neighbours.py [SECONDS]

Before the measurement, three other runs write a line of 1 GiB each, three a flood of tiny lines,
and one a chain of a thousand folders. The latency of the first run's lines is compared with its
latency when it is alone.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from many_runs import CONFIG, Subscriber, write_waiting_worker
from report import percentile, print_table
from throwaway_daemon import cpu_seconds, resident_mb, run_daemon, throwaway_home

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home, RunDirectory

RATE = 100
GOAL_MS = 500.0
FLOOD_LINES = 3_000_000
DEPTH = 1_000


def write_huge_line(run: RunDirectory) -> None:
    with run.spool.open("ab") as spool:
        spool.truncate(run.spool.stat().st_size + (1 << 30))  # a hole takes no space
        spool.write(b"\n")


def write_tiny_lines(run: RunDirectory) -> None:
    with run.spool.open("ab") as spool:
        spool.write(b"x\n" * FLOOD_LINES)


def make_deep_folders(run: RunDirectory) -> None:
    folder = os.open(run.path, os.O_RDONLY)
    for name in ("checkpoints", *["a"] * DEPTH):
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)


def start_runs(client: TrainerClient, home: Home, count: int) -> list[RunDirectory]:
    runs = [client.submit(CONFIG).run_id for _ in range(count)]
    while any(client.run(run_id).run.state != "running" for run_id in runs):
        time.sleep(0.1)
    return [home.run(run_id) for run_id in runs]


def measure(seconds: int, *, has_neighbours: bool) -> tuple[list[float], float, float]:
    """Return the delays in ms, the daemon's CPU usage in % of a core, and its memory in MB."""
    with throwaway_home() as home:
        write_waiting_worker(home)
        with run_daemon(home, ["--max-runs", "8", "--cpus", "8"]) as client:
            pid = client.health().pid
            (run,) = start_runs(client, home, 1)
            neighbours = start_runs(client, home, 7) if has_neighbours else []
            subscriber = Subscriber(client, run.run_id)
            subscriber.start()
            for neighbour in neighbours[:3]:
                write_huge_line(neighbour)
            for neighbour in neighbours[3:6]:
                write_tiny_lines(neighbour)
            for neighbour in neighbours[6:]:
                make_deep_folders(neighbour)
            used = cpu_seconds(pid)
            script = str(Path(__file__).with_name("many_runs.py"))
            command = [sys.executable, script, "--send", str(RATE), str(seconds), str(run.spool)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            used = (cpu_seconds(pid) - used) / seconds * 100
            memory = resident_mb(pid)
            client.cancel(run.run_id)
            subscriber.join()
            for neighbour in neighbours:
                client.cancel(neighbour.run_id)
            for neighbour in neighbours:
                client.wait(neighbour.run_id)
                client.delete(neighbour.run_id)  # also removes folders that are too deep for others
    return subscriber.delays_ms, used, memory


def main() -> None:
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    alone, beside = (measure(seconds, has_neighbours=value) for value in (False, True))
    rows: list[tuple[object, ...]] = [("lines received", len(alone[0]), len(beside[0]))]
    for name, share in (("p50", 0.5), ("p99", 0.99), ("worst", 1.0)):
        rows.append(
            (f"line to subscriber, {name} ms", *(percentile(r[0], share) for r in (alone, beside)))
        )
    rows.append(("daemon, % of a core", alone[1], beside[1]))
    rows.append(("daemon, MB", alone[2], beside[2]))
    print_table(f"{RATE} lines a second, {seconds} s", ("", "alone", "beside 7 others"), rows)
    p99_alone, p99 = (percentile(delays, 0.99) for delays, _, _ in (alone, beside))
    print(f"p99: {p99 / GOAL_MS:.2f} of the goal of {GOAL_MS:.0f} ms")
    print(f"p99 against alone: {p99 / p99_alone:.1f} x")


if __name__ == "__main__":
    main()
