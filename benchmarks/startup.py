"""Overhead of a second start through ./mosaic, against running the program directly.

Both alternate, so that load affects both alike.
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
VARIANTS = {
    "directly": [str(ROOT / ".venv/bin/python"), "-P", "-m", "mosaic.cli.main", "--help"],
    "through ./mosaic": [str(ROOT / "mosaic"), "--help"],
}


def start_ms(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - started) * 1000


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    start_ms(VARIANTS["through ./mosaic"])  # sets up what is missing and warms the caches
    times: dict[str, list[float]] = {variant: [] for variant in VARIANTS}
    for _ in range(rounds):
        for variant, command in VARIANTS.items():
            times[variant].append(start_ms(command))

    print(f"{'start':<18} {'median ms':>10} {'fastest ms':>10}")
    for variant, measured in times.items():
        print(f"{variant:<18} {statistics.median(measured):>10.1f} {min(measured):>10.1f}")
    direct, through = (statistics.median(measured) for measured in times.values())
    added = through - direct
    print(f"\n./mosaic adds {added:.1f} ms, {through / direct:.2f} x (limit: {LIMIT_MS} ms)")
    return 0 if added < LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
