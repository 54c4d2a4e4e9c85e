"""Deleting a checkpoint on request: one that a run wrote, or one that was imported.

Called by the service, on a thread. What a run still needs stays.
"""

import stat
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home
from mosaic.contract.manifest import decode_manifest
from mosaic.trainer.artifacts.inside_run import inside
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.artifact_removal import (
    checkpoints_in_use,
    remove_artifact,
    renew_manifest,
)
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.prunable import sidecars_alone

CHECKPOINT_NEEDED = "T453"
"""A checkpoint cannot be deleted while a run writes it, begins with it or plays it."""


class CheckpointRemoval:
    """Of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home, registry: RunRegistry, checkpoints: Checkpoints) -> None:
        self._home = home
        self._registry = registry
        self._checkpoints = checkpoints

    def delete(self, checkpoint_id: str) -> int:
        """Remove it for good; the bytes that this freed.

        Raises `UnknownCheckpointError`, and `UserError` when it is needed or cannot be removed.
        """
        if checkpoint_id in checkpoints_in_use(self._registry):
            raise _needed(checkpoint_id, "a run that is not over begins with it or plays it")
        try:
            if is_ulid(checkpoint_id):
                return self._checkpoints.imported.remove(checkpoint_id)
            return self._delete_of_run(checkpoint_id)
        except OSError as error:
            raise UserError(
                f"The checkpoint {checkpoint_id} cannot be deleted: {error}.",
                remedy="Check that its folder belongs to you and is on a writable disk.",
                code="T454",
            ) from error

    def _delete_of_run(self, checkpoint_id: str) -> int:
        row = self._checkpoints.row(checkpoint_id)
        run = self._home.run(row.run_id)
        if not self._registry.get(row.run_id).state.is_final:
            raise _needed(checkpoint_id, f"run {row.run_id}, which wrote it, is not over")
        manifest = decode_manifest(self._registry.details(row.run_id).manifest_json)
        path = inside(run, row.path)
        freed = 0
        if path.exists():
            freed = _freed_with(path, row.size_bytes)
            remove_artifact(self._home, run, row.path, sidecars_alone(row.path, manifest))
            self._registry.note_pruned(row.run_id, row.path, freed, "It was deleted on request.")
        renew_manifest(self._registry, run)
        return freed


def _freed_with(path: Path, size_bytes: int) -> int:
    """Nothing, while the same file has other names."""
    found = path.lstat()
    return 0 if stat.S_ISREG(found.st_mode) and found.st_nlink > 1 else size_bytes


def _needed(checkpoint_id: str, why: str) -> UserError:
    return UserError(
        f"The checkpoint {checkpoint_id} is needed: {why}.",
        remedy="Stop that run, or wait until it is over.",
        code=CHECKPOINT_NEEDED,
    )
