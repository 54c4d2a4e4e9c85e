"""Writes a checkpoint so that it is either whole or not there, and announces it."""

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

    `content` is the bytes, or a function that writes them to the path it is given, for example
    `lambda path: torch.save(model.state_dict(), path)`. A file of that name is replaced.
    """
    if not name or name != Path(name).name or name.startswith("."):
        raise WorkerError(
            f"'{name}' cannot be a checkpoint's name.",
            remedy="Give a plain file name such as 'policy-1000.json', without a folder.",
        )
    folder = run_directory / FOLDER
    path = folder / name
    partial = folder / f".partial-{name}"  # same suffix: some writers look at it
    folder.mkdir(parents=True, exist_ok=True)
    try:
        if isinstance(content, bytes):
            partial.write_bytes(content)
        else:
            content(partial)
        size, digest = _settle(partial)
        partial.replace(path)
    except BaseException:
        if partial.exists():
            partial.unlink()
        raise
    _sync(folder)
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


def _settle(path: Path) -> tuple[int, str]:
    """Force the file to disk; its size and hash."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
            size += len(block)
        os.fsync(file.fileno())
    return size, digest.hexdigest()


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
