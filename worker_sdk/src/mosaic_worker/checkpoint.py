"""save_checkpoint: writes a checkpoint atomically and emits its `artifact` line."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.emitter import Emitter

    Content = Union[bytes, Callable[[Path], Any]]

FOLDER = "checkpoints"


def save_checkpoint(
    emitter: Emitter,
    run_directory: Path,
    name: str,
    content: Content,
    *,
    step: int,
    metrics: Mapping[str, float] | None = None,
    **meta: Any,
) -> Path:
    """Write `checkpoints/<name>` in the run directory, emit its `artifact` line, return its path.

    `content` is bytes, or a function that writes them to the path it receives, for example
    `lambda path: torch.save(model.state_dict(), path)`. An existing file is replaced.
    """
    if not name or name != Path(name).name or name.startswith("."):
        raise WorkerError(
            f"'{name}' is not a valid checkpoint name.",
            remedy="Use a file name such as 'policy-1000.json', without a folder.",
        )
    folder = run_directory / FOLDER
    path = folder / name
    partial = folder / f".partial-{name}"  # same suffix, because some writers depend on it
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if isinstance(content, bytes):
            partial.write_bytes(content)
        else:
            content(partial)
        size, digest = _sync_and_hash(partial)
        partial.replace(path)
    except BaseException:
        if partial.exists():
            partial.unlink()
        raise
    _sync_folder(folder)
    emitter.artifact(
        "checkpoint",
        f"{FOLDER}/{name}",
        meta={
            "step": step,
            "metrics": dict(metrics or {}),
            "sha256": digest,
            "bytes": size,
            **meta,
        },
    )
    return path


def _sync_and_hash(path: Path) -> tuple[int, str]:
    """fsync the file; returns its size and SHA-256."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
            size += len(block)
        os.fsync(file.fileno())
    return size, digest.hexdigest()


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
