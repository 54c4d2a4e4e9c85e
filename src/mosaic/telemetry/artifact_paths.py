"""Where an artifact may lie: inside its run's directory, and nowhere else."""

import os
from pathlib import Path

from mosaic.contract.decode import RejectedLineError, RejectKind


def relative_artifact_path(run_directory: Path, path: str) -> str:
    """`path` relative to the run's directory; one that leads out is a `RejectedLineError`."""
    if "\0" in path:
        raise RejectedLineError(RejectKind.ARTIFACT_PATH, "the path holds a NUL byte")
    root = os.path.realpath(run_directory)
    inside = os.path.normpath(run_directory / path)
    for base, candidate in (
        (os.path.normpath(run_directory), inside),
        (root, os.path.realpath(inside)),  # a link may lead out although its name does not
    ):
        if os.path.commonpath((base, candidate)) != base:
            raise RejectedLineError(
                RejectKind.ARTIFACT_PATH, f"{path} lies outside of the run's directory"
            )
    return os.path.relpath(inside, os.path.normpath(run_directory))
