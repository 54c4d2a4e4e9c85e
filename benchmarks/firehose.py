"""One run at full speed: is a line lost, and does a subscriber slow the worker down?

python benchmarks/firehose.py [LINES] [TURNS]

Rounds with and without a subscriber alternate, and neighbours are compared, because the speed of
the machine varies over minutes. The worker's time is the one its supervisor recorded.
"""

import statistics
import subprocess
import sys
import time

from report import print_table
from throwaway_daemon import echo_config, throwaway_daemon

from mosaic.client import TrainerClient
from mosaic.contract.layout import Home
from mosaic.contract.process_records import ExitRecord

FOLLOW = """
import sys
from mosaic.client import TrainerClient
expected = 0
with TrainerClient.connect(sys.argv[1]) as client:
    with client.step_lines(sys.argv[2], follow=True) as lines:
        for seq, line in lines:
            assert seq == expected, (seq, expected)
            expected += 1
print(expected)
"""


def run_once(client: TrainerClient, home: Home, lines: int, follow: bool) -> tuple[float, int, int]:
    """Return the worker's seconds, received lines (0 without a subscriber) and stored lines."""
    run = client.submit(echo_config(steps=lines, rate=0, episode_length=500))
    received = 0
    if follow:
        done = subprocess.run(
            [sys.executable, "-c", FOLLOW, str(home.path), run.run_id],
            stdout=subprocess.PIPE,
            check=True,
        )
        received = int(done.stdout)
    client.wait(run.run_id, 600)
    record = ExitRecord.read(home.run(run.run_id).exit)
    assert record is not None
    stored = client.stats(run.run_id).steps
    client.delete(run.run_id)
    return record.duration_s, received, stored


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    alone: list[float] = []
    followed: list[float] = []
    received, stored = [], []
    with throwaway_daemon() as (client, home):
        run_once(client, home, 1000, follow=False)  # makes the bundle
        started_at = time.monotonic()
        for turn in range(turns):
            for follow in (False, True) if turn % 2 == 0 else (True, False):
                seconds, received_lines, stored_lines = run_once(client, home, lines, follow)
                (followed if follow else alone).append(seconds)
                stored.append(stored_lines)
                if follow:
                    received.append(received_lines)
        elapsed = time.monotonic() - started_at
    ratios = [there / here for here, there in zip(alone, followed, strict=True)]
    print_table(
        f"{lines:,} lines at full speed, {turns} rounds each, {elapsed:.0f} s",
        ("", "worker s", "lines/s", "stored", "received"),
        [
            (
                "without subscriber",
                statistics.median(alone),
                lines / statistics.median(alone),
                min(stored),
                "",
            ),
            (
                "a subscriber follows",
                statistics.median(followed),
                lines / statistics.median(followed),
                min(stored),
                min(received),
            ),
        ],
    )
    print(
        f"worker's time with a subscriber: {statistics.median(ratios):.3f} x  (goal: within 1.05)"
    )
    print(f"share of written lines that are stored: {min(stored) / lines:.4f}")
    print(f"share of written lines that are received in order: {min(received) / lines:.4f}")


if __name__ == "__main__":
    main()
