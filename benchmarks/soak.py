"""Runs that come and go for hours, and a daemon that is stopped or killed every minute.

python benchmarks/soak.py [MINUTES] [RUNS]

Two thirds of the time the daemon is restarted every minute, half of the times by SIGKILL. In the
last third it is not restarted, so that growth of its memory has time to show. Ended runs are
deleted, except for the newest ones. The first samples of each part are compared with its last.
"""

import os
import random
import signal
import statistics
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from report import print_table
from throwaway_daemon import echo_config, resident_mb, throwaway_home

from mosaic.client import TrainerClient
from mosaic.client.daemon_process import start_daemon, stop_daemon
from mosaic.client.errors import TrainerError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState

KEPT_RUNS = 20
SAMPLE_EVERY_S = 60.0
CANCEL_PROBABILITY = 0.02
OPTIONS = ("--max-runs", "20", "--cpus", "20")


@dataclass(frozen=True)
class Sample:
    memory_mb: float
    descriptors: int
    threads: int
    disk_mb: float


@dataclass
class Churn:
    """Keeps a number of runs active: submits, cancels, checks and deletes them."""

    home: Home
    count: int
    random: random.Random
    active: dict[str, int | None] = field(default_factory=dict)
    """The steps that each run will have stored; None if that is not known before."""
    ended: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def turn(self, client: TrainerClient) -> None:
        while len(self.active) < self.count:
            self._submit(client)
        for run_id in list(self.active):
            state = client.run(run_id).run.state
            if state.is_final:
                self._check(client, run_id, state)
        if self.random.random() < CANCEL_PROBABILITY:
            with suppress(TrainerError):  # it may have ended
                client.cancel(self.random.choice(list(self.active)))
        while len(self.ended) > KEPT_RUNS:
            client.delete(self.ended.pop(0))

    def _submit(self, client: TrainerClient) -> None:
        steps = self.random.randint(200, 6_000)
        params = {"steps": steps, "rate": 50, "episode_length": 50}
        expected: int | None = steps
        kind = self.random.choice(("plain", "plain", "plain", "garbage", "crash", "fork"))
        if kind == "garbage":
            params["garbage_every"] = 7
        elif kind == "crash":
            params["crash_at"] = steps // 2
            expected = None
        elif kind == "fork":
            params["fork"] = 2
        self.active[client.submit(echo_config(**params)).run_id] = expected

    def _check(self, client: TrainerClient, run_id: str, state: str) -> None:
        expected = self.active.pop(run_id)
        self.ended.append(run_id)
        self.outcomes[state] += 1
        stored = client.stats(run_id).steps
        if state == RunState.SUCCEEDED and stored != expected:
            self.problems.append(f"{run_id}: {stored} steps are stored, {expected} were written")


def measure_sample(home: Home, pid: int) -> Sample:
    status = Path(f"/proc/{pid}/status").read_text()
    threads = next(line.split()[1] for line in status.splitlines() if line.startswith("Threads"))
    descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    files = (Path(folder, name) for folder, _, names in os.walk(home.path) for name in names)
    disk = sum(file.lstat().st_size for file in files if file.exists())
    return Sample(resident_mb(pid), descriptors, int(threads), disk / 1e6)


def soak(churn: Churn, seconds: float, *, restarts: bool) -> list[Sample]:
    samples: list[Sample] = []
    end = time.monotonic() + seconds
    kills = 0
    while time.monotonic() < end:
        start_daemon(churn.home, OPTIONS)
        with TrainerClient.connect(churn.home) as client:
            pid = client.health().pid
            next_sample = min(time.monotonic() + SAMPLE_EVERY_S, end)
            while time.monotonic() < next_sample:
                churn.turn(client)
                time.sleep(1.0)
            samples.append(measure_sample(churn.home, pid))
        if restarts and (kills := kills + 1) % 2:
            os.kill(pid, signal.SIGKILL)
        elif restarts:
            stop_daemon(churn.home)
        print(samples[-1], dict(churn.outcomes), flush=True)
    return samples


def print_growth(title: str, samples: list[Sample]) -> None:
    third = max(1, len(samples) // 3)
    rows: list[tuple[object, ...]] = []
    for name in ("memory_mb", "descriptors", "threads", "disk_mb"):
        values = [float(getattr(sample, name)) for sample in samples]
        first, last = statistics.median(values[:third]), statistics.median(values[-third:])
        rows.append((name, first, last, max(values), last / first))
    header = ("", "first third", "last third", "largest", "last / first")
    print_table(f"{title}, {len(samples)} samples", header, rows)


def main() -> None:
    minutes, count = [int(value) for value in sys.argv[1:3]] + [240, 10][len(sys.argv) - 1 :]
    with throwaway_home() as home:
        churn = Churn(home, count, random.Random(0))
        try:
            restarted = soak(churn, minutes * 40, restarts=True)
            undisturbed = soak(churn, minutes * 20, restarts=False)
        except TrainerError as error:
            sys.exit(f"The daemon failed: {error}")
        finally:
            with TrainerClient.connect(home) as client:
                for run_id in churn.active:
                    with suppress(TrainerError):
                        client.cancel(run_id)
                for run_id in churn.active:
                    client.wait(run_id, 60)
            stop_daemon(home)
    print_growth("daemon restarted every minute", restarted)
    print_growth("daemon not restarted", undisturbed)
    print(f"runs by outcome: {dict(churn.outcomes)}")
    print(f"runs with missing or repeated steps: {len(churn.problems)}")
    for problem in churn.problems:
        print(problem)


if __name__ == "__main__":
    main()
