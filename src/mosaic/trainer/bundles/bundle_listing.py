"""The list of bundles as clients see it."""

from collections.abc import Mapping, Sequence

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.readiness import BundleInfo
from mosaic.trainer.bundles.bundle_recipe import BundleRecipe, RecipeFinder
from mosaic.trainer.bundles.install_lock import is_held
from mosaic.trainer.bundles.virtual_envs import VirtualEnv, VirtualEnvs

_INSTALL_AGAIN = "Install it again: `mosaic bundles install {name}`."


class BundleListing:
    """Compares what is installed with what the workers need now."""

    def __init__(self, home: Home, recipes: RecipeFinder, environments: VirtualEnvs) -> None:
        self._home = home
        self._recipes = recipes
        self._environments = environments

    def all(self, uses: Mapping[str, int]) -> list[BundleInfo]:
        """By name, the current one first."""
        workers = self._recipes.workers_by_bundle()
        infos = []
        for key in self._environments.all_keys():
            environment = self._environments.read(key)
            if environment is not None:
                infos.append(self.info(environment, uses))
            else:
                infos.append(self._unfinished(key, uses))
        listed = {(info.name, info.hash) for info in infos}
        missing = (info for name in workers for info in self._needed(name))
        with_more_extras = {(info.name, info.python) for info in infos if info.state == "ready"}
        infos += [
            info
            for info in missing
            if (info.name, info.hash) not in listed
            and (info.name, info.python) not in with_more_extras
        ]
        with_workers = [
            msgspec.structs.replace(
                info, workers=tuple(worker.worker_id for worker in workers.get(info.name, ()))
            )
            for info in infos
        ]
        return sorted(
            with_workers, key=lambda info: (info.name, info.state == "outdated", info.extras)
        )

    def info(self, environment: VirtualEnv, uses: Mapping[str, int]) -> BundleInfo:
        """The state of a complete environment."""
        record = environment.record
        recipes = self._current(record.name, record.extras)
        problem = self._environments.problem(environment)
        is_current = any(recipe.hash == record.hash for recipe in recipes)
        info = BundleInfo(
            name=record.name,
            state="ready" if is_current else "outdated",
            hash=record.hash,
            path=self._home.relative(environment.path),
            python=record.python,
            extras=record.extras,
            available_extras=recipes[0].available_extras if recipes else (),
            size_bytes=record.size_bytes,
            packages=len(record.packages),
            runs=uses.get(environment.key, 0),
        )
        if is_held(self._environments.lock_path(environment.key)):
            return msgspec.structs.replace(info, state="installing")
        if problem:
            remedy = _INSTALL_AGAIN.format(name=record.name)
            return msgspec.structs.replace(info, state="broken", problem=problem, remedy=remedy)
        return info

    def outdated(self) -> list[VirtualEnv]:
        """Environments that no worker uses any more."""
        environments = (self._environments.read(key) for key in self._environments.all_keys())
        return [
            environment
            for environment in environments
            if environment and self.info(environment, {}).state == "outdated"
        ]

    def _unfinished(self, key: str, uses: Mapping[str, int]) -> BundleInfo:
        name, _, digest = key.rpartition("-")
        is_installing = is_held(self._environments.lock_path(key))
        return BundleInfo(
            name=name,
            state="installing" if is_installing else "broken",
            hash=digest,
            path=self._home.relative(self._environments.path(key)),
            runs=uses.get(key, 0),
            problem="" if is_installing else "Its installation was interrupted.",
            remedy="" if is_installing else _INSTALL_AGAIN.format(name=name),
        )

    def _needed(self, name: str) -> list[BundleInfo]:
        """What the workers of the bundle need, as if nothing were installed."""
        try:
            recipes = self._recipes.named(name, ())
        except UserError as error:
            return [
                BundleInfo(name=name, state="missing", problem=error.message, remedy=error.remedy)
            ]
        return [
            BundleInfo(
                name=name,
                state="missing",
                hash=recipe.hash,
                python=recipe.interpreter.version_text,
                available_extras=recipe.available_extras,
            )
            for recipe in recipes
        ]

    def _current(self, name: str, extras: Sequence[str]) -> list[BundleRecipe]:
        """What would be installed now under that name; empty when the name is unknown."""
        try:
            return self._recipes.named(name, extras)
        except UserError:
            return []
