"""WorkerCatalog: all workers, in folders and installed distributions.

No code of a worker is imported; only `describe` runs it, in its own process. A broken worker is
listed with the reason and never hides the others. Thread-safe.
"""

import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.problems import closest
from mosaic.contract.worker_manifest import WorkerManifest, read_worker_manifest
from mosaic.trainer.workers.found_worker import BrokenWorker, FoundWorker, WorkerSource, sdk_sources
from mosaic.trainer.workers.installed_workers import InstalledWorkers, raise_if_out_of_files
from mosaic.trainer.workers.interpreters import Interpreters
from mosaic.trainer.workers.source_files import SourceDigests, Stamp, file_stamp
from mosaic.trainer.workers.worker_description import DescriptionCache, decode_answer, run_describe
from mosaic.trainer.workers.worker_layout import (
    CHECKOUT_WORKERS,
    manifests_in,
    worker_in_distribution,
    worker_in_folder,
)

NO_SCRIPTS = "T451"
"""A run has a script, and its worker does not run scripts."""

_FAILURE_CACHE_S = 30.0
"""A worker that hangs is not described again by every listing, but it is retried later."""

_MAX_SCRIPTS = 100

_log = logging.getLogger(__name__)

Scanned = FoundWorker | BrokenWorker


class WorkerCatalog:
    """Finds workers, and caches their descriptors."""

    def __init__(
        self,
        folders: Sequence[Path] = (CHECKOUT_WORKERS,),
        *,
        search_path: Sequence[str] | None = None,
        cache: DescriptionCache | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`search_path`: where distributions are searched, instead of `sys.path`."""
        self.interpreters = Interpreters()
        self.digests = SourceDigests()
        self._folders = tuple(folders)
        self._installed = InstalledWorkers(search_path)
        self._cache = cache
        self._clock = clock
        self._lock = threading.Lock()
        self._manifests: dict[Path, tuple[Stamp | None, WorkerManifest]] = {}
        self._descriptions: dict[str, _CachedDescriptor] = {}
        self._scripts: dict[tuple[str, str], _CachedDescriptor] = {}
        self._shadowed: set[Path] = set()

    def scan(self) -> list[Scanned]:
        """All workers by id, broken ones after usable ones."""
        found: dict[str, FoundWorker] = {}
        broken: list[BrokenWorker] = []
        for candidate in (*self._in_folders(), *self._in_distributions()):
            first = None if isinstance(candidate, BrokenWorker) else found.get(candidate.worker_id)
            if isinstance(candidate, BrokenWorker):
                broken.append(candidate)
            elif first is None:
                found[candidate.worker_id] = candidate
            elif first.location.resolve() == candidate.location.resolve():
                continue  # the same files, installed as editable
            elif first.source == "folder" and candidate.source == "distribution":
                found[candidate.worker_id] = self._shadow(first, candidate)
            else:
                broken.append(_duplicate(first, candidate))
        workers: list[Scanned] = [*found.values(), *broken]
        return sorted(workers, key=lambda worker: worker.worker_id)

    def find(self, worker_id: str) -> FoundWorker:
        """The worker with that id. Raises T130, or T131 when it is broken."""
        workers = [worker for worker in self.scan() if worker.worker_id == worker_id]
        for worker in workers:
            if isinstance(worker, FoundWorker):
                return worker
        for worker in workers:
            if isinstance(worker, BrokenWorker):
                raise UserError(
                    f"The worker {worker_id} in {worker.location} cannot be used. {worker.problem}",
                    remedy=worker.remedy,
                    code="T131",
                )
        raise self._unknown(worker_id)

    def describe(self, worker_id: str, script: str | None = None) -> WorkerDescriptor:
        """The worker's descriptor. Runs its `--describe` once per content of its code.

        With a script, that is its only algorithm; run once per content of the script, too. The
        cache on disk has the answers for code that was described before.
        """
        if script is not None and not self.describe(worker_id).supports.scripts:
            raise UserError(
                f"`script`: {worker_id} does not run scripts.",
                remedy="Omit it, or choose a worker that runs scripts.",
                code=NO_SCRIPTS,
            )
        worker = self.find(worker_id)
        sdk = sdk_sources()
        interpreter = self.interpreters.find(worker.manifest)
        content = self.digests.digest((*worker.sources, sdk))
        stamp = None if script is None else file_stamp(script)
        key = f"{worker.manifest.module} {content} {interpreter.path} {stamp}"

        def load() -> WorkerDescriptor:
            # Includes the path of a script: two scripts have two answers.
            stored_key = f"{worker_id} {key} {interpreter.version_text} {script}"
            stored = self._cache.read(stored_key) if self._cache else None
            if stored is not None:
                with suppress(UserError):  # damaged, for example by a full disk
                    return decode_answer(worker, stored)
            answer = run_describe(worker, sdk, interpreter, script=script)
            descriptor = decode_answer(worker, answer)
            if self._cache:
                self._cache.write(stored_key, answer)
            return descriptor

        return self._cached_descriptor(worker_id, script).get(key, self._clock, load)

    def _cached_descriptor(self, worker_id: str, script: str | None) -> "_CachedDescriptor":
        with self._lock:
            if script is None:
                return self._descriptions.setdefault(worker_id, _CachedDescriptor())
            key_of_script = (worker_id, script)
            description = self._scripts.pop(key_of_script, None) or _CachedDescriptor()
            self._scripts[key_of_script] = description  # the newest last
            if len(self._scripts) > _MAX_SCRIPTS:
                del self._scripts[next(iter(self._scripts))]
            return description

    def _in_folders(self) -> Iterator[Scanned]:
        for path in manifests_in(self._folders):
            yield self._read(path, "folder", partial(worker_in_folder, location=path.parent))

    def _in_distributions(self) -> Iterator[Scanned]:
        for installed in self._installed.manifests():
            locate = partial(worker_in_distribution, installed=installed)
            yield self._read(installed.path, "distribution", locate)

    def _read(
        self, path: Path, source: WorkerSource, locate: Callable[[WorkerManifest], FoundWorker]
    ) -> Scanned:
        worker_id = path.parent.name
        try:
            manifest = self._manifest(path)
            worker_id = manifest.id
            return locate(manifest)
        except UserError as error:
            return BrokenWorker(worker_id, path.parent, source, error.message, error.remedy)
        except OSError as error:
            raise_if_out_of_files(error)
            remedy = "Make its files readable for the user of the daemon."
            return BrokenWorker(worker_id, path.parent, source, f"{error}.", remedy)

    def _manifest(self, path: Path) -> WorkerManifest:
        stamp = file_stamp(path)
        with self._lock:
            known = self._manifests.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        manifest = read_worker_manifest(path)
        with self._lock:
            self._manifests[path] = (stamp, manifest)
        return manifest

    def _shadow(self, folder: FoundWorker, installed: FoundWorker) -> FoundWorker:
        with self._lock:
            is_new = installed.location not in self._shadowed
            self._shadowed.add(installed.location)
        if is_new:
            _log.info(
                "T134 worker %s is in %s and also installed in %s: the folder is used",
                folder.worker_id,
                folder.location,
                installed.location,
            )
        return dataclasses.replace(folder, also_at=(*folder.also_at, installed.location))

    def _unknown(self, worker_id: str) -> UserError:
        known = [worker.worker_id for worker in self.scan()]
        closest_id = closest(worker_id, known)
        hint = f"Did you mean {closest_id}? " if closest_id else ""
        return UserError(
            f"There is no worker '{worker_id}'.",
            remedy=f"{hint}Workers here: {', '.join(known) or 'none'}.",
            code="T130",
        )


def _duplicate(first: FoundWorker, second: FoundWorker) -> BrokenWorker:
    return BrokenWorker(
        second.worker_id,
        second.location,
        second.source,
        f"Its id {second.worker_id} is used by the worker in {first.location}.",
        "Remove one of them, or change the id of this one.",
    )


class _CachedDescriptor:
    """The last descriptor of one worker. Concurrent callers wait, and get the same answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = ""
        self._answer: WorkerDescriptor | UserError | None = None
        self._expires = 0.0

    def get(
        self, key: str, clock: Callable[[], float], load: Callable[[], WorkerDescriptor]
    ) -> WorkerDescriptor:
        with self._lock:
            is_stale = isinstance(self._answer, UserError) and clock() >= self._expires
            if self._answer is None or self._key != key or is_stale:
                self._key = key
                try:
                    self._answer = load()
                except UserError as error:
                    self._answer = error
                    self._expires = clock() + _FAILURE_CACHE_S
            if isinstance(self._answer, UserError):
                raise UserError(
                    self._answer.message, remedy=self._answer.remedy, code=self._answer.code
                )
            return self._answer
