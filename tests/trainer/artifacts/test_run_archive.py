"""Export a run and import it into another home."""

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
def other_home(tmp_path: Path) -> Home:
    return Home(tmp_path / "other_home" / "var")


def make_record(run: RunDirectory, state: RunState) -> RunRecord:
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


def read_members(parts: Iterator[bytes]) -> dict[str, bytes]:
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


def test_an_imported_run_is_complete(full_run: RunDirectory, other_home: Home) -> None:
    """Every file, its modification time, the telemetry and the record are imported."""
    os.utime(full_run.path / "checkpoints/policy.pt", (1.6e9, 1.6e9))
    record = make_record(full_run, RunState.SUCCEEDED)
    imported = import_run(other_home, export_run(full_run, record))
    assert imported.run_id == full_run.run_id
    assert imported.config == load_run_config(full_run.config.read_bytes())
    assert imported.record == record
    imported_run = other_home.run(full_run.run_id)
    before, after = files_of(full_run), files_of(imported_run)
    for name in ("telemetry.db", "telemetry.db-wal", "telemetry.db-shm", "rejects.jsonl"):
        before.pop(name, None)
    assert after.pop("imported.json")
    assert after == before
    with TelemetryService(imported_run) as service:
        assert service.finish()
    assert (imported_run.path / "checkpoints/policy.pt").stat().st_mtime == 1.6e9
    with TelemetryReader(full_run) as old, TelemetryReader(imported_run) as new:
        assert new.stats() == old.stats()
        assert new.stats().steps == 2000
    assert other_home.config_copy(full_run.run_id).is_file()
    assert [path.name for path in other_home.runs.iterdir()] == [full_run.run_id]
    assert [path.name for path in full_run.path.parent.iterdir()] == [full_run.run_id]


def test_tar_can_unpack_the_archive(full_run: RunDirectory, tmp_path: Path) -> None:
    """It is a plain tar.gz that starts with the header and unpacks into one folder."""
    archive = tmp_path / "run.tar.gz"
    archive.write_bytes(b"".join(export_run(full_run)))
    listed = subprocess.run(["tar", "-tzf", archive], capture_output=True, text=True, check=True)
    names = listed.stdout.splitlines()
    assert (names[0], names[-1]) == ("mosaic-run.json", SUMS)
    assert {name.partition("/")[0] for name in names[1:-1]} == {full_run.run_id}
    content = read_members(iter([archive.read_bytes()]))
    header = json.loads(content["mosaic-run.json"])
    assert (header["format"], header["mosaic"]) == (1, __version__)
    assert header["run_id"] == full_run.run_id
    sums = json.loads(content[SUMS])["files"]
    assert header["files"] == len(sums) == len(names) - 2
    assert header["bytes"] == sum(file["size"] for file in sums)


def test_parts_fit_into_a_message(full_run: RunDirectory) -> None:
    """No part is empty or larger than `PART_BYTES`, so each is one message of the stream."""
    put(full_run, "checkpoints/random.pt", os.urandom(3 * PART_BYTES))
    parts = list(export_run(full_run))
    assert len(parts) > 3
    assert all(len(part) == PART_BYTES for part in parts[:-1])
    assert 0 < len(parts[-1]) <= PART_BYTES


def test_parts_of_any_size_are_imported(full_run: RunDirectory, other_home: Home) -> None:
    """A client may split the archive anywhere, including empty parts."""
    data = b"".join(export_run(full_run))
    parts = [data[start : start + 7] for start in range(0, 7000, 7)] + [b"", data[7000:]]
    assert import_run(other_home, iter(parts)).run_id == full_run.run_id


def test_process_files_and_secrets_are_not_exported(full_run: RunDirectory) -> None:
    """FIFOs, frames, locks, temporary files, links and secrets are excluded."""
    os.mkfifo(full_run.control)
    (full_run.path / "link").symlink_to("config.json")
    (full_run.path / "folder").symlink_to("/etc")
    excluded = ["frames", "supervisor.lock", ".config.json.abcd1234", "started.json.tmp"]
    excluded += [
        "checkpoints/.partial-a.pt",
        ".env",
        "sub/secrets.env",
        "sub/.netrc",
        "api_key.txt",
    ]
    excluded += ["credentials.json", "server.pem"]
    for path in excluded:
        put(full_run, path)
    put(full_run, ".hydra/config.yaml")
    put(full_run, "tokenizer.json")
    names = {name.partition("/")[2] for name in read_members(export_run(full_run))}
    assert names.isdisjoint({*excluded, "control", "link", "folder", "folder/passwd"})
    assert {".hydra/config.yaml", "tokenizer.json", "config.json", "rejects.jsonl"} <= names


def test_secrets_are_masked(full_run: RunDirectory) -> None:
    """A secret in a log or a note is masked without changing the size."""
    secret = "wandb-0123456789abcdef"  # noqa: S105 - not a real secret
    line = f"key={secret}\n".encode()
    log = b"x" * (PART_BYTES - 10) + line + b"y" * PART_BYTES + line
    full_run.worker_log.write_bytes(log)
    record = msgspec.structs.replace(make_record(full_run, RunState.FAILED), note=f"used {secret}")
    content = read_members(export_run(full_run, record, secrets=[secret, "short"]))
    assert all(secret.encode() not in data for data in content.values())
    masked = content[f"{full_run.run_id}/worker.log"]
    assert masked == log.replace(secret.encode(), b"*" * len(secret))


def test_an_active_run_is_exported(run: RunDirectory, other_home: Home) -> None:
    """The archive contains the lines that were complete when the export started."""
    run.spool.write_text(json.dumps({**STEP, "step": 0}) + "\n")
    with TelemetryService(run) as service:
        assert service.finish()
        with run.spool.open("a") as spool:
            spool.writelines(json.dumps({**STEP, "step": n}) + "\n" for n in range(1, 500))
        assert service.finish()
        parts = export_run(run)
        first = next(parts)
        with run.spool.open("a") as spool:
            spool.write(json.dumps({**STEP, "step": 500}) + "\n" + "incomplete")
        imported = import_run(other_home, iter([first, *parts]))
    imported_run = other_home.run(imported.run_id)
    assert imported_run.spool.read_bytes().count(b"\n") == 500
    with TelemetryService(imported_run) as service:
        assert service.finish()
    with TelemetryReader(imported_run) as reader:
        assert reader.stats().steps == 500


def test_a_file_that_grows_or_shrinks_during_the_export(
    full_run: RunDirectory, other_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are truncated or padded to their initial size; a deleted file is excluded."""
    growing = put(full_run, "a/growing.log", b"12345")
    shrinking = put(full_run, "a/shrinking.log", b"12345")
    deleted = put(full_run, "a/deleted.log", b"12345")
    real_open = archive_source._open_below

    def open_after_a_change(root: Path, path: str) -> int:
        growing.write_bytes(b"1234567890")
        shrinking.write_bytes(b"12")
        deleted.unlink(missing_ok=True)
        return real_open(root, path)

    monkeypatch.setattr(archive_source, "_open_below", open_after_a_change)
    imported = import_run(other_home, export_run(full_run))
    imported_run = other_home.run(imported.run_id).path / "a"
    assert (imported_run / "growing.log").read_bytes() == b"12345"
    assert (imported_run / "shrinking.log").read_bytes() == b"12\0\0\0"
    assert not (imported_run / "deleted.log").exists()


def test_a_folder_replaced_by_a_link_during_the_export(
    full_run: RunDirectory, tmp_path: Path
) -> None:
    """Replacing a folder during the export cannot make it read files outside of the run."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.txt").write_text("private")
    put(full_run, "zz/a.txt", b"public!")
    put(full_run, "checkpoints/big.pt", os.urandom(4 * PART_BYTES))
    parts = export_run(full_run)
    first = next(parts)
    (full_run.path / "zz").rename(full_run.path / "moved")
    (full_run.path / "zz").symlink_to(tmp_path / "private")
    content = read_members(iter([first, *parts]))
    assert f"{full_run.run_id}/zz/a.txt" not in content
    assert b"private" not in content.values()


def test_other_databases_are_copied_consistently(full_run: RunDirectory) -> None:
    """The study of a sweep is in the archive with its last commits."""
    with closing(sqlite3.connect(full_run.path / "optuna.db")) as study:
        study.execute("PRAGMA journal_mode = WAL")
        study.execute("CREATE TABLE trial (n)")
        study.execute("INSERT INTO trial VALUES (42)")
        study.commit()
        content = read_members(export_run(full_run))
    copy = full_run.path / "copy.db"
    copy.write_bytes(content[f"{full_run.run_id}/optuna.db"])
    with closing(sqlite3.connect(copy)) as study:
        assert study.execute("SELECT n FROM trial").fetchall() == [(42,)]


def test_a_damaged_store_is_excluded(full_run: RunDirectory, other_home: Home) -> None:
    """The store is rebuilt from the spool after the import."""
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (full_run.path / name).unlink(missing_ok=True)
    full_run.store.write_bytes(b"SQLite format 3\0" + b"garbage" * 1000)
    imported_run = other_home.run(import_run(other_home, export_run(full_run)).run_id)
    assert not imported_run.store.exists()
    with TelemetryService(imported_run) as service:
        assert service.finish()
    with TelemetryReader(imported_run) as reader:
        assert reader.stats().steps == 2000


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (RunState.RUNNING, RunState.LOST),
        (RunState.PAUSED, RunState.LOST),
        (RunState.STOPPING, RunState.LOST),
        (RunState.QUEUED, RunState.CANCELLED),
        (RunState.FAILED, RunState.FAILED),
    ],
)
def test_an_imported_run_is_final(
    full_run: RunDirectory, other_home: Home, state: RunState, expected: RunState
) -> None:
    """Processes of another machine are never reattached, signalled or waited for."""
    full_run.exit.unlink()
    imported = import_run(other_home, export_run(full_run, make_record(full_run, state)))
    assert imported.record
    assert imported.record.state is expected
    assert imported.record.tags == ("a", "b")
    imported_run = other_home.run(full_run.run_id)
    process = observe(imported_run)
    assert isinstance(process, Exited)
    assert process.exit.error
    assert ExitRecord.read(imported_run.exit) == process.exit


def test_an_existing_run_is_not_replaced(full_run: RunDirectory, home: Home) -> None:
    """Importing an existing run is rejected before anything is unpacked."""
    with pytest.raises(RunDirectoryExistsError, match="T363"):
        import_run(home, export_run(full_run))
    assert files_of(full_run)["worker.log"] == b"hello from the worker\n"
    assert [path.name for path in home.runs.iterdir()] == [full_run.run_id]


def test_concurrent_imports_of_one_run(full_run: RunDirectory, other_home: Home) -> None:
    """The import that finishes second is rejected."""
    data = b"".join(export_run(full_run))

    def slow_upload() -> Iterator[bytes]:
        yield data[:-100]
        import_run(other_home, iter([data]))
        yield data[-100:]

    with pytest.raises(RunDirectoryExistsError):
        import_run(other_home, slow_upload())
    assert [path.name for path in other_home.runs.iterdir()] == [full_run.run_id]
    assert other_home.run(full_run.run_id).config.is_file()


def test_a_run_without_files_cannot_be_exported(run: RunDirectory) -> None:
    """The error says that the run has no files."""
    run.config.unlink()
    with pytest.raises(ArchiveError, match="no files"):
        next(export_run(run))


def test_a_cancelled_export_leaves_no_files(full_run: RunDirectory) -> None:
    """Temporary files are deleted when the client disconnects."""
    put(full_run, "checkpoints/random.pt", os.urandom(4 * PART_BYTES))
    parts = export_run(full_run)
    next(parts)
    assert len(list(full_run.path.parent.iterdir())) == 2
    parts.close()
    assert len(list(full_run.path.parent.iterdir())) == 1


def test_a_cancelled_import_leaves_no_files(full_run: RunDirectory, other_home: Home) -> None:
    """Temporary files are deleted when the upload fails."""
    data = b"".join(export_run(full_run))

    def interrupted_upload() -> Iterator[bytes]:
        yield data[: len(data) // 2]
        raise ConnectionResetError("disconnected")

    with pytest.raises((ConnectionResetError, UserError)):
        import_run(other_home, interrupted_upload())
    assert list(other_home.runs.iterdir()) == []


def test_insufficient_disk_space(
    full_run: RunDirectory, other_home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Export and import report insufficient disk space before writing anything."""
    data = b"".join(export_run(full_run))
    usage = type("usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(NoRoomError, match="T364"):
        import_run(other_home, iter([data]))
    with pytest.raises(NoRoomError, match="T364"):
        next(export_run(full_run))
    assert list(other_home.runs.iterdir()) == []
    assert len(list(full_run.path.parent.iterdir())) == 1


@pytest.mark.process
def test_memory_does_not_grow_with_the_run(full_run: RunDirectory, other_home: Home) -> None:
    """A run of 300 MB is exported and imported with less than 100 MB of memory."""
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
    result = subprocess.run(
        [sys.executable, "-c", code, full_run.path, other_home.path],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(result.stdout) < 100_000
    assert (
        other_home.run(full_run.run_id).path / "checkpoints/large.pt"
    ).stat().st_size == 300 << 20


def test_the_archive_is_a_complete_gzip_file(full_run: RunDirectory) -> None:
    """It decompresses to a tar file with its end marker."""
    assert gzip.decompress(b"".join(export_run(full_run)))[-1024:] == bytes(1024)


def test_a_store_that_contains_a_secret_is_not_exported(
    full_run: RunDirectory, other_home: Home
) -> None:
    """The import rebuilds the store from the masked spool."""
    secret = "wandb-0123456789abcdef"  # noqa: S105 - not a real secret
    with full_run.spool.open("a") as spool:
        spool.write(json.dumps({**STEP, "step": 0, "info": {"key": secret}}) + "\n")
    with TelemetryService(full_run) as service:
        assert service.finish()
    parts = list(export_run(full_run, secrets=[secret]))
    content = read_members(iter(parts))
    assert all(secret.encode() not in data for data in content.values())
    assert not {f"{full_run.run_id}/{name}" for name in ("telemetry.db", "rejects.jsonl")} & set(
        content
    )
    imported_run = other_home.run(import_run(other_home, iter(parts)).run_id)
    with TelemetryService(imported_run) as service:
        assert service.finish()
    with TelemetryReader(imported_run) as reader:
        assert reader.stats().steps == 2001
        assert len(list(reader.rejects())) == 1


def test_a_store_without_its_spool_is_not_exported(full_run: RunDirectory) -> None:
    """It cannot be searched for secrets."""
    full_run.spool.unlink()
    assert f"{full_run.run_id}/telemetry.db" not in read_members(
        export_run(full_run, secrets=[KEY])
    )
    assert f"{full_run.run_id}/telemetry.db" in read_members(export_run(full_run))


def test_links_beside_a_database_are_not_followed(full_run: RunDirectory, tmp_path: Path) -> None:
    """SQLite would write into the target of a symlinked WAL or shared-memory file."""
    outside = tmp_path / "target"
    outside.write_bytes(b"target")
    for name in ("telemetry.db-wal", "telemetry.db-shm"):
        (full_run.path / name).unlink(missing_ok=True)
    (full_run.path / "telemetry.db-shm").symlink_to(outside)
    assert f"{full_run.run_id}/telemetry.db" not in read_members(export_run(full_run))
    assert outside.read_bytes() == b"target"
