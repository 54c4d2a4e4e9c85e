"""The frame file at 640 x 480: frames written a second, and what a reader at 60 Hz gets and costs.

    benchmarks/run frame_lane [--seconds S]

One process writes as fast as it can; another looks for the newest frame 60 times a second, in every
second turn. The table shows the medians over all turns; the reader's price is the median of the
ratios between turns that are neighbours in time, once by the clock and once by the writer's own
processor time, which others on a busy machine do not touch. Every frame that was read is checked.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from report import measured, print_table

from mosaic.contract.frame_file import FrameReader
from mosaic_worker.frames import FrameMailbox

_WIDTH, _HEIGHT = 640, 480
_LOOKS_PER_S = 60
_TURNS = 40
_CHECKED_EVERY = 4096
_FLAG = "--reads"
_WRITTEN_GOAL, _READ_GOAL, _PRICE_GOAL = 2_000, 55, 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn")
    parser.add_argument(_FLAG, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reads:
        read(options.reads)
    else:
        show(*measure(options.seconds))


class Rate(NamedTuple):
    """Frames a second, by the clock and by processor time."""

    wall: float
    cpu: float


def measure(seconds: float) -> tuple[list[Rate], list[Rate], list[float]]:
    """Written alone, written beside the reader, and frames a second that were read."""
    alone, beside, seen = [], [], []
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
                seen.append(int(reader.stdout.readline()) / seconds)
            reader.stdin.close()
        mailbox.close()
    return alone, beside, seen


def write(mailbox: FrameMailbox, seconds: float) -> Rate:
    """As many as it can. Neighbours differ in every byte, so that a torn one is seen."""
    pictures = [bytes([fill]) * (_WIDTH * _HEIGHT * 3) for fill in range(8)]
    written = 0
    with measured() as cost:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for picture in pictures:
                mailbox.write(picture, _WIDTH, _HEIGHT, step=written, seq=written, step_json=b"{}")
            written += len(pictures)
    return Rate(written / cost.wall_s, written / cost.cpu_s)


def read(path: Path) -> None:
    """In a process of its own: for each line, look for so many seconds and tell what was seen."""
    with FrameReader(path) as reader:
        for line in sys.stdin:
            looks = int(float(line) * _LOOKS_PER_S)
            number, seen = 0, 0
            due = time.perf_counter()
            for _ in range(looks):
                frame = reader.newest(number)
                if frame is not None:
                    if len(set(frame.pixels[::_CHECKED_EVERY])) != 1:
                        sys.exit("a torn frame was read")
                    number, seen = frame.number, seen + 1
                due += 1 / _LOOKS_PER_S
                time.sleep(max(0.0, due - time.perf_counter()))
            print(seen, flush=True)


def show(alone: list[Rate], beside: list[Rate], seen: list[float]) -> None:
    pairs = list(zip(alone, beside, strict=True))
    price = statistics.median(100 * (1 - after.wall / before.wall) for before, after in pairs)
    cpu_price = statistics.median(100 * (1 - after.cpu / before.cpu) for before, after in pairs)
    written = statistics.median(rate.wall for rate in alone)
    rows: list[tuple[object, ...]] = [
        ("written, frames/s", written, f"{_WRITTEN_GOAL:,} or more"),
        ("read whole at 60 Hz, frames/s", statistics.median(seen), f"{_READ_GOAL} or more"),
        ("fewest read in a turn, frames/s", min(seen), ""),
        ("the reader slows the writer by, %", price, f"under {_PRICE_GOAL:g}"),
        ("the same in processor time, %", cpu_price, ""),
    ]
    print_table(f"Frames of {_WIDTH} x {_HEIGHT}", ("what", "figure", "goal"), rows)


if __name__ == "__main__":
    main()
