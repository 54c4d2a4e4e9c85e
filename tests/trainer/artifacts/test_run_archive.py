"""A run that is exported and imported elsewhere is the same run, and nothing of it comes alive."""

import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from mosaic import __version__
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from mosaic.trainer.artifacts import archive_source
from mosaic.trainer.artifacts.archive_format import (
    PART_BYTES,
    SUMS,
    ArchiveError,
    NoRoomError,
    RunDirectoryExistsError,
)
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import import_run
from mosaic.trainer.processes.run_process import Exited, observe
from tests.trainer.artifacts.conftest import put

STEP = {"type": "step", "episode_id": "late", "action": 0, "reward": 1.0}
STEP |= {"terminated": False, "truncated": False}
KEY = "0123456789abcdef"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Home:
    return Home(tmp_path / "elsewhere" / "var")


def record_of(run: RunDirectory, state: RunState) -> RunRecord:
    return RunRecord(
        run_id=run.run_id,
        name="my run",
        worker="echo_worker",
        mode="train",
        env_id="CartPole-v1",
        seed=7,
        state=state,
        reason="because",
        created_at=1.7e9,
        tags=("a", "b"),
        note="a note",
    )


def members(parts: Iterator[bytes]) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(b"".join(parts)), mode="r:gz") as archive:
        return {
            member.name: file.read()
            for member in archive
            if (file := archive.extractfile(member)) is not None
        }


def files_of(run: RunDirectory) -> dict[str, bytes]:
    return {
        path.relative_to(run.path).as_posix(): path.read_bytes()
        for path in run.path.rglob("*")
        if path.is_file()
    }


def test_a_run_comes_back_whole(full_run: RunDirectory, elsewhere: Home) -> None:
    """Every file, its time, the telemetry and what the daemon knew of the run survive."""
    os.utime(full_run.path / "checkpoints/policy.pt", (1.6e9, 1.6e9))
    record = record_of(full_run, RunState.SUCCEEDED)
    imported = import_run(elsewhere, export_run(full_run, record))
    assert imported.run_id == full_run.run_id
    assert imported.config == load_run_config(full_run.config.read_bytes())
    assert imported.record == record
    there = elsewhere.run(full_run.run_id)
    before, after = files_of(full_run), files_of(there)
    for name in ("telemetry.db", "telemetry.db-wal", "telemetry.db-shm", "rejects.jsonl"):
        before.pop(name, None)
    assert after.pop("imported.json")
    assert after == before
    with TelemetryService(there) as service:
        assert service.finish()
    assert (there.path / "checkpoints/policy.pt").stat().st_mtime == 1.6e9
    with TelemetryReader(full_run) as old, TelemetryReader(there) as new:
        assert new.stats() == old.stats()
        assert new.stats().steps == 2000
    assert elsewhere.config_copy(full_run.run_id).is_file()
    assert [path.name for path in elsewhere.runs.iterdir()] == [full_run.run_id]
    assert [path.name for path in full_run.path.parent.iterdir()] == [full_run.run_id]


def test_anybody_can_unpack_it(full_run: RunDirectory, tmp_path: Path) -> None:
    """It is a plain tar.gz that begins with its description and unpacks into one folder."""
    archive = tmp_path / "run.tar.gz"
    archive.write_bytes(b"".join(export_run(full_run)))
    listed = subprocess.run(["tar", "-tzf", archive], capture_output=True, text=True, check=True)
    names = listed.stdout.splitlines()
    assert (names[0], names[-1]) == ("mosaic-run.json", SUMS)
    assert {name.partition("/")[0] for name in names[1:-1]} == {full_run.run_id}
    found = members(iter([archive.read_bytes()]))
    header = json.loads(found["mosaic-run.json"])
    assert (header["format"], header["mosaic"]) == (1, __version__)
    assert header["run_id"] == full_run.run_id
    sums = json.loads(found[SUMS])["files"]
    assert header["files"] == len(sums) == len(names) - 2
    assert header["bytes"] == sum(file["size"] for file in sums)


def test_parts_fit_a_message(full_run: RunDirectory) -> None:
    """No part is empty or larger than agreed, so that each is one message of the stream."""
    put(full_run, "checkpoints/random.pt", os.urandom(3 * PART_BYTES))
    parts = list(export_run(full_run))
    assert len(parts) > 3
    assert all(len(part) == PART_BYTES for part in parts[:-1])
    assert 0 < len(parts[-1]) <= PART_BYTES


def test_parts_may_come_in_any_size(full_run: RunDirectory, elsewhere: Home) -> None:
    """A client that cuts the file in its own way is understood, empty parts included."""
    data = b"".join(export_run(full_run))
    cuts = [data[start : start + 7] for start in range(0, 7000, 7)] + [b"", data[7000:]]
    assert import_run(elsewhere, iter(cuts)).run_id == full_run.run_id


def test_what_belongs_to_processes_or_is_secret_stays(full_run: RunDirectory) -> None:
    """No FIFO, no frames, no locks, no temporary files, no links, no secrets."""
    os.mkfifo(full_run.control)
    (full_run.path / "link").symlink_to("config.json")
    (full_run.path / "folder").symlink_to("/etc")
    left_out = ["frames", "supervisor.lock", ".config.json.abcd1234", "started.json.tmp"]
    left_out += [
        "checkpoints/.partial-a.pt",
        ".env",
        "sub/secrets.env",
        "sub/.netrc",
        "api_key.txt",
    ]
    left_out += ["credentials.json", "server.pem"]
    for path in left_out:
        put(full_run, path)
    put(full_run, ".hydra/config.yaml")
    put(full_run, "tokenizer.json")
    names = {name.partition("/")[2] for name in members(export_run(full_run))}
    assert names.isdisjoint({*left_out, "control", "link", "folder", "folder/passwd"})
    assert {".hydra/config.yaml", "tokenizer.json", "config.json", "rejects.jsonl"} <= names


def test_secrets_are_overwritten(full_run: RunDirectory) -> None:
    """A key that a worker printed does not leave the machine, and no size changes."""
    secret = "wandb-0123456789abcdef"  # noqa: S105 - not a real secret
    line = f"key={secret}\n".encode()
    log = b"x" * (PART_BYTES - 10) + line + b"y" * PART_BYTES + line
    full_run.worker_log.write_bytes(log)
    note = msgspec.structs.replace(record_of(full_run, RunState.FAILED), note=f"used {secret}")
    found = members(export_run(full_run, note, secrets=[secret, "short"]))
    assert all(secret.encode() not in content for content in found.values())
    masked = found[f"{full_run.run_id}/worker.log"]
    assert masked == log.replace(secret.encode(), b"*" * len(secret))


def test_a_live_run_is_exported_as_it_is(run: RunDirectory, elsewhere: Home) -> None:
    """Commits that are only in the write-ahead log are in it, and the spool covers the store."""
    run.spool.write_text(json.dumps({**STEP, "step": 0}) + "\n")
    with TelemetryService(run) as service:
        assert service.finish()
        with run.spool.open("a") as spool:
            spool.writelines(json.dumps({**STEP, "step": n}) + "\n" for n in range(1, 500))
        assert service.finish()
        parts = export_run(run)
        first = next(parts)
        with run.spool.open("a") as spool:
            spool.write(json.dumps({**STEP, "step": 500}) + "\n" + "half a li")
        imported = import_run(elsewhere, iter([first, *parts]))
    there = elsewhere.run(imported.run_id)
    assert there.spool.read_bytes().count(b"\n") == 500
    with TelemetryService(there) as service:
        assert service.finish()
    with TelemetryReader(there) as reader:
        assert reader.stats().steps == 500


def test_a_file_that_grows_or_shrinks_during_the_export(
    full_run: RunDirectory, elsewhere: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is cut at, or filled up to, the size seen first; one that vanished is left out."""
    grows = put(full_run, "a/grows.log", b"12345")
    shrinks = put(full_run, "a/shrinks.log", b"12345")
    vanishes = put(full_run, "a/vanishes.log", b"12345")
    real_open = archive_source._open_below

    def open_after_a_change(root: Path, path: str) -> int:
        grows.write_bytes(b"1234567890")
        shrinks.write_bytes(b"12")
        vanishes.unlink(missing_ok=True)
        return real_open(root, path)

    monkeypatch.setattr(archive_source, "_open_below", open_after_a_change)
    imported = import_run(elsewhere, export_run(full_run))
    there = elsewhere.run(imported.run_id).path / "a"
    assert (there / "grows.log").read_bytes() == b"12345"
    assert (there / "shrinks.log").read_bytes() == b"12\0\0\0"
    assert not (there / "vanishes.log").exists()


def test_a_folder_replaced_by_a_link_during_the_export(
    full_run: RunDirectory, tmp_path: Path
) -> None:
    """A worker cannot make the export read elsewhere by exchanging a folder under its hands."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.txt").write_text("private")
    put(full_run, "zz/a.txt", b"public!")
    put(full_run, "checkpoints/big.pt", os.urandom(4 * PART_BYTES))
    parts = export_run(full_run)
    first = next(parts)
    (full_run.path / "zz").rename(full_run.path / "moved")
    (full_run.path / "zz").symlink_to(tmp_path / "private")
    found = members(iter([first, *parts]))
    assert f"{full_run.run_id}/zz/a.txt" not in found
    assert b"private" not in found.values()


def test_other_databases_are_copied_consistently(full_run: RunDirectory) -> None:
    """A sweep's study is in the archive with its last commits."""
    with closing(sqlite3.connect(full_run.path / "optuna.db")) as study:
        study.execute("PRAGMA journal_mode = WAL")
        study.execute("CREATE TABLE trial (n)")
        study.execute("INSERT INTO trial VALUES (42)")
        study.commit()
        found = members(export_run(full_run))
    copy = full_run.path / "copy.db"
    copy.write_bytes(found[f"{full_run.run_id}/optuna.db"])
    with closing(sqlite3.connect(copy)) as study:
        assert study.execute("SELECT n FROM trial").fetchall() == [(42,)]


def test_a_damaged_store_is_left_out(full_run: RunDirectory, elsewhere: Home) -> None:
    """The spool is whole, and the store can be made from it again."""
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (full_run.path / name).unlink(missing_ok=True)
    full_run.store.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    there = elsewhere.run(import_run(elsewhere, export_run(full_run)).run_id)
    assert not there.store.exists()
    with TelemetryService(there) as service:
        assert service.finish()
    with TelemetryReader(there) as reader:
        assert reader.stats().steps == 2000


@pytest.mark.parametrize(
    ("state", "becomes"),
    [
        (RunState.RUNNING, RunState.LOST),
        (RunState.PAUSED, RunState.LOST),
        (RunState.STOPPING, RunState.LOST),
        (RunState.QUEUED, RunState.CANCELLED),
        (RunState.FAILED, RunState.FAILED),
    ],
)
def test_an_imported_run_is_over(
    full_run: RunDirectory, elsewhere: Home, state: RunState, becomes: RunState
) -> None:
    """Process numbers of another machine are never adopted, signalled or waited for."""
    full_run.exit.unlink()
    imported = import_run(elsewhere, export_run(full_run, record_of(full_run, state)))
    assert imported.record
    assert imported.record.state is becomes
    assert imported.record.tags == ("a", "b")
    there = elsewhere.run(full_run.run_id)
    process = observe(there)
    assert isinstance(process, Exited)
    assert process.exit.error
    assert ExitRecord.read(there.exit) == process.exit


def test_a_run_that_is_here_is_not_replaced(full_run: RunDirectory, home: Home) -> None:
    """Importing twice, or where it came from, is rejected before anything is unpacked."""
    with pytest.raises(RunDirectoryExistsError, match="T363"):
        import_run(home, export_run(full_run))
    assert files_of(full_run)["worker.log"] == b"hello from the worker\n"
    assert [path.name for path in home.runs.iterdir()] == [full_run.run_id]


def test_two_imports_of_one_run_at_once(full_run: RunDirectory, elsewhere: Home) -> None:
    """The second one is rejected although it began before the first was done."""
    data = b"".join(export_run(full_run))

    def slowly() -> Iterator[bytes]:
        yield data[:-100]
        import_run(elsewhere, iter([data]))
        yield data[-100:]

    with pytest.raises(RunDirectoryExistsError):
        import_run(elsewhere, slowly())
    assert [path.name for path in elsewhere.runs.iterdir()] == [full_run.run_id]
    assert elsewhere.run(full_run.run_id).config.is_file()


def test_a_run_without_files_cannot_be_exported(run: RunDirectory) -> None:
    """A run that was never started says so."""
    run.config.unlink()
    with pytest.raises(ArchiveError, match="no files"):
        next(export_run(run))


def test_an_export_that_is_given_up_leaves_nothing(full_run: RunDirectory) -> None:
    """A client that goes away in the middle costs no disk space."""
    put(full_run, "checkpoints/random.pt", os.urandom(4 * PART_BYTES))
    parts = export_run(full_run)
    next(parts)
    assert len(list(full_run.path.parent.iterdir())) == 2
    parts.close()
    assert len(list(full_run.path.parent.iterdir())) == 1


def test_a_client_that_goes_away_leaves_nothing(full_run: RunDirectory, elsewhere: Home) -> None:
    """Whatever ends the stream ends the import without a trace."""
    data = b"".join(export_run(full_run))

    def breaks_off() -> Iterator[bytes]:
        yield data[: len(data) // 2]
        raise ConnectionResetError("gone")

    with pytest.raises((ConnectionResetError, UserError)):
        import_run(elsewhere, breaks_off())
    assert list(elsewhere.runs.iterdir()) == []


def test_no_room(full_run: RunDirectory, elsewhere: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without room is reported before anything is written, in both directions."""
    data = b"".join(export_run(full_run))
    usage = type("usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(NoRoomError, match="T364"):
        import_run(elsewhere, iter([data]))
    with pytest.raises(NoRoomError, match="T364"):
        next(export_run(full_run))
    assert list(elsewhere.runs.iterdir()) == []
    assert len(list(full_run.path.parent.iterdir())) == 1


@pytest.mark.process
def test_memory_does_not_grow_with_the_run(full_run: RunDirectory, elsewhere: Home) -> None:
    """A run of 300 MB is exported and imported in a few megabytes."""
    with (full_run.path / "checkpoints/large.pt").open("wb") as file:
        file.truncate(300 << 20)
    code = (
        "import re, sys; from pathlib import Path\n"
        "from mosaic.contract.layout import Home, RunDirectory\n"
        "from mosaic.trainer.artifacts.run_export import export_run\n"
        "from mosaic.trainer.artifacts.run_import import import_run\n"
        "import_run(Home(Path(sys.argv[2])), export_run(RunDirectory(Path(sys.argv[1]))))\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(peak[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, full_run.path, elsewhere.path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 100_000
    assert (
        elsewhere.run(full_run.run_id).path / "checkpoints/large.pt"
    ).stat().st_size == 300 << 20


def test_gzip_is_what_it_is(full_run: RunDirectory) -> None:
    """The last bytes are those of a complete gzip file."""
    assert gzip.decompress(b"".join(export_run(full_run)))[-1024:] == bytes(1024)


def test_a_store_made_of_a_secret_stays_here(full_run: RunDirectory, elsewhere: Home) -> None:
    """It holds the secret compressed; elsewhere it is made again from the masked spool."""
    secret = "wandb-0123456789abcdef"  # noqa: S105 - not a real secret
    with full_run.spool.open("a") as spool:
        spool.write(json.dumps({**STEP, "step": 0, "info": {"key": secret}}) + "\n")
    with TelemetryService(full_run) as service:
        assert service.finish()
    parts = list(export_run(full_run, secrets=[secret]))
    found = members(iter(parts))
    assert all(secret.encode() not in content for content in found.values())
    assert not {f"{full_run.run_id}/{name}" for name in ("telemetry.db", "rejects.jsonl")} & set(
        found
    )
    there = elsewhere.run(import_run(elsewhere, iter(parts)).run_id)
    with TelemetryService(there) as service:
        assert service.finish()
    with TelemetryReader(there) as reader:
        assert reader.stats().steps == 2001
        assert len(list(reader.rejects())) == 1


def test_a_store_without_its_spool_is_not_exported(full_run: RunDirectory) -> None:
    """It cannot be checked for secrets."""
    full_run.spool.unlink()
    assert f"{full_run.run_id}/telemetry.db" not in members(export_run(full_run, secrets=[KEY]))
    assert f"{full_run.run_id}/telemetry.db" in members(export_run(full_run))


def test_links_beside_a_database_are_not_followed(full_run: RunDirectory, tmp_path: Path) -> None:
    """SQLite would write into what a worker made its side files lead to."""
    outside = tmp_path / "precious"
    outside.write_bytes(b"precious")
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (full_run.path / name).unlink(missing_ok=True)
    (full_run.path / "telemetry.db-shm").symlink_to(outside)
    assert f"{full_run.run_id}/telemetry.db" not in members(export_run(full_run))
    assert outside.read_bytes() == b"precious"
