"""Recipes of bundles: requirements, extras and a Python, and a hash of them."""

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.problems import closest
from mosaic.contract.run_config import BundleConfig, TrainRunConfig
from mosaic.envs.catalog import environment
from mosaic.trainer.bundles.requirement_lines import (
    DeclaredRequirements,
    hashed_lines,
    lines_of_file,
    names_package,
)
from mosaic.trainer.workers.found_worker import FoundWorker
from mosaic.trainer.workers.interpreters import Interpreter
from mosaic.trainer.workers.source_files import HASH_LENGTH
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

CHECKOUT_REQUIREMENTS = Path(mosaic.__file__).parents[2] / "requirements"
"""The requirements of the workers in a checkout."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class BundleRecipe:
    """Everything that determines the content of an environment."""

    name: str
    extras: tuple[str, ...]
    available_extras: tuple[str, ...]
    lines: tuple[str, ...]
    folder: Path
    """Relative paths in the lines start here."""
    interpreter: Interpreter
    worker: FoundWorker | None = None
    """The worker that has these requirements, if they are its own."""

    @cached_property
    def hash(self) -> str:
        parts = [self.interpreter.kind, *self.extras, "", *hashed_lines(self.lines)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:HASH_LENGTH]

    @property
    def key(self) -> str:
        """The name of its folder, which runs record."""
        return f"{self.name}-{self.hash}"

    @property
    def packages(self) -> int:
        """Number of packages it lists; their dependencies are not counted."""
        return sum(map(names_package, self.lines))


@dataclass(frozen=True)
class _RequirementSource:
    """The source of a bundle's requirements and those of its extras."""

    folder: Path
    extras: tuple[str, ...]
    lines: Callable[[str, Interpreter], tuple[str, ...]]
    """The lines of one extra; of the bundle itself for an empty name."""


class RecipeFinder:
    """Finds the recipe of a bundle. Thread-safe; reads the small files every time."""

    def __init__(self, catalog: WorkerCatalog, requirements: Path) -> None:
        self._catalog = catalog
        self._requirements = requirements

    def for_worker(
        self, worker: FoundWorker, bundle: BundleConfig | None, script: str | None = None
    ) -> BundleRecipe | None:
        """The recipe for a run of the worker or of a script; None: no packages needed.

        Raises `UserError`.
        """
        name = worker.manifest.bundle_for(bundle, script)
        if name is None and bundle and bundle.extras:
            raise _unknown_extra(f"of {worker.worker_id}", bundle.extras[0], ())
        if name is None:
            return None
        return self._recipe(name, bundle.extras if bundle else (), worker)

    def named(self, name: str, extras: Sequence[str]) -> list[BundleRecipe]:
        """The recipes of that bundle, one for each variant of its workers. Raises `UserError`."""
        workers: Sequence[FoundWorker | None] = self.workers_by_bundle().get(name) or [None]
        recipes = [self._recipe(name, extras, worker) for worker in workers]
        return list({recipe.key: recipe for recipe in recipes}.values())

    def with_extras(self, recipe: BundleRecipe, extras: Sequence[str]) -> str | None:
        """The key of the same bundle with these extras; None if it does not have them now."""
        if not set(extras) <= set(recipe.available_extras):
            return None
        return self._recipe(recipe.name, extras, recipe.worker).key

    def workers_by_bundle(self) -> dict[str, list[FoundWorker]]:
        """All bundles that workers name."""
        bundles: dict[str, list[FoundWorker]] = {}
        for worker in self._catalog.scan():
            if isinstance(worker, FoundWorker):
                for name in worker.manifest.bundles:
                    bundles.setdefault(name, []).append(worker)
        return bundles

    def _recipe(self, name: str, extras: Sequence[str], worker: FoundWorker | None) -> BundleRecipe:
        source = self._find_source(name, worker)
        chosen = tuple(sorted(set(extras)))
        for extra in chosen:
            if extra not in source.extras:
                raise _unknown_extra(name, extra, source.extras)
        interpreters = self._catalog.interpreters
        interpreter = interpreters.find(worker.manifest) if worker else interpreters.own()
        needs = (source.lines(extra, interpreter) for extra in ("", *chosen))
        return BundleRecipe(
            name=name,
            extras=chosen,
            available_extras=source.extras,
            lines=tuple(dict.fromkeys(line for lines in needs for line in lines)),
            folder=source.folder,
            interpreter=interpreter,
            worker=worker,
        )

    def _find_source(self, name: str, worker: FoundWorker | None) -> _RequirementSource:
        """Files beside the worker, else in the checkout, else its package's metadata."""
        if _NAME.fullmatch(name) is None:
            raise self._unknown(name)
        own = worker if worker and worker.manifest.bundle == name else None
        if (
            worker
            and name in worker.manifest.bundles
            and (worker.location / f"{name}.txt").is_file()
        ):
            return _source_in_files(worker.location, name)
        if own and (own.location / "requirements.txt").is_file():
            return _source_in_files(own.location, "requirements")
        if (self._requirements / f"{name}.txt").is_file():
            return _source_in_files(self._requirements, name)
        if own and own.declaration:
            declared = DeclaredRequirements(own.declaration)
            return _RequirementSource(
                own.location,
                declared.extras,
                lambda extra, interpreter: declared.lines(interpreter, extra),
            )
        if own:
            return _RequirementSource(own.location, (), lambda _extra, _interpreter: ())
        raise self._unknown(name)

    def _unknown(self, name: str) -> UserError:
        known = sorted(self.workers_by_bundle())
        closest_name = closest(name, known)
        hint = f"Did you mean {closest_name}? " if closest_name else ""
        return UserError(
            f"There is no bundle '{name[:100]}'.",
            remedy=f"{hint}Bundles here: {', '.join(known) or 'none'}.",
            code="T320",
        )


def _source_in_files(folder: Path, stem: str) -> _RequirementSource:
    names = (path.name.removeprefix(f"{stem}.") for path in folder.glob(f"{stem}.*.txt"))
    return _RequirementSource(
        folder,
        tuple(sorted(name.removesuffix(".txt") for name in names)),
        lambda extra, _interpreter: lines_of_file(
            folder / (f"{stem}.{extra}.txt" if extra else f"{stem}.txt")
        ),
    )


def _unknown_extra(name: str, extra: str, available: Sequence[str]) -> UserError:
    return UserError(
        f"The bundle {name} has no extra '{extra[:100]}'.",
        remedy=f"Its extras: {', '.join(available) or 'none'}.",
        code="T321",
    )


def add_needed_extras(config: TrainRunConfig, available: Collection[str]) -> TrainRunConfig:
    """`config` with every extra that it needs and its bundle has, so that users need not list them.

    The family of the environment, videos, W&B and the hub are extras of bundles that have them.
    Extras in the configuration are never removed.
    """
    bundle = config.bundle or BundleConfig()
    extras = tuple(sorted({*bundle.extras, *(_needed(config) & set(available))}))
    if extras == tuple(sorted(bundle.extras)):
        return config
    return msgspec.structs.replace(config, bundle=msgspec.structs.replace(bundle, extras=extras))


def _needed(config: TrainRunConfig) -> set[str]:
    artifacts, params = config.artifacts, config.params
    needs = {
        environment(config.env_id).family: True,
        "wandb": artifacts.wandb.enabled or bool(params.get("track")),
        "video": artifacts.video.enabled or bool(params.get("capture_video")),
        "hub": bool(params.get("upload_model")),
    }
    return {extra for extra, is_needed in needs.items() if is_needed}
