"""The registry file: creation, migration, damage, and I/O failures."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_events import EventsForgotten
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery
from mosaic.trainer.registry import database
from mosaic.trainer.registry.errors import RegistryUnavailableError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.registry.schema import MIGRATIONS, migrate, schema_version
from tests.trainer.registry.conftest import NOW, AddRun, Clock, config

_UNPRIVILEGED_UID = 65534


def fill(path: Path, runs: int = 50) -> None:
    with RunRegistry(path) as registry:
        for n in range(runs):
            registry.add(new_ulid(), config(seed=n, metadata={"text": "x" * 500}))


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def test_folder_and_file_are_created(tmp_path: Path) -> None:
    """A missing home is created, whatever characters its path contains."""
    path = tmp_path / "a home? 100% #1" / "trainer" / "trainer.db"
    fill(path, 1)
    assert [file.name for file in path.parent.iterdir()] == ["trainer.db"]


def test_a_newer_registry_is_not_changed(path: Path) -> None:
    """It is rejected with a remedy, and its content is unchanged."""
    fill(path, 1)
    with opened(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(UserError, match=r"newer version of MOSAIC\. Update MOSAIC") as caught:
        RunRegistry(path)
    assert caught.value.code == "T316"
    assert path.read_bytes() == before


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    """Its statements and the schema version are rolled back."""
    fill(path, 1)
    broken = (*MIGRATIONS, ("CREATE TABLE half (a)", "CREATE TABLE half (a)"))
    with opened(path) as connection:
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(connection, broken)
        assert schema_version(connection) == len(MIGRATIONS)
        assert not connection.execute("SELECT * FROM sqlite_schema WHERE name = 'half'").fetchall()
        migrate(connection, (*MIGRATIONS, ("CREATE TABLE complete (a)",)))
        assert schema_version(connection) == len(MIGRATIONS) + 1


_KILLED_IN_A_MIGRATION = """
import os, signal, sqlite3, sys
from mosaic.trainer.registry.schema import MIGRATIONS, migrate
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 1")  # so that a part of it reaches the disk
connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
migrate(connection, (*MIGRATIONS, (
    "CREATE TABLE half AS SELECT * FROM run_document",
    "DELETE FROM run",
    "SELECT die()",
    "CREATE TABLE other_half (a)",
)))
"""


@pytest.mark.process
def test_a_kill_in_the_middle_of_a_migration(path: Path) -> None:
    """The registry opens with its previous content."""
    fill(path)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_IN_A_MIGRATION, str(path)], check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    with RunRegistry(path) as registry:
        assert registry.set_aside is None
        assert len(registry.run_ids()) == 50
        tables = registry._rows("SELECT name FROM sqlite_schema WHERE name LIKE '%half'")
        assert tables == []


_KILLED_WHILE_WRITING = """
import sys
from pathlib import Path
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.trainer.registry.run_registry import RunRegistry
registry = RunRegistry(Path(sys.argv[1]))
config = TrainRunConfig(worker="w", algo="a", env_id="e")
while True:
    run_id = registry.add(new_ulid(), config).run_id
    print(run_id, registry.last_event_seq(), flush=True)
    registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "")
    print(run_id, registry.last_event_seq(), flush=True)
"""


@pytest.mark.process
def test_a_kill_at_any_time_loses_no_event(path: Path) -> None:
    """Returned runs, states and event numbers are stored; the history matches the state."""
    returned: list[tuple[str, int]] = []
    for lines in (1, 7, 20):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED_WHILE_WRITING, str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        for _ in range(lines):
            run_id, seq = process.stdout.readline().split()
            returned.append((run_id, int(seq)))
        process.kill()
        process.stdout.close()
        process.wait(60)
        with RunRegistry(path) as registry:
            assert {run_id for run_id, _ in returned} <= registry.run_ids()
            events = {event.seq: event.run_id for event in registry.events_after(0)}
            assert all(events[seq] == run_id for run_id, seq in returned)
            assert registry.last_event_seq() == len(events)
            for run_id in registry.run_ids():
                details = registry.details(run_id)
                assert details.history[-1].state == details.run.state


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database, " * 1_000)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwritten_pages(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(2, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 512)


def other_schema(path: Path) -> None:
    path.unlink()
    with opened(path) as connection:
        connection.execute("CREATE TABLE run (something TEXT)")


@pytest.mark.parametrize(
    "damage", [garbage, truncated, overwritten_pages, other_schema], ids=lambda d: d.__name__
)
def test_a_damaged_file_is_set_aside(
    path: Path, damage: object, caplog: pytest.LogCaptureFixture
) -> None:
    """The old file is kept, the registry starts empty and reports where the old file is."""
    assert callable(damage)
    for number in (1, 2):
        fill(path)
        damage(path)
        damaged = path.read_bytes()
        with RunRegistry(path) as registry:
            assert registry.set_aside == path.with_name(f"trainer.db.damaged-{number}")
            assert f"set aside as {registry.set_aside}" in registry.set_aside_reason
            assert registry.set_aside.read_bytes() == damaged
            assert registry.run_ids() == set()
            assert registry.add(new_ulid(), config()).state == RunState.QUEUED
        with RunRegistry(path) as registry:
            assert registry.set_aside is None
            assert len(registry.run_ids()) == 1
        path.unlink()
    assert caplog.text.count("T317 ") == 2


def test_cursors_of_a_lost_registry_are_reported(path: Path, clock: Clock) -> None:
    """An event number of the old registry is not valid in the new one, also after a restart."""
    fill(path, 5)
    garbage(path)
    with RunRegistry(path, clock=clock) as registry:
        registry.add(new_ulid(), config())
    with RunRegistry(path, clock=clock) as registry:
        for cursor in (0, 1, 5):
            forgotten, added = registry.events_after(cursor)
            assert (forgotten.what, forgotten.seq) == (EventsForgotten(), int(NOW))
            assert added.seq == registry.last_event_seq() == int(NOW) + 1


def test_an_empty_file_is_a_new_registry(path: Path) -> None:
    """An empty file, as after a power failure during its creation, is not damaged."""
    path.parent.mkdir()
    path.touch()
    with RunRegistry(path) as registry:
        assert registry.set_aside is None
        assert registry.list(RunQuery()).total == 0


def test_a_full_disk(registry: RunRegistry, add_run: AddRun) -> None:
    """The complete change is rejected with a remedy; it works again once there is space."""
    run_id = add_run().run_id
    writer = registry._database._writer
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(RegistryUnavailableError, match="Free some disk space"):
        add_run(metadata={"text": "x" * 100_000})
    runs = registry.run_ids()
    seq = registry.last_event_seq()
    assert seq == len(runs)
    assert registry.get(run_id).state == RunState.QUEUED
    writer.execute("PRAGMA max_page_count = 1000000")
    registry.transition(run_id, {RunState.QUEUED}, RunState.PREPARING, "")
    assert registry.last_event_seq() == seq + 1


def test_a_file_locked_by_another_program(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading works; a change is rejected with a remedy until the lock is released."""
    monkeypatch.setattr(database, "BUSY_TIMEOUT_MS", 20)
    with RunRegistry(path) as registry, opened(path) as other:
        run_id = registry.add(new_ulid(), config()).run_id
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(RegistryUnavailableError, match="Close the other program"):
            registry.annotate(run_id, note="no")
        assert registry.get(run_id).note == ""
        other.execute("ROLLBACK")
        assert registry.annotate(run_id, note="yes").note == "yes"


def test_a_directory_instead_of_the_file(path: Path) -> None:
    """The directory is not changed, and the error names it."""
    path.mkdir(parents=True)
    with pytest.raises(RegistryUnavailableError, match=r"trainer\.db cannot be used"):
        RunRegistry(path)
    assert path.is_dir()


def test_a_read_only_home() -> None:
    """The error has a remedy, for a new registry and for an existing one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "trainer.db", 1)
        (folder / "trainer.db").chmod(0o444)
        folder.chmod(0o555)
        with unprivileged():
            for path in (folder / "trainer.db", folder / "new" / "trainer.db"):
                with pytest.raises(RegistryUnavailableError, match="writ"):
                    RunRegistry(path)
        folder.chmod(0o755)


@contextlib.contextmanager
def unprivileged() -> Iterator[None]:
    """Run as an unprivileged user, because root ignores file permissions."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_UNPRIVILEGED_UID)
    try:
        yield
    finally:
        os.seteuid(0)


def test_states_are_flushed_to_disk_and_digests_are_not(registry: RunRegistry) -> None:
    """SQLite's setting of each transaction; `tests/hostile/power_cut` has power failures."""
    full, normal = 2, 1
    with registry._database.writing(durable=False) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (normal,)
    with registry._transaction() as change:
        assert change.connection.execute("PRAGMA synchronous").fetchone() == (full,)
        assert change.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_closed_registry_raises(path: Path) -> None:
    """Its files are closed, and every call raises an error."""
    registry = RunRegistry(path)
    registry.close()
    registry.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        registry.run_ids()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        registry.add(new_ulid(), config())
    assert not path.with_name("trainer.db-wal").exists()
