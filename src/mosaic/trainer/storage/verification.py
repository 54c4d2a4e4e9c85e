"""Whether a file or folder is what was recorded of it: there, in its place, whole, readable."""

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.layout import RunDirectory
from mosaic.contract.storage import CheckpointReport
from mosaic.trainer.artifacts.inside_run import is_within, open_regular
from mosaic.trainer.artifacts.run_tree import RunTree

_BLOCK_BYTES = 1 << 20


class Expected(NamedTuple):
    """What was recorded; an empty hash is not known."""

    size_bytes: int
    sha256: str


def verify(
    folder: Path, path: str, expected: Expected, is_unwanted: Callable[[], bool]
) -> CheckpointReport:
    """Of `path` in `folder`. Reads all of it, unless `is_unwanted` says that nobody cares."""
    root = os.path.realpath(folder)
    real = os.path.realpath(folder / path)
    if not is_within(root, real):
        return _failed("It is a link that leads out of its folder.")
    try:
        is_folder = stat.S_ISDIR(os.lstat(real).st_mode)
    except OSError:
        return _failed("It is not there any more.")
    try:
        size, sha256 = (_read_folder if is_folder else _read_file)(folder, real, is_unwanted)
    except OSError as error:
        return _failed(f"It cannot be read: {error.strerror or error}.")
    problems = []
    if size != expected.size_bytes:
        problems.append(f"It has {size:,} bytes; {expected.size_bytes:,} are recorded.")
    if sha256 and expected.sha256 and sha256 != expected.sha256.lower():
        problems.append("Its content is not what was written: the SHA-256 differs.")
    return CheckpointReport(
        ok=not problems, problems=tuple(problems), sha256=sha256, size_bytes=size
    )


def _failed(problem: str) -> CheckpointReport:
    return CheckpointReport(ok=False, problems=(problem,))


def _read_file(_: Path, real: str, is_unwanted: Callable[[], bool]) -> tuple[int, str]:
    digest = hashlib.sha256()
    size = 0
    with open(open_regular(real), "rb") as file:  # noqa: PTH123 - opened by descriptor
        while (block := file.read(_BLOCK_BYTES)) and not is_unwanted():
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def _read_folder(folder: Path, real: str, is_unwanted: Callable[[], bool]) -> tuple[int, str]:
    """As large as the artifact scan found it; a folder has no hash of its own."""
    tree = RunTree(RunDirectory(folder))
    inner = os.path.relpath(real, os.path.realpath(folder))
    size = 0
    for file in tree.walk(inner):
        size += _read_file(folder, os.path.realpath(tree.full(file.path)), is_unwanted)[0]
    return size, ""
