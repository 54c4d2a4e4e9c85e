"""Random access to 100 of a million steps, one environment and 64 interleaved.

benchmarks/run seek [--lines N]
"""

import argparse
import json
import random
import sqlite3
import tempfile
import time
from pathlib import Path

from report import percentile, print_ratio, print_table
from workload import STEPS_PER_EPISODE, write_spool

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

_RANGE_STEPS = 100
_SEEKS = 400


def seek_times(lines: int, environments: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each seek, ours and of a plain table."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder))
        write_spool(run.spool, lines, environments)
        with TelemetryService(run) as service:
            assert service.finish()
        positions = _random_positions(lines, environments)
        with TelemetryReader(run) as reader:
            ours = [_seek_ms(reader, episode, first) for episode, first in positions]
        return ours, row_seek_times(Path(folder), run, positions)


def _random_positions(lines: int, environments: int) -> list[tuple[int, int]]:
    chooser = random.Random(7)
    complete_episodes = lines // (STEPS_PER_EPISODE * environments) * environments
    return [
        (
            chooser.randrange(complete_episodes),
            chooser.randrange(STEPS_PER_EPISODE - _RANGE_STEPS),
        )
        for _ in range(_SEEKS)
    ]


def _seek_ms(reader: TelemetryReader, episode: int, first: int) -> float:
    start = time.perf_counter()
    found = reader.steps(episode, first, first + _RANGE_STEPS - 1)
    elapsed_ms = (time.perf_counter() - start) * 1_000
    assert len(found) == _RANGE_STEPS
    return elapsed_ms


def row_seek_times(folder: Path, run: RunDirectory, starts: list[tuple[int, int]]) -> list[float]:
    """Return the same for a plain table with one row per step."""
    connection = sqlite3.connect(folder / "rows.db")
    connection.execute(
        "CREATE TABLE step (episode TEXT, step INTEGER, line TEXT, PRIMARY KEY (episode, step))"
        " WITHOUT ROWID"
    )
    with run.spool.open() as file:
        connection.executemany(
            "INSERT INTO step VALUES (:line ->> '$.episode_id', :line ->> '$.step', :line)",
            ({"line": line} for line in file),
        )
    connection.commit()
    query = "SELECT line FROM step WHERE episode = ? AND step BETWEEN ? AND ?"
    times = []
    for episode, first in starts:
        start = time.perf_counter()
        rows = connection.execute(query, (f"e{episode}", first, first + _RANGE_STEPS - 1))
        found = [json.loads(line) for (line,) in rows]
        times.append((time.perf_counter() - start) * 1_000)
        assert len(found) == _RANGE_STEPS
    connection.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    options = parser.parse_args()
    rows: list[tuple[object, ...]] = []
    ratios = []
    for environments in (1, 64):
        ours, plain = seek_times(options.lines, environments)
        for name, times in ((f"mosaic, {environments} interleaved", ours), ("row per step", plain)):
            rows.append((name, percentile(times, 0.5), percentile(times, 0.99)))
        ratios.append((environments, percentile(ours, 0.5) / percentile(plain, 0.5)))
    print_table(
        f"Seek of {_RANGE_STEPS} steps in {options.lines:,}, decoded",
        ("store", "p50 ms", "p99 ms"),
        rows,
    )
    for environments, ratio in ratios:
        goal = "p50 1 ms or less" if environments == 1 else "p50 5 ms or less"
        print_ratio(f"against a row per step, {environments} interleaved", ratio, goal)


main()
