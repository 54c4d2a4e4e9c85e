"""Deleting runs, and clearing away what was cut off.

A run that is to go is renamed first: from then on it does not exist, and whoever is killed in the
middle leaves a folder whose name says what to do with it.
"""

import logging
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.ids import is_ulid
from mosaic.contract.layout import Home
from mosaic.trainer.artifacts.folder_removal import remove_folder

_log = logging.getLogger(__name__)

DELETING = ".deleting-"
IMPORTING = ".importing-"
EXPORTING = ".exporting-"


def delete_run(home: Home, run_id: str) -> int:
    """Remove the run's directory and the copy of its configuration; the bytes that this freed.

    Nothing of the run may be running. A run without a directory frees nothing.
    """
    directory = home.run(run_id).path
    doomed = home.runs / f"{DELETING}{run_id}"
    try:
        freed = _finish(home, doomed) if doomed.exists() else 0
        if directory.is_symlink():
            directory.unlink()
        elif directory.exists():
            directory.rename(doomed)
        return freed + _finish(home, doomed)
    except OSError as error:
        raise UserError(
            f"Run {run_id} cannot be deleted completely: {error}.",
            remedy="Check that its folder belongs to you and is on a writable disk, and try again.",
            code="T367",
        ) from error


def clean_leftovers(home: Home) -> int:
    """Finish what was cut off: deletions, imports, exports. The bytes that this freed.

    For the start of a daemon, when nothing of the kind can be under way.
    """
    freed = 0
    if not home.runs.is_dir():
        return freed
    for folder in sorted(home.runs.iterdir()):
        if folder.name.startswith((DELETING, IMPORTING, EXPORTING)):
            try:
                freed += _finish(home, folder)
            except OSError as error:
                _log.warning("T368 %s, which was cut off, cannot be removed: %s", folder, error)
    return freed


def _finish(home: Home, folder: Path) -> int:
    run_id = folder.name.removeprefix(DELETING)
    if is_ulid(run_id):
        home.config_copy(run_id).unlink(missing_ok=True)
    return remove_folder(folder) if folder.is_dir() and not folder.is_symlink() else 0
