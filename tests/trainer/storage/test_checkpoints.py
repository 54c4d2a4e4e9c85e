"""Checkpoints of runs and imported ones: listed together, taken in whole, verified."""

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


def take(checkpoints: Checkpoints, *parts: bytes, **fields: Any) -> CheckpointRecord:
    new = {"file": "policy.pt", "worker": "echo_worker", "env_id": "CartPole-v1", **fields}
    return checkpoints.imported.add(NewCheckpoint(**new), iter(parts))


def listed(checkpoints: Checkpoints, **query: Any) -> list[CheckpointRecord]:
    """Of all pages."""
    found: list[CheckpointRecord] = []
    token = ""
    while True:
        page = checkpoints.list(CheckpointQuery(page_token=token, **query))
        found += page.checkpoints
        token = page.next_page_token
        if not token:
            return found


def test_newest_first_from_everywhere(
    home: Home, checkpoints: Checkpoints, add_run: AddRun
) -> None:
    """Those of all runs and imported ones are one list, whatever the size of its pages."""
    older = add_run(*((f"checkpoints/{n}.pt", b"x" * n, NOW + n) for n in range(1, 5)))
    newer = add_run(("checkpoints/a.pt", b"y", NOW + 3), ("checkpoints/b.pt", b"y", NOW + 3))
    imported = take(checkpoints, POLICY)
    assert imported.t > NOW + 100
    everything = listed(checkpoints)
    assert everything[0] == imported
    assert [(each.run_id, each.path.rpartition("/")[2]) for each in everything[1:]] == [
        (older.run_id, "4.pt"),
        *sorted(
            [(newer.run_id, "b.pt"), (newer.run_id, "a.pt"), (older.run_id, "3.pt")], reverse=True
        ),
        (older.run_id, "2.pt"),
        (older.run_id, "1.pt"),
    ]
    for size in (1, 2, 3, 7):
        assert listed(checkpoints, page_size=size) == everything
    for each in everything:
        assert (home.path / each.path).stat().st_size == each.size_bytes
        assert msgspec.convert(each.checkpoint_id, Identifier)
    assert len({each.checkpoint_id for each in everything}) == len(everything)


def test_filters(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """By run, worker, algorithm and environment; a token does not fit other filters."""
    one = add_run(("checkpoints/a.pt", b"x", NOW), ("checkpoints/b.pt", b"x", NOW), algo="ppo")
    add_run(("checkpoints/a.pt", b"x", NOW), algo="dqn", env_id="Taxi-v3")
    imported = take(checkpoints, POLICY, algo="ppo", worker="other_worker")
    assert len(listed(checkpoints, run_id=one.run_id)) == 2
    assert len(listed(checkpoints, algo="ppo")) == 3
    assert [each.algo for each in listed(checkpoints, env_id="Taxi-v3")] == ["dqn"]
    assert listed(checkpoints, worker="other_worker") == [imported]
    token = checkpoints.list(CheckpointQuery(algo="ppo", page_size=1)).next_page_token
    for wrong in (token, "nonsense", "ü", token[:-4]):
        with pytest.raises(StoragePageTokenError):
            checkpoints.list(CheckpointQuery(page_token=wrong))


def test_the_list_follows_the_manifests(
    registry: RunRegistry, checkpoints: Checkpoints, add_run: AddRun
) -> None:
    """What is gone from a manifest is gone from the list, as is what a deleted run had."""
    first, second = (add_run(("checkpoints/a.pt", b"x", NOW)) for _ in range(2))
    registry.set_manifest(first.run_id, ArtifactManifest())
    assert [each.run_id for each in listed(checkpoints)] == [second.run_id]
    registry.delete(second.run_id)
    assert not listed(checkpoints)


def test_an_older_registry_lists_what_its_runs_have(tmp_path: Path) -> None:
    """Manifests that were stored before there was an index are in it after the migration."""
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
    """Content, name, hash and metadata, also for the next daemon."""
    taken = take(
        checkpoints, POLICY[:10], POLICY[10:], meta={"step": 5}, size_bytes=7000, sha256=SHA256
    )
    assert (home.path / taken.path).read_bytes() == POLICY
    assert msgspec.json.decode(taken.meta_json) == {"step": 5, "sha256": SHA256}
    checkpoints.imported.clean()
    assert listed(checkpoints) == [taken]
    report = checkpoints.verify(taken.checkpoint_id)
    assert (report.ok, report.sha256, report.size_bytes) == (True, SHA256, 7000)


@pytest.mark.parametrize(
    ("parts", "metadata"),
    [
        ((b"abc",), {"size_bytes": 4}),
        ((b"abc", b"de"), {"size_bytes": 4}),
        ((b"abc",), {"sha256": SHA256}),
        ((b"",), {}),
    ],
    ids=["too short", "too long", "damaged", "empty"],
)
def test_an_upload_that_does_not_match_its_header_is_rejected(
    home: Home, checkpoints: Checkpoints, parts: tuple[bytes, ...], metadata: dict[str, Any]
) -> None:
    """And nothing of it is left."""
    with pytest.raises(InvalidCheckpointError):
        take(checkpoints, *parts, **metadata)
    assert not list(home.checkpoints.iterdir())


def test_a_cut_off_import_leaves_nothing(home: Home, checkpoints: Checkpoints) -> None:
    """Neither when the sender stops nor, after the next start, when the daemon is killed."""

    def stops() -> Iterator[bytes]:
        yield b"half"
        raise UserError("stopped", remedy="Again.")

    with pytest.raises(UserError, match="stopped"):
        take(checkpoints, *stops())
    assert not home.checkpoints.exists() or not list(home.checkpoints.iterdir())
    leftover = home.checkpoints / ".importing-01J0000000000000000000000Z"
    leftover.mkdir(parents=True)
    (leftover / "policy.pt").write_bytes(b"half")
    assert not listed(checkpoints)
    checkpoints.imported.clean()
    assert not leftover.exists()


def test_no_room(home: Home, checkpoints: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that would fill the disk is rejected before it does."""
    monkeypatch.setattr(imported_checkpoints, "MIN_FREE_BYTES", 1 << 62)
    with pytest.raises(archive_format.NoRoomError):
        take(checkpoints, POLICY)
    assert not list(home.checkpoints.iterdir())


def test_a_place_that_cannot_be_written(home: Home, checkpoints: Checkpoints) -> None:
    """The error says that it cannot be stored."""
    home.checkpoints.write_text("a file where a folder should be")
    with pytest.raises(UserError, match="cannot be stored"):
        take(checkpoints, POLICY)


def test_verifying_what_a_run_wrote(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """Whole, changed, shortened, gone, and replaced by a link that leads out."""
    run = add_run(
        ("checkpoints/policy.pt", POLICY, NOW),
        announced={"checkpoints/policy.pt": {"sha256": SHA256, "bytes": len(POLICY)}},
    )
    (checkpoint,) = listed(checkpoints)
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


def test_verifying_a_folder(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """A checkpoint of several files is as large as all of them."""
    run = add_run(("checkpoints/c/meta.json", b"{}", NOW), ("checkpoints/c/model", POLICY, NOW))
    (checkpoint,) = listed(checkpoints)
    assert checkpoints.verify(checkpoint.checkpoint_id).ok
    (run.checkpoints / "c/model").unlink()
    assert not checkpoints.verify(checkpoint.checkpoint_id).ok


def test_verifying_an_import_without_a_record(home: Home, checkpoints: Checkpoints) -> None:
    """It is reported as broken, and not listed."""
    taken = take(checkpoints, POLICY)
    (home.checkpoints / taken.checkpoint_id / "checkpoint.json").write_text("{")
    assert not checkpoints.verify(taken.checkpoint_id).ok
    assert not listed(checkpoints)


def test_unknown_checkpoints(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """An id that names nothing is rejected, whatever it looks like."""
    run = add_run(("checkpoints/a.pt", b"x", NOW))
    for name in ("x", run.run_id, f"{run.run_id}.000000000000", "01J0000000000000000000000Z", ".."):
        with pytest.raises(UnknownCheckpointError):
            checkpoints.verify(name)


def test_many_checkpoints_are_listed_once_each(checkpoints: Checkpoints, add_run: AddRun) -> None:
    """Also when all of them have the same time."""
    for _ in range(3):
        add_run(*((f"checkpoints/ü{n}.pt", b"x", NOW) for n in range(40)))
    found = [each.checkpoint_id for each in listed(checkpoints, page_size=7)]
    assert len(found) == len(set(found)) == 120
    pairs = itertools.pairwise(listed(checkpoints))
    assert all((a.run_id, a.path) > (b.run_id, b.path) for a, b in pairs)
