"""Fifty concurrent runs with 1,000 lines per second each, all followed by subscribers.

python benchmarks/many_runs.py [RUNS] [LINES_PER_SECOND] [SECONDS]

One cheap process writes the lines of all runs to their spools, so that the daemon is measured and
not fifty workers; the workers only wait. The latency of a line is measured from its own timestamp
until a subscriber receives it. One process follows all runs, as the window does; its own delay
counts. The same lines to one run are the baseline.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from report import percentile, print_table
from throwaway_daemon import cpu_seconds, resident_mb, run_daemon, throwaway_home

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home

GOAL_MS = 500.0
SETTLE_S = 5.0
WAITING_WORKER = """\
import json, signal, sys

if "--describe" in sys.argv:
    print(json.dumps({"worker": "waiting", "modes": ["train"], "algorithms": [{"id": "wait"}]}))
else:
    print(json.dumps({"type": "status", "state": "running"}), flush=True)
    signal.pause()
"""
CONFIG = {"worker": "waiting", "algo": "wait", "env_id": "None-v0"}


class Subscriber(threading.Thread):
    """Follows one run from its first to its last line."""

    def __init__(self, client: TrainerClient, run_id: str) -> None:
        super().__init__(name=run_id)
        self.client = client
        self.run_id = run_id
        self.delays_ms: list[float] = []
        self.seqs: list[int] = []

    def run(self) -> None:
        with self.client.step_lines(self.run_id, follow=True) as lines:
            for seq, line in lines:
                written = line.rfind(b'"t":')
                self.delays_ms.append((time.time() - float(line[written + 4 : -1])) * 1000)
                self.seqs.append(seq)


class Result(NamedTuple):
    written: int
    stored: int
    received: int
    is_ordered: bool
    delays_ms: list[float]
    memory_mb: list[float]
    daemon_cpu: float
    sender_cpu: float
    sender_late_ms: float


def send(rate: int, seconds: int, spools: list[Path]) -> None:
    """Append `rate` lines per second to each spool, every 20 ms, as a buffered worker does."""
    files = [os.open(spool, os.O_WRONLY | os.O_APPEND) for spool in spools]
    turns = seconds * 50
    number, late_ms, start = 0, 0.0, time.monotonic()
    for turn in range(1, turns + 1):
        pause = start + turn * 0.02 - time.monotonic()
        late_ms = max(late_ms, -pause * 1000)
        time.sleep(max(0.0, pause))
        last = rate * turn // 50
        t = time.time()
        lines = "".join(
            f'{{"type":"step","episode_id":"{n // 200}","step":{n % 200},"action":1,"reward":1.0,'
            f'"terminated":false,"truncated":false,"t":{t:.6f}}}\n'
            for n in range(number, last)
        ).encode()
        for file in files:
            os.write(file, lines)
        number = last
    print(
        json.dumps({"written": number * len(files), "late_ms": late_ms, "cpu": sum(os.times()[:2])})
    )


def write_waiting_worker(home: Home) -> None:
    folder = home.path / "workers" / "waiting"
    folder.mkdir(parents=True)
    (folder / "worker.toml").write_text('id = "waiting"\nlabel = "Waiting"\nmodule = "waiting"\n')
    (folder / "waiting.py").write_text(WAITING_WORKER)
    home.trainer.mkdir(parents=True, mode=0o700)
    home.settings.write_text(f"worker_folders = [{json.dumps(str(folder.parent))}]\n")


def measure(count: int, rate: int, seconds: int) -> Result:
    options = ["--max-runs", str(count), "--cpus", str(count)]
    with throwaway_home() as home:
        write_waiting_worker(home)
        with run_daemon(home, options) as client:
            return _measure(client, home, count, rate, seconds)


def _measure(client: TrainerClient, home: Home, count: int, rate: int, seconds: int) -> Result:
    pid = client.health().pid
    runs = [client.submit(CONFIG).run_id for _ in range(count)]
    while any(client.run(run_id).run.state != "running" for run_id in runs):
        time.sleep(0.1)
    subscribers = [Subscriber(client, run_id) for run_id in runs]
    for subscriber in subscribers:
        subscriber.start()
    time.sleep(SETTLE_S)
    spools = [str(home.run(run_id).spool) for run_id in runs]
    command = [sys.executable, __file__, "--send", str(rate), str(seconds), *spools]
    memory = []
    used, started_at = cpu_seconds(pid), time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as sender:
        while sender.poll() is None:
            time.sleep(1.0)
            memory.append(resident_mb(pid))
        assert sender.stdout is not None
        sent = json.loads(sender.stdout.read())
    used, elapsed = cpu_seconds(pid) - used, time.monotonic() - started_at
    for run_id in runs:
        client.cancel(run_id)
    for subscriber in subscribers:
        subscriber.join()
    return Result(
        written=sent["written"],
        stored=sum(client.stats(run_id).steps for run_id in runs),
        received=sum(len(subscriber.seqs) for subscriber in subscribers),
        is_ordered=all(s.seqs == sorted(set(s.seqs)) for s in subscribers),
        delays_ms=[delay for subscriber in subscribers for delay in subscriber.delays_ms],
        memory_mb=memory,
        daemon_cpu=used / elapsed * 100,
        sender_cpu=sent["cpu"] / elapsed * 100,
        sender_late_ms=sent["late_ms"],
    )


def main() -> None:
    count, rate, seconds = [int(value) for value in sys.argv[1:4]] + [50, 1000, 30][
        len(sys.argv) - 1 :
    ]
    one, many = measure(1, rate, seconds), measure(count, rate, seconds)
    third = max(1, len(many.memory_mb) // 3)
    rows: list[tuple[object, ...]] = [
        ("lines written", one.written, many.written),
        ("lines stored", one.stored, many.stored),
        ("lines received", one.received, many.received),
        ("complete and in order", one.is_ordered, many.is_ordered),
    ]
    for name, share in (("p50", 0.5), ("p99", 0.99), ("worst", 1.0)):
        delays = (percentile(result.delays_ms, share) for result in (one, many))
        rows.append((f"line to subscriber, {name} ms", *delays))
    rows += [
        ("daemon, MB (largest)", max(one.memory_mb), max(many.memory_mb)),
        ("daemon, % of a core", one.daemon_cpu, many.daemon_cpu),
        ("sender, % of a core", one.sender_cpu, many.sender_cpu),
        ("sender late by, ms (largest)", one.sender_late_ms, many.sender_late_ms),
    ]
    print_table(
        f"{rate:,} lines a second per run, {seconds} s", ("", "1 run", f"{count} runs"), rows
    )
    p99 = percentile(many.delays_ms, 0.99)
    growth = max(many.memory_mb[-third:]) / max(many.memory_mb[:third])
    print(f"p99: {p99 / GOAL_MS:.2f} of the goal of {GOAL_MS:.0f} ms")
    print(f"p99 against one run: {p99 / percentile(one.delays_ms, 0.99):.1f} x")
    print(f"memory, last third against first: {growth:.2f} x")
    print(f"share of written lines that are stored: {many.stored / many.written:.4f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--send"]:
        send(int(sys.argv[2]), int(sys.argv[3]), [Path(spool) for spool in sys.argv[4:]])
    else:
        main()
