"""What a second start through ./mosaic costs over running the program directly.

Both are run in turn, so that a busy machine slows both alike.
Needs nothing but Python: `python3 benchmarks/startup.py [ROUNDS]`.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS = 50
WAYS = {
    "directly": [str(ROOT / ".venv/bin/python"), "-P", "-m", "mosaic.cli.main", "--help"],
    "through ./mosaic": [str(ROOT / "mosaic"), "--help"],
}


def start_ms(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    start_ms(WAYS["through ./mosaic"])  # sets up what is missing and warms the caches
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, command in WAYS.items():
            times[way].append(start_ms(command))

    print(f"{'start':<18} {'median ms':>10} {'fastest ms':>10}")
    for way, measured in times.items():
        print(f"{way:<18} {statistics.median(measured):>10.1f} {min(measured):>10.1f}")
    direct, through = (statistics.median(measured) for measured in times.values())
    added = through - direct
    print(f"\n./mosaic adds {added:.1f} ms, {through / direct:.2f} x (limit: {LIMIT_MS} ms)")
    return 0 if added < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
