"""Scalars written per second, against TensorBoard's SummaryWriter.

    benchmarks/run scalars [--points N]

Both write the same points, one call each. Ours are measured twice: as emitted into the spool, and
end to end, with the ingester beside the worker, until the last point is committed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from report import print_ratio, print_table

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

_ROUNDS = 3
_NAMES = ("losses/value_loss", "losses/policy_loss", "charts/SPS", "charts/episodic_return")


def emit_points(spool: Path, points: int) -> float:
    """Emit points through the SDK, in a worker process; return the time of the first."""
    from mosaic_worker import Emitter  # noqa: PLC0415 - a worker's import

    fd = os.open(spool, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    emitter = Emitter(fd=fd)
    started = time.time()
    for n in range(points):
        emitter.metric(_NAMES[n % 4], n * 0.5, n)
    emitter.flush()
    return started


def summary_points(folder: Path, points: int) -> float:
    """Write the same points with SummaryWriter, in a worker process."""
    from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - heavy

    writer = SummaryWriter(str(folder))
    started = time.time()
    for n in range(points):
        writer.add_scalar(_NAMES[n % 4], n * 0.5, n)
    writer.close()
    return started


WORKERS = {"SummaryWriter": summary_points, "emitter": emit_points}


def start_worker(name: str, path: Path, points: int) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, "--worker", name, str(path), "--points", str(points)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def seconds_alone(name: str, path: Path, points: int) -> float:
    """Return the seconds of the worker without its imports."""
    output, _ = start_worker(name, path, points).communicate()
    started, ended = map(float, output.split())
    return ended - started


def seconds_end_to_end(run: RunDirectory, points: int) -> float:
    """Return the seconds from the first point until the last one is committed."""
    worker = start_worker("emitter", run.spool, points)
    with TelemetryService(run) as service:
        while worker.poll() is None:
            service.ingest()
        assert service.finish()
        ended = time.time()
    started, _ = map(float, worker.communicate()[0].split())
    with TelemetryReader(run) as reader:
        assert reader.stats().metrics == points
    return ended - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--worker", nargs=2, metavar=("NAME", "PATH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    points: int = options.points
    if options.worker:
        name, path = options.worker
        print(WORKERS[name](Path(path), points), time.time())
        return
    times: dict[str, list[float]] = {"SummaryWriter": [], "emitter": [], "end to end": []}
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder)
            for name in WORKERS:
                times[name].append(seconds_alone(name, here / name, points))
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
