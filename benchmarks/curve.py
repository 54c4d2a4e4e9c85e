"""Downsampling a curve of a million points to 2,000, against GROUP BY over plain rows.

benchmarks/run curve [--points N]
"""

import argparse
import functools
import math
import random
import sqlite3
import tempfile
from pathlib import Path

from report import measure_ms, percentile, print_ratio, print_table

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

_DISPLAYED_POINTS = 2_000
_ROUNDS = 25


def write_metrics(path: Path, points: int) -> list[float]:
    noise = random.Random(5)
    values = [math.log1p(n) + noise.gauss(0, 0.3) for n in range(points)]
    with path.open("w") as file:
        for n, value in enumerate(values):
            file.write(f'{{"type":"metric","name":"return","value":{value!r},"step":{n * 128}}}\n')
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder))
        values = write_metrics(run.spool, options.points)
        with TelemetryService(run) as service:
            assert service.finish()
        plain = sqlite3.connect(Path(folder) / "rows.db")
        plain.execute("CREATE TABLE point (n INTEGER PRIMARY KEY, step INTEGER, value REAL)")
        plain.executemany(
            "INSERT INTO point VALUES (?, ?, ?)", ((n, n * 128, v) for n, v in enumerate(values))
        )
        plain.commit()
        bucket = options.points // (_DISPLAYED_POINTS // 2)
        query = f"SELECT min(step), min(value), max(value) FROM point GROUP BY n / {bucket}"  # noqa: S608
        grouped = [measure_ms(lambda: plain.execute(query).fetchall()) for _ in range(5)]
        plain.close()
        with TelemetryReader(run) as reader:
            complete = [
                measure_ms(lambda: reader.curve("return", max_points=_DISPLAYED_POINTS))
                for _ in range(_ROUNDS)
            ]
            curve = reader.curve("return", max_points=_DISPLAYED_POINTS)
            assert (min(curve.y), max(curve.y)) == (min(values), max(values))
            chooser = random.Random(1)
            range_starts = [chooser.randrange(options.points * 128) for _ in range(_ROUNDS * 4)]
            zoomed = [
                measure_ms(functools.partial(reader.curve, "return", first=first, last=2 * first))
                for first in range_starts
            ]
    rows: list[tuple[object, ...]] = [
        (name, percentile(times, 0.5), max(times))
        for name, times in (
            ("SQLite rows, GROUP BY", grouped),
            ("mosaic, complete curve", complete),
            ("mosaic, any range", zoomed),
        )
    ]
    print_table(
        f"{options.points:,} points drawn as {len(curve.x):,}", ("read", "p50 ms", "max ms"), rows
    )
    print_ratio(
        "faster than GROUP BY",
        percentile(grouped, 0.5) / percentile(complete, 0.5),
        "10 ms or less for the complete curve",
    )


main()
