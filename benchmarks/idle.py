"""CPU and memory of an idle daemon.

python benchmarks/idle.py [SECONDS]
"""

import subprocess
import sys
import time

from report import print_table
from throwaway_daemon import cpu_seconds, resident_mb, throwaway_daemon

CPU_GOAL = 0.01
MEMORY_GOAL_MB = 90.0
SETTLE_S = 5.0


def bare_server_mb() -> float:
    """Return the memory of an idle interpreter that has imported grpc: the lower bound."""
    code = "import grpc.aio, msgspec, sqlite3; print('ready', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        memory = resident_mb(process.pid)
        process.kill()
    return memory


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    with throwaway_daemon() as (client, _):
        pid = client.health().pid
        time.sleep(SETTLE_S)
        before, started_at = cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        share = (cpu_seconds(pid) - before) / (time.monotonic() - started_at)
        memory = resident_mb(pid)
    floor = bare_server_mb()
    print_table(
        f"An idle daemon over {seconds:.0f} s",
        ("", "% of a core", "MB"),
        [("daemon", share * 100, memory), ("an interpreter with grpc", 0.0, floor)],
    )
    print(f"CPU: {share / CPU_GOAL:.2f} of the goal of {CPU_GOAL:.0%} of a core")
    print(f"memory: {memory / MEMORY_GOAL_MB:.2f} of the goal of {MEMORY_GOAL_MB:.0f} MB")
    print(f"memory against the bare interpreter: {memory / floor:.2f} x")


if __name__ == "__main__":
    main()
