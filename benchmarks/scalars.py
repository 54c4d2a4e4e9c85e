"""Scalars written per second, against TensorBoard's SummaryWriter.

    benchmarks/run scalars [--points N]

Both write the same points, one call each. Ours are measured twice: as emitted into the spool, and
end to end, with the ingester beside the worker, until the last point is committed.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from report import print_ratio, print_table

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

_ROUNDS = 3
_NAMES = ("losses/value_loss", "losses/policy_loss", "charts/SPS", "charts/episodic_return")


def emit_points(spool: Path, points: int) -> None:
    """In a worker process: points through the SDK into the spool."""
    from mosaic_worker.emitter import Emitter  # noqa: PLC0415 - a worker's import

    fd = os.open(spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    emitter = Emitter(fd=fd)
    for n in range(points):
        emitter.metric(_NAMES[n % 4], n * 0.5, n)
    os.close(fd)


def summary_points(folder: Path, points: int) -> None:
    """In a worker process: the same points through SummaryWriter, flushed at the end."""
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - heavy

    writer = SummaryWriter(str(folder))
    for n in range(points):
        writer.add_scalar(_NAMES[n % 4], n * 0.5, n)
    writer.close()


def in_child(work: Callable[[Path, int], None], path: Path, points: int) -> int:
    pid = os.fork()
    if pid == 0:
        work(path, points)
        os._exit(0)
    return pid


def seconds_alone(work: Callable[[Path, int], None], path: Path, points: int) -> float:
    """How long the child takes for the points, its imports left out."""
    empty = _run_seconds(work, path.with_name("warm-up"), 1)
    return max(_run_seconds(work, path, points) - empty, 1e-9)


def _run_seconds(work: Callable[[Path, int], None], path: Path, points: int) -> float:
    start = time.perf_counter()
    os.waitpid(in_child(work, path, points), 0)
    return time.perf_counter() - start


def seconds_end_to_end(run: RunDirectory, points: int) -> float:
    """From the worker's start to the last point committed."""
    start = time.perf_counter()
    child = in_child(emit_points, run.spool, points)
    with TelemetryService(run) as service:
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            service.ingest()
        assert service.finish()
    elapsed = time.perf_counter() - start
    with TelemetryReader(run) as reader:
        assert reader.stats().metrics == points
    return elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    points = parser.parse_args().points
    times: dict[str, list[float]] = {"SummaryWriter": [], "emitter": [], "end to end": []}
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            times["SummaryWriter"].append(seconds_alone(summary_points, here / "tb", points))
            times["emitter"].append(seconds_alone(emit_points, here / "spool.jsonl", points))
            (here / "run").mkdir()
            times["end to end"].append(seconds_end_to_end(RunDirectory(here / "run"), points))
    rates = {name: points / min(seconds) for name, seconds in times.items()}
    print_table(
        f"{points:,} scalars, one call each, best of {_ROUNDS}",
        ("writer", "points/s"),
        list(rates.items()),
    )
    print_ratio("emitter", rates["emitter"] / rates["SummaryWriter"], "5 or more")
    print_ratio("end to end", rates["end to end"] / rates["SummaryWriter"], "3 or more")


main()
