"""Removing single artifacts of a run, for pruning and for people who ask for it.

What goes is renamed away first, into a folder that the next daemon clears when this one is killed
in the middle.
"""

import logging

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.manifest import write_manifest
from mosaic.contract.run_states import RunState
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.artifacts.folder_removal import remove_folder
from mosaic.trainer.artifacts.run_removal import DELETING
from mosaic.trainer.registry.failures import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.runs.digest import DigestBuilder
from mosaic.trainer.storage.usage import size_of_run

_log = logging.getLogger(__name__)


def checkpoints_in_use(registry: RunRegistry) -> set[str]:
    """The ids of those that runs which are not over begin with or play."""
    in_use: set[str] = set()
    for record in registry.in_states([state for state in RunState if not state.is_final]):
        try:
            config = registry.config(record.run_id)
        except UnknownRunError:
            continue
        in_use |= {name for name in (config.warm_start, config.actor) if name}
    return in_use


def remove_artifact(home: Home, run: RunDirectory, path: str, sidecars: list[str]) -> None:
    """The file or folder, with the metadata files that are its own. Raises `OSError`."""
    doomed = home.runs / f"{DELETING}artifact-{new_ulid()}"
    doomed.mkdir(mode=0o700)
    try:
        (run.path / path).rename(doomed / "artifact")
        for sidecar in sidecars:
            (run.path / sidecar).unlink(missing_ok=True)
    finally:
        remove_folder(doomed)


def renew_manifest(registry: RunRegistry, run: RunDirectory) -> None:
    """Make manifest and disk use say what is there now."""
    builder = DigestBuilder(run, None)
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
