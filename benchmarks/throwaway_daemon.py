"""A temporary daemon with its own home, for one benchmark."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mosaic.client import TrainerClient
from mosaic.client.daemon_process import start_daemon, stop_daemon
from mosaic.contract.layout import Home

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@contextmanager
def throwaway_daemon(options: Sequence[str] = ()) -> Iterator[tuple[TrainerClient, Home]]:
    """Yield a client and the home of a temporary daemon; everything is removed afterwards."""
    with throwaway_home() as home, run_daemon(home, options) as client:
        yield client, home


@contextmanager
def throwaway_home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="mosaic-bench-") as folder:
        yield Home(Path(folder))


@contextmanager
def run_daemon(home: Home, options: Sequence[str] = ()) -> Iterator[TrainerClient]:
    """Run a daemon on an existing home and yield a client."""
    start_daemon(home, options)
    try:
        with TrainerClient.connect(home) as client:
            yield client
    finally:
        stop_daemon(home)


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of the process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE / 1e6


def echo_config(**params: int) -> dict[str, object]:
    return {"worker": "echo_worker", "algo": "echo", "env_id": "Echo-v0", "params": params}
