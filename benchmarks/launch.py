"""What a supervisor costs: time from launch to the worker's first line, and memory per run.

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
PATIENCE_S = 60.0


def through_a_pipe() -> float:
    """The least that a launch can cost: a child whose lines are lost when its parent dies."""
    begin = time.perf_counter()
    with subprocess.Popen(WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        worker.stdout.readline()
        return time.perf_counter() - begin


class Supervised:
    """Launches runs as the daemon does; keeps what it saw of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launch_s: list[float] = []
        self.memory_kib: dict[str, list[int]] = {"Rss": [], "Pss": []}

    def __call__(self) -> float:
        run_dir = RunDirectory(self.folder / new_ulid())
        begin = time.perf_counter()
        process = launch(run_dir, WORKER)
        self.launch_s.append(time.perf_counter() - begin)
        deadline = begin + PATIENCE_S
        while not run_dir.spool.stat().st_size:
            assert time.perf_counter() < deadline, "the worker printed nothing"
            select.select([], [], [], POLL_S)
        first_line_s = time.perf_counter() - begin
        assert isinstance(process, Running)
        self._weigh(process.supervisor.pid)
        send_command(run_dir, Stop(seq=0))
        assert process.supervisor.wait(PATIENCE_S), "the run did not end"
        return first_line_s

    def _weigh(self, pid: int) -> None:
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
        ways: list[tuple[Callable[[], float], list[float]]] = [
            (through_a_pipe, []),
            (supervised, []),
        ]
        for _ in range(repetitions):  # in turns, so that a busy machine slows both alike
            for way, seconds in ways:
                seconds.append(way())
    print(f"{'launch to first line, ' + str(repetitions) + ' each':<44}{'p50':>12}{'p95':>12}")
    plain = row("plain child, through a pipe", ways[0][1])
    ours = row("through the supervisor", ways[1][1])
    row("  of which until launch() returns", supervised.launch_s)
    print(f"ratio of the medians {ours / plain:.1f}, difference {(ours - plain) * 1000:.1f} ms")
    rss, pss = (max(supervised.memory_kib[name]) for name in ("Rss", "Pss"))
    print(f"memory of one supervisor: RSS {rss / 1024:.1f} MiB, PSS {pss / 1024:.1f} MiB (largest)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
