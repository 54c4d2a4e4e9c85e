"""Checkpoints are deleted on request, except those that a run still needs."""

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.storage import CheckpointQuery
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.artifact_removal import CHECKPOINT_NEEDED, CheckpointRemoval
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.errors import UnknownCheckpointError
from mosaic.trainer.storage.imported_checkpoints import NewCheckpoint
from tests.trainer.storage.conftest import NOW, AddRun


@pytest.fixture
def checkpoints(home: Home, registry: RunRegistry) -> Checkpoints:
    return Checkpoints(home, registry)


@pytest.fixture
def removal(home: Home, registry: RunRegistry, checkpoints: Checkpoints) -> CheckpointRemoval:
    return CheckpointRemoval(home, registry, checkpoints)


def ids(checkpoints: Checkpoints) -> list[str]:
    return [record.checkpoint_id for record in checkpoints.list(CheckpointQuery()).checkpoints]


def test_delete_one_checkpoint_of_a_run(
    add_run: AddRun, checkpoints: Checkpoints, removal: CheckpointRemoval
) -> None:
    """The file and its list entry are deleted; other checkpoints are not."""
    run = add_run(
        ("checkpoints/a.pt", b"aaa", NOW - 1),
        ("checkpoints/b.pt", b"bb", NOW),
    )
    newest, older = ids(checkpoints)
    assert removal.delete(newest) == 2
    assert ids(checkpoints) == [older]
    assert [file.name for file in (run.path / "checkpoints").iterdir()] == ["a.pt"]
    with pytest.raises(UnknownCheckpointError):
        removal.delete(newest)


def test_hard_links_are_freed_with_the_last_link(
    add_run: AddRun, checkpoints: Checkpoints, removal: CheckpointRemoval, registry: RunRegistry
) -> None:
    """The returned size is the disk space actually freed."""
    run = add_run(("checkpoints/last.pt", b"aaa", NOW))
    (run.checkpoints / "step-5.pt").hardlink_to(run.checkpoints / "last.pt")
    registry.set_manifest(run.run_id, scan_artifacts(run, []))
    first, second = ids(checkpoints)
    assert (removal.delete(first), removal.delete(second)) == (0, 3)


def test_delete_an_imported_checkpoint(
    home: Home, checkpoints: Checkpoints, removal: CheckpointRemoval
) -> None:
    """Its folder is deleted, too."""
    new = NewCheckpoint(file="policy.pt", worker="w", env_id="CartPole-v1")
    imported = checkpoints.imported.add(new, iter([b"weights"]))
    assert removal.delete(imported.checkpoint_id) > len(b"weights")
    assert list(home.checkpoints.iterdir()) == []


def test_a_checkpoint_in_use_is_not_deleted(
    add_run: AddRun, checkpoints: Checkpoints, removal: CheckpointRemoval
) -> None:
    """It is in use if a queued run starts from it or its own run is active."""
    add_run(("checkpoints/a.pt", b"a", NOW))
    (saved,) = ids(checkpoints)
    add_run(state=RunState.QUEUED, warm_start=saved)
    with pytest.raises(UserError, match="starts from it") as rejected:
        removal.delete(saved)
    assert rejected.value.code == CHECKPOINT_NEEDED
    add_run(("checkpoints/b.pt", b"b", NOW + 1), state=RunState.RUNNING)
    with pytest.raises(UserError, match="has not finished"):
        removal.delete(ids(checkpoints)[0])
    assert len(ids(checkpoints)) == 2
