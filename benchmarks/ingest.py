"""Spool to committed rows, against json.loads and a row per step.

benchmarks/run ingest [--lines N] [--environments N]
"""

import argparse
import json
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

from report import Cost, measure_cost, print_ratio, print_table
from workload import write_spool

from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

_BASELINE_COMMIT = 4_096
_ROUNDS = 3


def ingest_as_rows(spool: Path, store: Path) -> Cost:
    """The baseline: parse each line, insert each step, offset in the same transaction."""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.executescript(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
        "CREATE TABLE progress (offset INTEGER);"
        "CREATE TABLE step (episode TEXT, step INTEGER, action TEXT, reward REAL,"
        " terminated INTEGER, truncated INTEGER, obs TEXT, PRIMARY KEY (episode, step))"
        " WITHOUT ROWID;"
        "INSERT INTO progress VALUES (0);"
    )
    with measure_cost() as cost, spool.open("rb") as file:
        rows = []
        for line in file:
            event = json.loads(line)
            rows.append(
                (
                    event["episode_id"],
                    event["step"],
                    json.dumps(event["action"]),
                    event["reward"],
                    event["terminated"],
                    event["truncated"],
                    json.dumps(event["obs"]),
                )
            )
            if len(rows) == _BASELINE_COMMIT:
                _insert(connection, rows, file.tell())
                rows.clear()
        _insert(connection, rows, file.tell())
    connection.close()
    return cost


def _insert(
    connection: sqlite3.Connection, rows: Sequence[tuple[object, ...]], offset: int
) -> None:
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO step VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.execute("UPDATE progress SET offset = ?", (offset,))
    connection.execute("COMMIT")


def ingest_as_chunks(run: RunDirectory) -> Cost:
    with measure_cost() as cost, TelemetryService(run) as service:
        while service.ingest():
            pass
    return cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--environments", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder))
        rows_store = Path(folder) / "rows.db"
        write_spool(run.spool, options.lines, options.environments)
        ours, plain = [], []
        for _ in range(_ROUNDS):
            for path in (*run.path.glob("telemetry.db*"), *run.path.glob("rows.db*")):
                path.unlink()
            plain.append(ingest_as_rows(run.spool, rows_store))
            ours.append(ingest_as_chunks(run))
        with TelemetryReader(run) as reader:
            assert reader.stats().steps == options.lines
        best, baseline = (min(costs, key=lambda cost: cost.cpu_s) for costs in (ours, plain))
        sizes = run.store.stat().st_size, rows_store.stat().st_size
        line_bytes = run.spool.stat().st_size / options.lines
    print_table(
        f"Ingest of {options.lines:,} step lines of {line_bytes:.0f} bytes,"
        f" {options.environments} interleaved, best of {_ROUNDS}",
        ("store", "lines/s wall", "lines/CPU-s", "bytes/step"),
        [
            (name, options.lines / cost.wall_s, options.lines / cost.cpu_s, size / options.lines)
            for name, cost, size in (
                ("json.loads + rows", baseline, sizes[1]),
                ("mosaic.telemetry", best, sizes[0]),
            )
        ],
    )
    print_ratio("lines per CPU-second", baseline.cpu_s / best.cpu_s, "5 or more")


main()
