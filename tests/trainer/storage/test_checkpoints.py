"""Checkpoints of runs and imported checkpoints: listing, importing, verifying."""

import hashlib
import itertools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.storage import CheckpointQuery, CheckpointRecord
from mosaic.contract.text_types import Identifier
from mosaic.trainer.artifacts import archive_format
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.registry.schema import MIGRATIONS, migrate
from mosaic.trainer.storage import imported_checkpoints
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.errors import (
    InvalidCheckpointError,
    StoragePageTokenError,
    UnknownCheckpointError,
)
from mosaic.trainer.storage.imported_checkpoints import NewCheckpoint
from tests.trainer.storage.conftest import NOW, AddRun

POLICY = b"weights" * 1000
SHA256 = hashlib.sha256(POLICY).hexdigest()


@pytest.fixture
def checkpoints(home: Home, registry: RunRegistry) -> Checkpoints:
    return Checkpoints(home, registry)


def import_checkpoint(checkpoints: Checkpoints, *chunks: bytes, **fields: Any) -> CheckpointRecord:
    new = {"file": "policy.pt", "worker": "echo_worker", "env_id": "CartPole-v1", **fields}
    return checkpoints.imported.add(NewCheckpoint(**new), iter(chunks))


def list_all(checkpoints: Checkpoints, **query: Any) -> list[CheckpointRecord]:
    """Return the checkpoints of all pages."""
    records: list[CheckpointRecord] = []
    token = ""
    while True:
        page = checkpoints.list(CheckpointQuery(page_token=token, **query))
        records += page.checkpoints
        token = page.next_page_token
        if not token:
            return records


def test_checkpoints_are_listed_newest_first(
    home: Home, checkpoints: Checkpoints, add_run: AddRun
) -> None:
    """Checkpoints of all runs and imported ones are one list for any page size."""
    older = add_run(*((f"checkpoints/{n}.pt", b"x" * n, NOW + n) for n in range(1, 5)))
    newer = add_run(("checkpoints/a.pt", b"y", NOW + 3), ("checkpoints/b.pt", b"y", NOW + 3))
    imported = import_checkpoint(checkpoints, POLICY)
    assert imported.t > NOW + 100
    everything = list_all(checkpoints)
    assert everything[0] == imported
    assert [(record.run_id, record.path.rpartition("/")[2]) for record in everything[1:]] == [
        (older.run_id, "4.pt"),
        *sorted(
            [(newer.run_id, "b.pt"), (newer.run_id, "a.pt"), (older.run_id, "3.pt")], reverse=True
        ),
        (older.run_id, "2.pt"),
        (older.run_id, "1.pt"),
    ]
    for size in (1, 2, 3, 7):
        assert list_all(checkpoints, page_size=size) == everything
    for record in everything:
        assert (home.path / record.path).stat().st_size == record.size_bytes
        assert msgspec.convert(record.checkpoint_id, Identifier)
    assert len({record.checkpoint_id for record in everything}) == len(everything)


def test_filters(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """Filter by run, worker, algorithm, environment; reject a page token of other filters."""
    one = add_run(("checkpoints/a.pt", b"x", NOW), ("checkpoints/b.pt", b"x", NOW), algo="ppo")
    add_run(("checkpoints/a.pt", b"x", NOW), algo="dqn", env_id="Taxi-v3")
    imported = import_checkpoint(checkpoints, POLICY, algo="ppo", worker="other_worker")
    assert len(list_all(checkpoints, run_id=one.run_id)) == 2
    assert len(list_all(checkpoints, algo="ppo")) == 3
    assert [record.algo for record in list_all(checkpoints, env_id="Taxi-v3")] == ["dqn"]
    assert list_all(checkpoints, worker="other_worker") == [imported]
    token = checkpoints.list(CheckpointQuery(algo="ppo", page_size=1)).next_page_token
    for invalid in (token, "nonsense", "ü", token[:-4]):
        with pytest.raises(StoragePageTokenError):
            checkpoints.list(CheckpointQuery(page_token=invalid))


def test_the_list_follows_the_manifests(
    registry: RunRegistry, checkpoints: Checkpoints, add_run: AddRun
) -> None:
    """Checkpoints removed from a manifest, and those of a deleted run, are not listed."""
    first, second = (add_run(("checkpoints/a.pt", b"x", NOW)) for _ in range(2))
    registry.set_manifest(first.run_id, ArtifactManifest())
    assert [record.run_id for record in list_all(checkpoints)] == [second.run_id]
    registry.delete(second.run_id)
    assert not list_all(checkpoints)


def test_the_migration_indexes_existing_manifests(tmp_path: Path) -> None:
    """Manifests stored by an older version are in the index after the migration."""
    with sqlite3.connect(tmp_path / "old.db", isolation_level=None) as connection:
        migrate(connection, MIGRATIONS[:1])
        for key, manifest in enumerate(
            (b'{"checkpoints":[{"path":"c/a","size_bytes":1,"t":2.5,"meta":{"x":1}}]}', b"broken")
        ):
            connection.execute(
                "INSERT INTO run (key, run_id, name, worker, mode, algo, env_id, seed, state,"
                " reason, remedy, created_at, priority)"
                " VALUES (?, ?, '', 'w', 'train', '', 'E', 1, 'lost', '', '', 1.0, 0)",
                (key, f"r{key}"),
            )
            connection.execute(
                "INSERT INTO run_document (run, config, manifest) VALUES (?, '', ?)",
                (key, manifest),
            )
        migrate(connection)
        rows = connection.execute("SELECT run, kind, path, size_bytes, t, meta FROM run_artifact")
        assert rows.fetchall() == [(0, "checkpoint", "c/a", 1, 2.5, '{"x":1}')]
    connection.close()


def test_an_import_is_stored_unchanged(home: Home, checkpoints: Checkpoints) -> None:
    """Content, name, hash and metadata are stored, also after cleaning up."""
    imported = import_checkpoint(
        checkpoints, POLICY[:10], POLICY[10:], meta={"step": 5}, size_bytes=7000, sha256=SHA256
    )
    assert (home.path / imported.path).read_bytes() == POLICY
    assert msgspec.json.decode(imported.meta_json) == {"step": 5, "sha256": SHA256}
    checkpoints.imported.clean()
    assert list_all(checkpoints) == [imported]
    report = checkpoints.verify(imported.checkpoint_id)
    assert (report.ok, report.sha256, report.size_bytes) == (True, SHA256, 7000)


@pytest.mark.parametrize(
    ("chunks", "metadata"),
    [
        ((b"abc",), {"size_bytes": 4}),
        ((b"abc", b"de"), {"size_bytes": 4}),
        ((b"abc",), {"sha256": SHA256}),
        ((b"",), {}),
    ],
    ids=["too short", "too long", "damaged", "empty"],
)
def test_an_upload_that_does_not_match_its_header_is_rejected(
    home: Home, checkpoints: Checkpoints, chunks: tuple[bytes, ...], metadata: dict[str, Any]
) -> None:
    """No file of the upload is left."""
    with pytest.raises(InvalidCheckpointError):
        import_checkpoint(checkpoints, *chunks, **metadata)
    assert not list(home.checkpoints.iterdir())


def test_an_interrupted_import_leaves_no_files(home: Home, checkpoints: Checkpoints) -> None:
    """Files are removed when the sender stops, or at the next start if the daemon is killed."""

    def interrupted_upload() -> Iterator[bytes]:
        yield b"half"
        raise UserError("stopped", remedy="Retry.")

    with pytest.raises(UserError, match="stopped"):
        import_checkpoint(checkpoints, *interrupted_upload())
    assert not home.checkpoints.exists() or not list(home.checkpoints.iterdir())
    leftover = home.checkpoints / ".importing-01J0000000000000000000000Z"
    leftover.mkdir(parents=True)
    (leftover / "policy.pt").write_bytes(b"half")
    assert not list_all(checkpoints)
    checkpoints.imported.clean()
    assert not leftover.exists()


def test_insufficient_disk_space(
    home: Home, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint that would fill the disk is rejected, and no file is left."""
    monkeypatch.setattr(imported_checkpoints, "MIN_FREE_BYTES", 1 << 62)
    with pytest.raises(archive_format.NoRoomError):
        import_checkpoint(checkpoints, POLICY)
    assert not list(home.checkpoints.iterdir())


def test_a_folder_that_cannot_be_created(home: Home, checkpoints: Checkpoints) -> None:
    """The error says that the checkpoint cannot be stored."""
    home.checkpoints.write_text("a file where a folder should be")
    with pytest.raises(UserError, match="cannot be stored"):
        import_checkpoint(checkpoints, POLICY)


def test_verify_a_checkpoint_of_a_run(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """Verify an intact, changed, truncated, missing and symlinked checkpoint."""
    run = add_run(
        ("checkpoints/policy.pt", POLICY, NOW),
        announced={"checkpoints/policy.pt": {"sha256": SHA256, "bytes": len(POLICY)}},
    )
    (checkpoint,) = list_all(checkpoints)
    file = run.checkpoints / "policy.pt"

    def problems() -> str:
        report = checkpoints.verify(checkpoint.checkpoint_id)
        assert report.ok != bool(report.problems)
        return " ".join(report.problems)

    assert problems() == ""
    file.write_bytes(POLICY[::-1])
    assert "SHA-256" in problems()
    file.write_bytes(POLICY[:-1])
    assert "6,999 bytes; 7,000" in problems()
    file.unlink()
    assert "no longer exists" in problems()
    outside = run.path.parent / "outside.pt"
    outside.write_bytes(POLICY)
    file.symlink_to(outside)
    assert "outside of its folder" in problems()
    file.unlink()
    file.mkdir()
    assert problems()


def test_verify_a_checkpoint_folder(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """The size of a checkpoint folder is the sum of its files."""
    run = add_run(("checkpoints/c/meta.json", b"{}", NOW), ("checkpoints/c/model", POLICY, NOW))
    (checkpoint,) = list_all(checkpoints)
    assert checkpoints.verify(checkpoint.checkpoint_id).ok
    (run.checkpoints / "c/model").unlink()
    assert not checkpoints.verify(checkpoint.checkpoint_id).ok


def test_verify_an_import_with_an_invalid_record(home: Home, checkpoints: Checkpoints) -> None:
    """The verification fails, and the checkpoint is not listed."""
    imported = import_checkpoint(checkpoints, POLICY)
    (home.checkpoints / imported.checkpoint_id / "checkpoint.json").write_text("{")
    assert not checkpoints.verify(imported.checkpoint_id).ok
    assert not list_all(checkpoints)


def test_unknown_checkpoints(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """An unknown or malformed id is rejected."""
    run = add_run(("checkpoints/a.pt", b"x", NOW))
    for name in ("x", run.run_id, f"{run.run_id}.000000000000", "01J0000000000000000000000Z", ".."):
        with pytest.raises(UnknownCheckpointError):
            checkpoints.verify(name)


def test_each_checkpoint_is_listed_once(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """Also if all of them have the same time."""
    for _ in range(3):
        add_run(*((f"checkpoints/ü{n}.pt", b"x", NOW) for n in range(40)))
    ids = [record.checkpoint_id for record in list_all(checkpoints, page_size=7)]
    assert len(ids) == len(set(ids)) == 120
    pairs = itertools.pairwise(list_all(checkpoints))
    assert all((a.run_id, a.path) > (b.run_id, b.path) for a, b in pairs)
