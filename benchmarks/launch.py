"""Overhead of the supervisor: time from launch to the first line, and memory per run.

python benchmarks/launch.py [REPETITIONS]
"""

import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mosaic.contract.control import Stop
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.trainer.processes.control_channel import send_command
from mosaic.trainer.processes.launcher import launch
from mosaic.trainer.processes.run_process import Running

WORKER_CODE = "import sys; print('first line', flush=True); sys.stdin.readline()"
WORKER = [sys.executable, "-I", "-S", "-c", WORKER_CODE]
POLL_S = 0.0002
TIMEOUT_S = 60.0


def launch_plain_child() -> float:
    """The lower bound: a plain child process that writes to a pipe."""
    started_at = time.perf_counter()
    with subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        return time.perf_counter() - started_at


class Supervised:
    """Launches runs as the daemon does and records times and memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launch_s: list[float] = []
        self.memory_kib: dict[str, list[int]] = {"Rss": [], "Pss": []}

    def __call__(self) -> float:
        run_dir = RunDirectory(self.folder / new_ulid())
        started_at = time.perf_counter()
        process = launch(run_dir, WORKER)
        self.launch_s.append(time.perf_counter() - started_at)
        deadline = started_at + TIMEOUT_S
        while not run_dir.spool.stat().st_size:
            assert time.perf_counter() < deadline, "the worker printed nothing"
            select.select([], [], [], POLL_S)
        first_line_s = time.perf_counter() - started_at
        assert isinstance(process, Running)
        self._measure_memory(process.supervisor.pid)
        send_command(run_dir, Stop(seq=0))
        assert process.supervisor.wait(TIMEOUT_S), "the run did not end"
        return first_line_s

    def _measure_memory(self, pid: int) -> None:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name = line.partition(":")[0]
            if name in self.memory_kib:
                self.memory_kib[name].append(int(line.split()[1]))


def row(name: str, seconds: list[float]) -> float:
    ordered = sorted(seconds)
    median = statistics.median(ordered)
    worst = ordered[int(len(ordered) * 0.95)]
    print(f"{name:<44}{median * 1000:>9.1f} ms{worst * 1000:>9.1f} ms")
    return median


def main(repetitions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        supervised = Supervised(Path(folder))
        variants: list[tuple[Callable[[], float], list[float]]] = [
            (launch_plain_child, []),
            (supervised, []),
        ]
        for _ in range(repetitions):  # in turns, so that a busy machine slows both alike
            for variant, seconds in variants:
                seconds.append(variant())
    print(f"{'launch to first line, ' + str(repetitions) + ' each':<44}{'p50':>12}{'p95':>12}")
    plain = row("plain child, through a pipe", variants[0][1])
    ours = row("through the supervisor", variants[1][1])
    row("  of which until launch() returns", supervised.launch_s)
    print(f"ratio of the medians {ours / plain:.1f}, difference {(ours - plain) * 1000:.1f} ms")
    rss, pss = (max(supervised.memory_kib[name]) for name in ("Rss", "Pss"))
    print(f"memory of one supervisor: RSS {rss / 1024:.1f} MiB, PSS {pss / 1024:.1f} MiB (largest)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
