"""Faults of ingest: a clear status, no lost line, and recovery when the cause is gone."""

import contextlib
import os
import resource
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import database
from mosaic.telemetry.errors import FaultKind
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Spool, step

_UNPRIVILEGED_UID = 65534


class Clock:
    """A clock that advances only on request."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def expect_fault(service: TelemetryService, kind: FaultKind) -> None:
    assert service.ingest() == 0
    fault = service.status().fault
    assert fault is not None
    assert fault.kind == kind
    assert fault.message
    assert fault.remedy


def expect_all_stored(
    service: TelemetryService, clock: Clock, run: RunDirectory, steps: int
) -> None:
    clock.now += 60
    assert service.finish(), service.status()
    assert service.status().fault is None
    with TelemetryReader(run) as reader:
        assert [s.step.step for s in reader.steps_after(-1)] == list(range(steps))


def test_a_full_disk(run: RunDirectory, spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """When there is free space again, every step is stored once."""
    clock = Clock()
    open_for_writing = database.open_for_writing

    def open_with_small_limit(path: Path) -> sqlite3.Connection:
        connection = open_for_writing(path)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    spool.write(*(step(n, obs=[n * 0.1234567, os.urandom(20).hex()]) for n in range(3_000)))
    with TelemetryService(run, clock=clock) as service:
        with monkeypatch.context() as patch:
            patch.setattr(database, "open_for_writing", open_with_small_limit)
            expect_fault(service, FaultKind.DISK_FULL)
        expect_all_stored(service, clock, run, 3_000)


def test_a_full_disk_while_writing_a_reject(run: RunDirectory, spool: Spool) -> None:
    """A reject that cannot be stored is not skipped: ingest waits for space."""
    clock = Clock()
    garbage = b"garbage" * 100_000
    spool.write(step(0), garbage, step(1))
    with TelemetryService(run, clock=clock) as service:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        # Enough for the store, not for the rejected line.
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(garbage) // 2, hard))
        try:
            expect_fault(service, FaultKind.DISK_FULL)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        expect_all_stored(service, clock, run, 2)
    with TelemetryReader(run) as reader:
        assert [reject.text for reject in reader.rejects()] == [garbage.decode()]


@pytest.mark.parametrize("name", ["spool", "store", "rejects"])
def test_a_pipe_where_a_file_should_be(run: RunDirectory, spool: Spool, name: str) -> None:
    """Ingest does not block on the pipe, and continues when it is removed."""
    clock = Clock()
    path: Path = getattr(run, name)
    if name != "spool":
        spool.write(step(0), b"garbage", step(1))
    os.mkfifo(path)
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.NOT_A_FILE)
        path.unlink()
        if name == "spool":
            spool.write(step(0), b"garbage", step(1))
        expect_all_stored(service, clock, run, 2)


def test_an_open_spool_that_is_replaced_by_a_pipe(run: RunDirectory, spool: Spool) -> None:
    """Ingest reports a fault and does not block."""
    spool.write(step(0))
    with TelemetryService(run, clock=Clock()) as service:
        assert service.ingest()
        run.spool.unlink()
        os.mkfifo(run.spool)
        assert service.ingest() == 0
        expect_fault(service, FaultKind.NOT_A_FILE)


@pytest.mark.parametrize(
    "name", ["telemetry.jsonl", "rejects.jsonl", "telemetry.db", "telemetry.db-wal"]
)
@pytest.mark.parametrize("is_dangling", [False, True])
def test_a_link_is_never_followed(
    run: RunDirectory, spool: Spool, tmp_path: Path, name: str, is_dangling: bool
) -> None:
    """A worker cannot cause writes or reads outside its directory."""
    clock = Clock()
    outside = tmp_path / "outside"
    if not is_dangling:
        outside.write_bytes(b"precious\n" * 3)
    if name != "telemetry.jsonl":
        spool.write(step(0), b"garbage", step(1))
    link = run.path / name
    link.symlink_to(outside)
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.NOT_A_FILE)
        assert is_dangling or outside.read_bytes() == b"precious\n" * 3
        assert is_dangling != outside.exists()
        link.unlink()
        if name == "telemetry.jsonl":
            spool.write(step(0), b"garbage", step(1))
        expect_all_stored(service, clock, run, 2)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_store_that_is_a_link_is_not_read(run: RunDirectory, tmp_path: Path, suffix: str) -> None:
    """The message names the file and a remedy."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"precious")
    if suffix:
        with contextlib.closing(database.open_for_writing(run.store)):
            pass
    run.store.with_name(f"telemetry.db{suffix}").symlink_to(outside)
    with pytest.raises(UserError, match=rf"telemetry\.db{suffix} is not a regular file") as caught:
        TelemetryReader(run)
    assert caught.value.remedy
    assert outside.read_bytes() == b"precious"


def test_rejects_that_are_a_link_are_not_read(
    run: RunDirectory, spool: Spool, tmp_path: Path
) -> None:
    """The link is not followed, and a pipe does not block the reader."""
    spool.write(b"garbage")
    with TelemetryService(run) as service:
        assert service.finish()
    run.rejects.rename(tmp_path / "elsewhere")
    run.rejects.symlink_to(tmp_path / "elsewhere")
    with TelemetryReader(run) as reader:
        with pytest.raises(UserError, match="is not a regular file"):
            list(reader.rejects())
        run.rejects.unlink()
        os.mkfifo(run.rejects)
        with pytest.raises(UserError, match="is not a regular file"):
            list(reader.rejects())


def test_a_locked_store(run: RunDirectory, spool: Spool) -> None:
    """The write lock of another process only delays ingest."""
    clock = Clock()
    spool.write(step(0))
    with TelemetryService(run, clock=clock) as service:
        assert service.ingest()
        spool.write(step(1))
        with contextlib.closing(sqlite3.connect(run.store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            expect_fault(service, FaultKind.LOCKED)
            other.execute("ROLLBACK")
        expect_all_stored(service, clock, run, 2)


@pytest.mark.parametrize("damage", [b"this is not a database, " * 500, b"SQLite format 3\0" * 400])
def test_a_corrupt_store(run: RunDirectory, spool: Spool, damage: bytes) -> None:
    """The status has a remedy; once moved away, the store is rebuilt from the spool."""
    clock = Clock()
    spool.write(*(step(n) for n in range(5)))
    run.store.write_bytes(damage)
    with pytest.raises(UserError, match=r"Move telemetry\.db away"):
        TelemetryReader(run)
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.CORRUPT)
        run.store.rename(run.path / "telemetry.db.damaged")
        expect_all_stored(service, clock, run, 5)


def test_a_chunk_that_expands_beyond_the_limit(run: RunDirectory, spool: Spool) -> None:
    """A store may come from an untrusted archive: a few bytes must not fill the memory."""
    clock = Clock()
    spool.write(step(0))
    with TelemetryService(run) as service:
        assert service.finish()
    oversized = zstandard.ZstdCompressor().compress(bytes(16 << 20))
    with contextlib.closing(sqlite3.connect(run.store)) as connection:
        connection.execute("UPDATE step_chunk SET data = ?", (oversized,))
        connection.commit()
    with TelemetryReader(run) as reader, pytest.raises(zstandard.ZstdError, match="limit"):
        reader.steps(0)
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.CORRUPT)


def test_a_damaged_chunk(run: RunDirectory, spool: Spool) -> None:
    """The checksum of the tail chunk detects it."""
    clock = Clock()
    spool.write(step(0), step(1))
    with TelemetryService(run) as service:
        assert service.finish()
    with contextlib.closing(sqlite3.connect(run.store)) as connection:
        (data,) = connection.execute("SELECT data FROM step_chunk").fetchone()
        flipped = data[:-3] + bytes((data[-3] ^ 255,)) + data[-2:]
        connection.execute("UPDATE step_chunk SET data = ?", (flipped,))
        connection.commit()
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.CORRUPT)


def test_a_store_of_a_later_version(run: RunDirectory, spool: Spool) -> None:
    """The store is not changed."""
    spool.write(step(0))
    with contextlib.closing(sqlite3.connect(run.store)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    with TelemetryService(run) as service:
        expect_fault(service, FaultKind.NEWER_STORE)


@pytest.mark.parametrize("name", ["spool", "store", "rejects"])
def test_a_directory_where_a_file_should_be(run: RunDirectory, spool: Spool, name: str) -> None:
    """The status reports it, and ingest continues when it is removed."""
    clock = Clock()
    path: Path = getattr(run, name)
    path.mkdir()
    if name != "spool":
        spool.write(step(0), b"garbage", step(1))
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.NOT_A_FILE)
        path.rmdir()
        if name == "spool":
            spool.write(step(0), b"garbage", step(1))
        expect_all_stored(service, clock, run, 2)


def test_a_truncated_spool(run: RunDirectory, spool: Spool) -> None:
    """No line is read from the wrong offset."""
    spool.write(step(0), step(1))
    with TelemetryService(run) as service:
        assert service.ingest()
        os.truncate(run.spool, 10)
        expect_fault(service, FaultKind.CHANGED_SPOOL)


def test_a_spool_that_lost_its_end_is_accepted_after_the_run(
    run: RunDirectory, spool: Spool
) -> None:
    """After a power failure the store may have more lines than the spool; that is not a fault."""
    spool.write(*map(step, range(5)))
    with TelemetryService(run) as service:
        assert service.finish()
    os.truncate(run.spool, run.spool.stat().st_size - 10)
    with TelemetryService(run) as service:
        assert service.finish()
        assert service.status().fault is None
        assert "what was stored before is kept" in service.status().spool_problem
    with TelemetryReader(run) as reader:
        assert [s.step.step for s in reader.steps_after(-1)] == list(range(5))


def test_a_reject_after_zeros_is_read(run: RunDirectory, spool: Spool) -> None:
    """A power failure may leave zeros in place of the last records; the next one is not lost."""
    spool.write(b"garbage 0", b"garbage 1")
    with TelemetryService(run) as service:
        assert service.finish()
    first, second = run.rejects.read_bytes().splitlines(keepends=True)
    run.rejects.write_bytes(first + bytes(len(second)))
    spool.write(b"garbage 2")
    with TelemetryService(run) as service:
        assert service.finish()
    with TelemetryReader(run) as reader:
        assert [reject.text for reject in reader.rejects()] == ["garbage 0", "garbage 2"]


def test_the_spool_is_durable_before_the_store(
    run: RunDirectory, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each checkpoint, which makes commits durable, the spool was synced to their offset.

    Recorded: the size of the spool at each sync, and the checkpoints between them.
    """
    order: list[str | int] = []
    sync = os.fdatasync

    def record_sync(descriptor: int) -> None:
        order.append(os.fstat(descriptor).st_size)
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", record_sync)
    with TelemetryService(run) as service:
        for start in range(0, 400, 2):
            spool.write(step(start), step(start + 1))
            assert service.ingest()
            if start == 0:
                connection = service._store.connection  # type: ignore[union-attr]
                connection.set_trace_callback(
                    lambda sql: order.append("checkpoint") if "wal_checkpoint" in sql else None
                )
    checkpoints = [index for index, entry in enumerate(order) if entry == "checkpoint"]
    assert len(checkpoints) == 2  # one during ingest, and one on close
    assert all(isinstance(order[index - 1], int) for index in checkpoints)
    assert order[checkpoints[-1] - 1] == run.spool.stat().st_size


def test_a_truncated_spool_that_grew_again(run: RunDirectory, spool: Spool) -> None:
    """Reading does not continue in the middle of a line."""
    spool.write(step(0), step(1))
    with TelemetryService(run) as service:
        assert service.ingest()
        os.truncate(run.spool, 10)
        spool.write(*(step(n, obs="another") for n in range(50)))
        expect_fault(service, FaultKind.CHANGED_SPOOL)


def test_a_spool_that_was_replaced(run: RunDirectory, spool: Spool) -> None:
    """The file at the path is read, not the one that was opened."""
    clock = Clock()
    spool.write(step(0), step(1))
    with TelemetryService(run, clock=clock) as service:
        assert service.ingest()
        copy = run.spool.read_bytes()
        run.spool.unlink()
        service.ingest()
        spool.write_raw(copy)
        spool.write(step(2))
        expect_all_stored(service, clock, run, 3)


def test_an_open_store_that_is_moved_away(run: RunDirectory, spool: Spool) -> None:
    """It is rebuilt from the spool, not written at its new path."""
    clock = Clock()
    spool.write(step(0), step(1))
    with TelemetryService(run, clock=clock) as service:
        assert service.ingest()
        for file in run.path.glob("telemetry.db*"):
            file.rename(run.path / f"moved-{file.name}")
        spool.write(step(2))
        expect_all_stored(service, clock, run, 3)


def test_two_writers_do_not_store_a_line_twice(run: RunDirectory, spool: Spool) -> None:
    """The second writer reports a fault, then continues where the first one stopped."""
    clock = Clock()
    spool.write(step(0))
    with TelemetryService(run, clock=clock) as one, TelemetryService(run, clock=clock) as other:
        assert one.ingest()
        assert other.ingest() == 0
        spool.write(step(1))
        assert one.ingest()
        expect_fault(other, FaultKind.ANOTHER_WRITER)
        spool.write(step(2))
        clock.now += 60
        assert other.ingest()
        expect_fault(one, FaultKind.ANOTHER_WRITER)
        spool.write(step(3))
        expect_all_stored(one, clock, run, 4)


def test_unmerged_commits_in_a_read_only_folder_are_not_ignored() -> None:
    """Reading fails, because without the write-ahead log an older state would be read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / new_ulid()
        path.mkdir()
        run = RunDirectory(path)
        Spool(run).write(step(0))
        with TelemetryService(run) as service:
            assert service.ingest()
            saved = {file.name: file.read_bytes() for file in path.glob("telemetry.db*")}
        for name, data in saved.items():
            (path / name).write_bytes(data)
        (path / "telemetry.db-shm").unlink(missing_ok=True)
        Path(folder).chmod(0o755)
        path.chmod(0o555)
        for file in path.iterdir():
            file.chmod(0o444)
        with unprivileged(), pytest.raises(UserError, match="writable"):
            TelemetryReader(run)
        path.chmod(0o755)


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Run as a user without root's permissions."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_UNPRIVILEGED_UID)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_home() -> None:
    """The status reports that nothing can be stored; stored data stays readable."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / new_ulid()
        path.mkdir()
        run = RunDirectory(path)
        spool = Spool(run)
        spool.write(step(0))
        with TelemetryService(run) as service:
            assert service.finish()
        spool.write(step(1))
        Path(folder).chmod(0o755)
        for file in path.iterdir():
            file.chmod(0o444)
        path.chmod(0o555)
        with TelemetryService(run, clock=clock) as service:
            with unprivileged():
                expect_fault(service, FaultKind.READ_ONLY)
                with TelemetryReader(run) as reader:
                    assert reader.stats().steps == 1
            path.chmod(0o755)
            run.store.chmod(0o644)
            expect_all_stored(service, clock, run, 2)


def test_retries_back_off(run: RunDirectory, spool: Spool) -> None:
    """A service with a fault does not retry at every call."""
    clock = Clock()
    run.store.mkdir()
    spool.write(step(0))
    with TelemetryService(run, clock=clock) as service:
        expect_fault(service, FaultKind.NOT_A_FILE)
        run.store.rmdir()
        assert service.ingest() == 0
        clock.now += 0.3
        assert service.ingest() > 0


def test_reading_before_anything_is_stored(run: RunDirectory) -> None:
    """The error is the same while the file exists without tables."""
    with pytest.raises(UserError, match="has no stored telemetry"):
        TelemetryReader(run)
    run.store.touch()
    with pytest.raises(UserError, match="has no stored telemetry"):
        TelemetryReader(run)
