"""A small thread pool stores every line of many runs."""

import asyncio
from pathlib import Path

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.spool import MAX_BLOCK_LINES, SCAN_BYTES
from mosaic.trainer.runs.ingest_pool import IngestPool

LINE = (
    b'{"type":"step","episode_id":"e","step":%d,"action":0,"reward":1,'
    b'"terminated":false,"truncated":false}\n'
)


def _run(home: Path) -> RunDirectory:
    run = Home(home).run(new_ulid())
    run.path.mkdir(parents=True)
    return run


def _write(run: RunDirectory, first: int, count: int) -> None:
    with run.spool.open("ab") as spool:
        spool.write(b"".join(LINE % number for number in range(first, first + count)))


def _steps(run: RunDirectory) -> int:
    with TelemetryReader(run) as reader:
        return reader.stats().steps


def test_every_run_is_stored_to_its_last_line(tmp_path: Path) -> None:
    """Runs that write concurrently are stored incrementally and completely."""
    runs = [_run(tmp_path) for _ in range(8)]
    committed: set[str] = set()
    pool = IngestPool(committed.add)

    async def scenario() -> None:
        for run in runs:
            _write(run, 0, 100)
            pool.follow(run)
        for run in runs:
            _write(run, 100, 100)
        assert all(await asyncio.gather(*(pool.finish(run, 30) for run in runs)))

    try:
        asyncio.run(scenario())
        assert {_steps(run) for run in runs} == {200}
        assert committed == {run.run_id for run in runs}
    finally:
        pool.close()


def test_a_run_with_a_huge_backlog_does_not_delay_another(tmp_path: Path) -> None:
    """Other runs are stored between the blocks of the backlog, even on one thread."""
    tiny_lines, long_line, normal = (_run(tmp_path) for _ in range(3))
    tiny_lines.spool.write_bytes(b"x\n" * (20 * MAX_BLOCK_LINES))
    with long_line.spool.open("wb") as spool:
        spool.truncate(4 * SCAN_BYTES)  # a sparse file uses no disk space
    _write(normal, 0, 10)
    commits: list[str] = []
    pool = IngestPool(commits.append, threads=1)

    async def scenario() -> None:
        runs = (tiny_lines, long_line, normal)
        for run in runs:
            pool.follow(run)
        assert all(await asyncio.gather(*(pool.finish(run, 60) for run in runs)))

    try:
        asyncio.run(scenario())
    finally:
        pool.close()
    assert _steps(normal) == 10
    assert commits.count(tiny_lines.run_id) >= 20
    # The first two can start before the others are followed.
    assert commits.index(normal.run_id) <= 4


def test_ingest_recovers_from_a_fault(tmp_path: Path) -> None:
    """The status has the fault, and the run is stored once the cause is removed."""
    run = _run(tmp_path)
    _write(run, 0, 10)
    run.store.mkdir()
    pool = IngestPool(lambda _: None)

    async def scenario() -> None:
        assert not await pool.finish(run, 0.5)
        status = pool.status(run.run_id)
        assert status is not None
        assert status.fault is not None
        run.store.rmdir()
        assert await pool.finish(run, 30)

    try:
        asyncio.run(scenario())
        assert _steps(run) == 10
    finally:
        pool.close()


def test_a_forgotten_run_can_be_deleted(tmp_path: Path) -> None:
    """After `forget` the pool has no status of the run."""
    run = _run(tmp_path)
    _write(run, 0, 10)
    pool = IngestPool(lambda _: None)
    try:
        pool.follow(run)
        pool.forget(run.run_id)
        assert pool.status(run.run_id) is None
    finally:
        pool.close()
