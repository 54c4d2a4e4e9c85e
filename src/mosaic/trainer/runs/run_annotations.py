"""`annotations.json` in a run's directory: name, tags and note, for a registry that is rebuilt.

The registry is the source while it exists. The file is validated when it is read, because a worker
or the author of an archive could have written it.
"""

import logging
import threading

import msgspec

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import read_regular
from mosaic.trainer.registry.run_registry import RunRegistry

_log = logging.getLogger(__name__)

_MAX_BYTES = 1 << 20
_lock = threading.Lock()


class RunAnnotations(msgspec.Struct, kw_only=True, frozen=True):
    """What a user added to a run."""

    name: str = ""
    tags: tuple[str, ...] = ()
    note: str = ""
    archived: bool = False


def save_annotations(home: Home, registry: RunRegistry, run_id: str) -> None:
    """Write the file from the registry. Blocking; never raises, as the registry is the source."""
    run = home.run(run_id)
    with _lock:  # of two concurrent changes, the file has the last one
        try:
            record = registry.get(run_id)
            annotations = RunAnnotations(
                name=record.name, tags=record.tags, note=record.note, archived=record.archived
            )
            if run.path.is_dir():
                write_atomically(run.annotations, msgspec.json.encode(annotations) + b"\n")
        except UserError as error:
            _log.warning("T483 the annotations of run %s are not in its folder: %s", run_id, error)


def restore_annotations(run: RunDirectory, registry: RunRegistry) -> None:
    """Apply the file to a run that was found on disk. Never raises. Blocking."""
    try:
        data = read_regular(run.annotations, _MAX_BYTES)
        found = msgspec.json.decode(data, type=RunAnnotations)
        registry.annotate(
            run.run_id,
            add_tags=found.tags,
            note=found.note or None,
            name=found.name or None,
            archived=found.archived,
        )
    except FileNotFoundError:
        return
    except (OSError, msgspec.MsgspecError, UserError) as error:
        _log.warning("T484 the annotations of run %s cannot be restored: %s", run.run_id, error)


prebuild_decoders(RunAnnotations)
