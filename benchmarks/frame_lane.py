"""The frame file at 640 x 480: frames written per second, and a reader at 60 Hz.

    benchmarks/run frame_lane [--seconds S]

One process writes as fast as it can; another reads the newest frame 60 times a second, in every
second round. The table shows the medians over all rounds; the overhead of the reader is the median
ratio of neighbouring rounds, in wall time and in CPU time of the writer, which does not depend on
other processes. Every frame that was read is checked.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from report import measure_cost, print_table

from mosaic.contract.frame_file import FrameReader
from mosaic_worker.frames import FrameMailbox

_WIDTH, _HEIGHT = 640, 480
_READS_PER_S = 60
_TURNS = 40
_CHECKED_EVERY = 4096
_FLAG = "--reads"
_WRITTEN_GOAL, _READ_GOAL, _PRICE_GOAL = 2_000, 55, 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--seconds", type=float, default=0.5, help="Seconds per round. Default: 0.5."
    )
    parser.add_argument(_FLAG, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reads:
        read(options.reads)
    else:
        show(*measure(options.seconds))


class Rate(NamedTuple):
    """Frames per second of wall time and of CPU time."""

    wall: float
    cpu: float


def measure(seconds: float) -> tuple[list[Rate], list[Rate], list[float]]:
    """Return rates of writing alone, of writing with a reader, and of the reader."""
    alone, beside, read_rates = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frames"
        mailbox = FrameMailbox(path)
        write(mailbox, seconds)
        with subprocess.Popen(
            [sys.executable, __file__, _FLAG, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            for _ in range(_TURNS):
                alone.append(write(mailbox, seconds))
                print(seconds, file=reader.stdin, flush=True)
                beside.append(write(mailbox, seconds))
                read_rates.append(int(reader.stdout.readline()) / seconds)
            reader.stdin.close()
        mailbox.close()
    return alone, beside, read_rates


def write(mailbox: FrameMailbox, seconds: float) -> Rate:
    """Write at full speed. Neighbouring frames differ in every byte, to detect torn reads."""
    frames = [bytes([fill]) * (_WIDTH * _HEIGHT * 3) for fill in range(8)]
    written = 0
    with measure_cost() as cost:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for frame in frames:
                mailbox.write(frame, _WIDTH, _HEIGHT, step=written, seq=written, step_json=b"{}")
            written += len(frames)
    return Rate(written / cost.wall_s, written / cost.cpu_s)


def read(path: Path) -> None:
    """Run in a separate process: for each line, read for that many seconds and print the count."""
    with FrameReader(path) as reader:
        for line in sys.stdin:
            reads = int(float(line) * _READS_PER_S)
            number, read_count = 0, 0
            due = time.perf_counter()
            for _ in range(reads):
                frame = reader.newest(number)
                if frame is not None:
                    if len(set(frame.pixels[::_CHECKED_EVERY])) != 1:
                        sys.exit("a torn frame was read")
                    number, read_count = frame.number, read_count + 1
                due += 1 / _READS_PER_S
                time.sleep(max(0.0, due - time.perf_counter()))
            print(read_count, flush=True)


def show(alone: list[Rate], beside: list[Rate], read_rates: list[float]) -> None:
    pairs = list(zip(alone, beside, strict=True))
    price = statistics.median(100 * (1 - after.wall / before.wall) for before, after in pairs)
    cpu_price = statistics.median(100 * (1 - after.cpu / before.cpu) for before, after in pairs)
    written = statistics.median(rate.wall for rate in alone)
    rows: list[tuple[object, ...]] = [
        ("written, frames/s", written, f"{_WRITTEN_GOAL:,} or more"),
        (
            "complete frames read at 60 Hz, frames/s",
            statistics.median(read_rates),
            f"{_READ_GOAL} or more",
        ),
        ("minimum of a round, frames/s", min(read_rates), ""),
        ("the reader slows the writer by, %", price, f"under {_PRICE_GOAL:g}"),
        ("the same in processor time, %", cpu_price, ""),
    ]
    print_table(f"Frames of {_WIDTH} x {_HEIGHT}", ("measurement", "value", "goal"), rows)


if __name__ == "__main__":
    main()
