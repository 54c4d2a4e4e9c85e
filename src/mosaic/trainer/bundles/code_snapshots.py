"""Copies of workers' code, one per content, so that a run keeps the code it was started with.

`worker_code/<worker>-<hash>/` holds the worker's packages and the SDK, as they are on the import
path. Editing a worker never changes a run or an old replay, and never reinstalls its packages.
"""

import errno
import logging
import os
import secrets
import shutil
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.trainer.workers.found_worker import FoundWorker, SourceTree, sdk_sources
from mosaic.trainer.workers.source_files import SourceDigests, list_source_files

_ATTEMPTS = 5
_MIN_AGE_S = 3600.0
"""A copy in use may not have been recorded on its run yet."""
_UNFINISHED = ".copying-"
_DOOMED = ".removing-"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CodeSnapshot:
    """A complete copy."""

    path: Path
    hash: str


class CodeSnapshots:
    """Creates and verifies the copies. Thread-safe, also across processes."""

    def __init__(self, home: Home, digests: SourceDigests) -> None:
        self._folder = home.worker_code
        self._digests = digests

    def get(self, worker: FoundWorker) -> CodeSnapshot:
        """The copy of the worker's current code; created unless it exists."""
        return self._get(worker.worker_id, _trees(worker))

    def get_sdk(self) -> CodeSnapshot:
        """The copy of the SDK alone, for helper processes in a bundle."""
        sdk = sdk_sources()
        return self._get(sdk.name, (sdk,))

    def _get(self, name: str, trees: Sequence[SourceTree]) -> CodeSnapshot:
        for _ in range(_ATTEMPTS):
            digest = self._digests.digest(trees)
            path = self._folder / f"{name}-{digest}"
            if self._is_complete(path, trees, digest) or self._make(path, trees, digest):
                _touch(path)
                return CodeSnapshot(path, digest)
        raise UserError(
            f"The code of {name} keeps changing while it is copied.",
            remedy="Wait until no program writes to its files, and try again.",
            code="T327",
        )

    def clean(self, needed: Collection[str], workers: Sequence[FoundWorker]) -> None:
        """Remove copies that neither a run nor a current worker needs, and unfinished ones."""
        needed_names = {Path(name).name for name in needed} | self._current(workers)
        for path in self._folder.glob("*"):
            is_unfinished = path.name.startswith((_UNFINISHED, _DOOMED))
            if path.name not in needed_names and (is_unfinished or not path.name.startswith(".")):
                self._remove_if_old(path)

    def _current(self, workers: Sequence[FoundWorker]) -> set[str]:
        current = set()
        for worker in workers:
            try:
                current.add(f"{worker.worker_id}-{self._digests.digest(_trees(worker))}")
            except UserError as error:
                _log.warning("T331 the code of %s cannot be read: %s", worker.worker_id, error)
        return current

    def _is_complete(self, path: Path, trees: Sequence[SourceTree], digest: str) -> bool:
        copied = _copied_trees(path, trees)
        if not all(tree.path.exists() for tree in copied):
            return False
        try:
            return self._digests.digest(copied) == digest
        except UserError:
            return False  # it is being removed

    def _make(self, path: Path, trees: Sequence[SourceTree], digest: str) -> bool:
        """False when the sources changed in the meantime."""
        temporary = self._folder / f"{_UNFINISHED}{path.name}-{secrets.token_hex(4)}"
        try:
            for file in list_source_files(trees):
                target = temporary / file.name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.path, target)
            copied = _copied_trees(temporary, trees)
            is_same = self._digests.digest(copied) == digest
            self._digests.forget(copied)
            if is_same:
                self._put_in_place(temporary, path, trees, digest)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise UserError(
                f"The code of a worker cannot be copied to {path}: {error.strerror}.",
                remedy="Check that the home is writable and has free space.",
                code="T336",
            ) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return is_same

    def _put_in_place(
        self, temporary: Path, path: Path, trees: Sequence[SourceTree], digest: str
    ) -> None:
        try:
            temporary.rename(path)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
            if self._is_complete(path, trees, digest):
                return  # another process was faster
            _log.warning(
                "T332 the copy of a worker's code in %s was damaged: copying it again", path
            )
            path.rename(self._removal_path(path))
            temporary.rename(path)

    def _remove_if_old(self, path: Path) -> None:
        try:
            if time.time() - path.stat().st_mtime < _MIN_AGE_S:
                return
            doomed = (
                path if path.name.startswith(_DOOMED) else path.rename(self._removal_path(path))
            )
        except OSError:
            return  # another process removes it
        shutil.rmtree(doomed, ignore_errors=True)

    def _removal_path(self, path: Path) -> Path:
        return path.with_name(f"{_DOOMED}{path.name}-{secrets.token_hex(4)}")


def _trees(worker: FoundWorker) -> tuple[SourceTree, ...]:
    sdk = sdk_sources()
    own = (tree for tree in worker.sources if tree.name != sdk.name)
    return (*own, sdk)


def _copied_trees(folder: Path, trees: Sequence[SourceTree]) -> tuple[SourceTree, ...]:
    return tuple(SourceTree(tree.name, folder / tree.name) for tree in trees)


def _touch(path: Path) -> None:
    try:
        os.utime(path)
    except OSError as error:
        _log.warning("T333 %s cannot be marked as used: %s", path, error)
