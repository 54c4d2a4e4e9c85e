"""Where an artifact may lie: inside its run's directory, and nowhere else."""

import os
from pathlib import Path

import msgspec

from mosaic.contract.decode import RejectedLineError, RejectKind
from mosaic.contract.events import Artifact, LegacyArtifacts

_PATH_FIELDS = {Artifact: ("path",), LegacyArtifacts: ("video", "tensorboard")}


def with_relative_paths(
    run_directory: Path, event: Artifact | LegacyArtifacts, line: bytes
) -> bytes:
    """The line with its paths relative to the run's directory, all else as it was.

    Raises `RejectedLineError` for a path that leads out of the directory.
    """
    document = msgspec.json.decode(line)
    changed = False
    for field in _PATH_FIELDS[type(event)]:
        path = document.get(field)
        if isinstance(path, str) and path:
            document[field] = _relative(run_directory, path)
            changed = changed or document[field] != path
    return msgspec.json.encode(document) if changed else line


def _relative(run_directory: Path, path: str) -> str:
    if "\0" in path:
        raise RejectedLineError(RejectKind.ARTIFACT_PATH, "the path holds a NUL byte")
    root = os.path.abspath(run_directory)  # noqa: PTH100 - dots are taken out, links are kept
    inside = os.path.normpath(os.path.join(root, path))  # noqa: PTH118 - likewise
    for base, candidate in (
        (root, inside),
        # A link may lead out although its name does not.
        (os.path.realpath(root), os.path.realpath(inside)),
    ):
        if os.path.commonpath((base, candidate)) != base:
            raise RejectedLineError(
                RejectKind.ARTIFACT_PATH, f"{path} lies outside of the run's directory"
            )
    return os.path.relpath(inside, root)
