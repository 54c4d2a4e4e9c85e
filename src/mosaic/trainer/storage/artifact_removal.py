"""Removing single artifacts of a run: pruned ones, and checkpoints that a user deletes.

An artifact is first renamed into a folder that the next daemon removes, in case this one is killed
before it is done.
"""

import logging
import stat
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid, new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.manifest import decode_manifest, write_manifest
from mosaic.contract.run_states import RunState
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.artifacts.run_removal import DELETING, remove_folder
from mosaic.trainer.artifacts.run_tree import resolve_inside
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.run_stats import RunStatsBuilder
from mosaic.trainer.storage.checkpoints import Checkpoints
from mosaic.trainer.storage.prunable import own_sidecars
from mosaic.trainer.storage.usage import size_of_run

_log = logging.getLogger(__name__)


def checkpoints_in_use(registry: RunRegistry) -> set[str]:
    """The ids of checkpoints that unfinished runs start from or play."""
    in_use: set[str] = set()
    for record in registry.in_states([state for state in RunState if not state.is_final]):
        try:
            config = registry.config(record.run_id)
        except UnknownRunError:
            continue
        in_use |= {name for name in (config.warm_start, config.actor) if name}
    return in_use


def remove_artifact(home: Home, run: RunDirectory, path: str, sidecars: list[str]) -> None:
    """Remove the file or folder and its own metadata files. Raises `OSError`."""
    removed_folder = home.runs / f"{DELETING}artifact-{new_ulid()}"
    removed_folder.mkdir(mode=0o700)
    try:
        (run.path / path).rename(removed_folder / "artifact")
        for sidecar in sidecars:
            (run.path / sidecar).unlink(missing_ok=True)
    finally:
        remove_folder(removed_folder)


def update_manifest(registry: RunRegistry, run: RunDirectory) -> None:
    """Update the manifest and the disk usage of the run."""
    builder = RunStatsBuilder(run, None)
    try:
        builder.update()
        manifest = scan_artifacts(run, builder.artifacts)
    finally:
        builder.close()
    registry.set_disk_bytes({run.run_id: size_of_run(run)})
    registry.set_manifest(run.run_id, manifest)
    try:
        write_manifest(run.manifest, manifest)
    except UserError as error:
        _log.warning("T406 the manifest of run %s is out of date: %s", run.run_id, error)


CHECKPOINT_NEEDED = "T453"
"""A checkpoint cannot be deleted while a run writes it, starts from it or plays it."""


class CheckpointRemoval:
    """Deletes checkpoints of runs and imported ones. Blocking; safe from any thread."""

    def __init__(self, home: Home, registry: RunRegistry, checkpoints: Checkpoints) -> None:
        self._home = home
        self._registry = registry
        self._checkpoints = checkpoints

    def delete(self, checkpoint_id: str) -> int:
        """Delete it permanently; returns the number of bytes freed.

        Raises `UnknownCheckpointError`, and `UserError` when it is in use or cannot be removed.
        """
        if checkpoint_id in checkpoints_in_use(self._registry):
            raise _in_use(checkpoint_id, "a run that has not finished starts from it or plays it")
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
            raise _in_use(checkpoint_id, f"run {row.run_id}, which wrote it, has not finished")
        manifest = decode_manifest(self._registry.details(row.run_id).manifest_json)
        path = resolve_inside(run, row.path)
        freed = 0
        if path.exists():
            freed = _freed_bytes(path, row.size_bytes)
            remove_artifact(self._home, run, row.path, own_sidecars(row.path, manifest))
            self._registry.record_pruned(row.run_id, row.path, freed, "It was deleted on request.")
        update_manifest(self._registry, run)
        return freed


def _freed_bytes(path: Path, size_bytes: int) -> int:
    """The bytes freed; 0 while the file has other hard links."""
    status = path.lstat()
    return 0 if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 else size_bytes


def _in_use(checkpoint_id: str, why: str) -> UserError:
    return UserError(
        f"The checkpoint {checkpoint_id} is in use: {why}.",
        remedy="Stop that run, or wait until it has finished.",
        code=CHECKPOINT_NEEDED,
    )
