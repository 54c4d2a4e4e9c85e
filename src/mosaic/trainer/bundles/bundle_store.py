"""BundleStore: provides a worker's virtual environment and code before a run starts.

A virtual environment has third-party packages only and never changes once it is ready; new
requirements create a new one beside it, and the old one stays while runs need it.
All methods block, and may be called from any thread and from several processes at once.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo, InstallProgress
from mosaic.contract.run_config import BundleConfig
from mosaic.contract.runs import BundleUse
from mosaic.trainer.bundles.bundle_listing import BundleListing
from mosaic.trainer.bundles.bundle_recipe import (
    CHECKOUT_REQUIREMENTS,
    BundleRecipe,
    RecipeFinder,
)
from mosaic.trainer.bundles.code_snapshots import CodeSnapshots
from mosaic.trainer.bundles.errors import environment_failed
from mosaic.trainer.bundles.install_lock import OnProgress, hold_if_free, hold_lock
from mosaic.trainer.bundles.virtual_env_builder import build_virtual_env
from mosaic.trainer.bundles.virtual_envs import VirtualEnv, VirtualEnvs
from mosaic.trainer.workers.found_worker import FoundWorker
from mosaic.trainer.workers.worker_catalog import WorkerCatalog


@dataclass(frozen=True, slots=True)
class PreparedWorker:
    """A worker that is ready to start: interpreter, packages, and a copy of its code."""

    python: Path
    module: str
    code: Path
    use: BundleUse
    shared_folders: tuple[Path, ...] = ()
    """Additional folders to import from: MOSAIC's own, for a worker that uses the client."""

    def command(self, config: Path) -> tuple[str, ...]:
        """The command that starts the worker; no shell, and no script with a shebang."""
        return (str(self.python), "-m", self.module, "--config", str(config))

    def environment(self, own_folders: Sequence[str] = ()) -> dict[str, str]:
        """The worker's own environment variables.

        `own_folders` are a run's `python_path`, and come after the worker's code.
        """
        folders = (str(self.code), *map(str, self.shared_folders), *own_folders)
        return {"PYTHONPATH": os.pathsep.join(folders)}


_OUTDATED_AGE_S = 7 * 24 * 3600.0
"""An environment of older requirements may be needed again, after switching back."""
_OWN_SOURCES = Path(mosaic.__file__).parents[1]
"""On the import path of workers that use the client."""

_log = logging.getLogger(__name__)


class BundleRemovalResult(NamedTuple):
    """The result of a removal."""

    freed_bytes: int
    removed: tuple[str, ...]
    not_removed: tuple[str, ...]
    """Each with its reason."""


def _ignore(_progress: InstallProgress) -> None:
    """For callers without a progress callback."""


class BundleStore:
    """The virtual environments and code copies of one home."""

    def __init__(
        self, home: Home, catalog: WorkerCatalog, *, requirements: Path = CHECKOUT_REQUIREMENTS
    ) -> None:
        self._home = home
        self._catalog = catalog
        self._recipes = RecipeFinder(catalog, requirements)
        self._environments = VirtualEnvs(home)
        self._snapshots = CodeSnapshots(home, catalog.digests)
        self._listing = BundleListing(home, self._recipes, self._environments)

    def prepare(
        self,
        worker_id: str,
        bundle: BundleConfig | None,
        script: str | None = None,
        *,
        on_progress: OnProgress = _ignore,
        cancelled: threading.Event | None = None,
    ) -> PreparedWorker:
        """Prepare the worker; installs and copies what is missing.

        `bundle` and `script` are the run's; a script may have its own environment.

        Raises `UserError`, also when `cancelled` is set.
        """
        worker = self._catalog.find(worker_id)
        recipe = self._recipes.for_worker(worker, bundle, script)
        if recipe is None:
            return self._prepared(worker, None)
        cancelled = cancelled or threading.Event()
        return self._prepared(worker, self._ensure(recipe, False, on_progress, cancelled))

    def lookup(
        self, worker_id: str, bundle: BundleConfig | None, script: str | None = None
    ) -> PreparedWorker | None:
        """Like `prepare`, but None if something has to be installed. Takes milliseconds."""
        worker = self._catalog.find(worker_id)
        recipe = self._recipes.for_worker(worker, bundle, script)
        if recipe is None:
            return self._prepared(worker, None)
        environment = self._usable(recipe)
        return None if environment is None else self._prepared(worker, environment)

    def recorded_python(self, use: BundleUse) -> Path | None:
        """The Python of the environment that a run recorded; None when it is missing or broken."""
        key = f"{use.name}-{use.hash}"
        # Only existing keys: the record is not trusted.
        environment = (
            self._environments.usable(key) if key in self._environments.all_keys() else None
        )
        if environment is None:
            return None
        self._environments.touch(environment)
        return environment.python

    def sdk_copy(self) -> Path:
        """A folder with a copy of the current worker SDK only."""
        return self._snapshots.get_sdk().path

    def available_extras(
        self, worker_id: str, bundle: BundleConfig | None, script: str | None = None
    ) -> tuple[str, ...]:
        """The extras of the bundle of such a run; empty without a bundle."""
        try:
            recipe = self._recipes.for_worker(self._catalog.find(worker_id), bundle, script)
        except UserError:
            return ()  # reported when the run is validated
        return () if recipe is None else recipe.available_extras

    def is_ready(self, worker_id: str, script: str | None = None) -> bool:
        """Whether a run of the worker, or of a script, could start without installing anything."""
        recipe = self._recipes.for_worker(self._catalog.find(worker_id), None, script)
        return recipe is None or self._usable(recipe) is not None

    def install(
        self,
        name: str,
        extras: Sequence[str] = (),
        *,
        repair: bool = False,
        on_progress: OnProgress = _ignore,
        cancelled: threading.Event | None = None,
    ) -> BundleInfo:
        """Install the bundle if it is missing; `repair` reinstalls it in any case."""
        cancelled = cancelled or threading.Event()
        environments = [
            self._ensure(recipe, repair, on_progress, cancelled)
            for recipe in self._recipes.named(name, extras)
        ]
        info = self._listing.info(environments[0], {})
        on_progress(InstallProgress(phase="done", message=f"{name} is installed.", bundle=info))
        return info

    def list(self, uses: Mapping[str, int]) -> list[BundleInfo]:
        """All bundles that workers name, installed or not, and all others that are installed."""
        return self._listing.all(uses)

    def remove(self, name: str, hash: str, uses: Mapping[str, int]) -> BundleRemovalResult:  # noqa: A002 - the field's name in the contract
        """Remove one environment of the bundle, or without a hash all that no run needs."""
        keys = [
            key
            for key in self._environments.all_keys()
            if key.rpartition("-")[0] == name and hash in ("", key.rpartition("-")[2])
        ]
        if not keys:
            raise UserError(
                f"No environment '{'-'.join(filter(None, (name, hash)))}' is installed.",
                remedy="`mosaic bundles list` shows the installed ones.",
                code="T338",
            )
        freed, removed, not_removed = 0, [], []
        for key in keys:
            reason = self._reason_to_keep(key, uses)
            environment = self._environments.read(key)
            if not reason and not self._try_remove(key):
                reason = "it is being installed"
            if reason:
                not_removed.append(f"{key}: {reason}")
            else:
                removed.append(key)
                freed += environment.record.size_bytes if environment else 0
        return BundleRemovalResult(freed, tuple(removed), tuple(not_removed))

    def clean(self, uses: Mapping[str, int], code_uses: Collection[str]) -> None:
        """Remove interrupted installations, and what neither a run nor a worker needs."""
        for key in self._environments.leftovers():
            lock = self._environments.lock_path(key)
            with hold_if_free(lock) as is_ours:
                if is_ours:
                    _log.info("T329 bundle %s: removing an interrupted installation", key)
                    self._environments.recover(key)
                    lock.unlink(missing_ok=True)
        for environment in self._listing.outdated():
            unused_s = time.time() - self._environments.last_used(environment)
            if unused_s > _OUTDATED_AGE_S and not uses.get(environment.key):
                _log.info("T334 bundle %s is outdated and not needed: removing it", environment.key)
                self._try_remove(environment.key)
        workers = [worker for worker in self._catalog.scan() if isinstance(worker, FoundWorker)]
        self._snapshots.clean(code_uses, workers)

    def _ensure(
        self,
        recipe: BundleRecipe,
        repair: bool,
        on_progress: OnProgress,
        cancelled: threading.Event,
    ) -> VirtualEnv:
        key = recipe.key
        environment = None if repair else self._usable(recipe)
        if environment is not None:
            return environment
        try:
            self._home.venvs.mkdir(parents=True, exist_ok=True, mode=0o700)
            with hold_lock(self._environments.lock_path(key), on_progress, cancelled) as lock:
                environment = self._environments.usable(key)
                if environment is not None and (not repair or lock.had_to_wait):
                    return environment
                return build_virtual_env(
                    recipe, self._environments, self._home, lock, on_progress, cancelled
                )
        except OSError as error:
            raise environment_failed(recipe.name, error) from error

    def _usable(self, recipe: BundleRecipe) -> VirtualEnv | None:
        """The environment of this recipe, or one with additional extras."""
        exact = self._environments.usable(recipe.key)
        if exact is not None:
            return exact
        for key in self._environments.all_keys():
            candidate = self._environments.read(key)
            if candidate is None or candidate.record.name != recipe.name:
                continue
            extras = candidate.record.extras
            is_larger = set(extras) > set(recipe.extras)
            if is_larger and self._recipes.with_extras(recipe, extras) == candidate.key:
                usable = self._environments.usable(candidate.key)
                if usable is not None:
                    return usable
        return None

    def _prepared(self, worker: FoundWorker, environment: VirtualEnv | None) -> PreparedWorker:
        snapshot = self._snapshots.get(worker)
        code_path = self._home.relative(snapshot.path)
        module = worker.manifest.module
        shared = (_OWN_SOURCES,) if worker.manifest.uses_client else ()
        if environment is None:
            interpreter = self._catalog.interpreters.find(worker.manifest)
            is_own = interpreter == self._catalog.interpreters.own()
            use = BundleUse(
                name="",
                hash="",
                path="",
                python=interpreter.version_text,
                code_path=code_path,
                code_hash=snapshot.hash,
            )
            python = Path(sys.executable if is_own else interpreter.path)
            return PreparedWorker(python, module, snapshot.path, use, shared)
        self._environments.touch(environment)
        record = environment.record
        use = BundleUse(
            name=record.name,
            hash=record.hash,
            path=self._home.relative(environment.path),
            python=record.python,
            extras=record.extras,
            packages=record.packages,
            code_path=code_path,
            code_hash=snapshot.hash,
        )
        return PreparedWorker(environment.python, module, snapshot.path, use, shared)

    def _reason_to_keep(self, key: str, uses: Mapping[str, int]) -> str:
        runs = uses.get(key, 0)
        return f"{runs} {'run needs' if runs == 1 else 'runs need'} it" if runs else ""

    def _try_remove(self, key: str) -> bool:
        """False while it is being installed."""
        lock = self._environments.lock_path(key)
        with hold_if_free(lock) as is_ours:
            if is_ours and self._environments.path(key).exists():
                self._environments.remove(key)
            if is_ours:
                lock.unlink(missing_ok=True)
            return is_ours
