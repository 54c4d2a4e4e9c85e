"""Which environment a worker needs: requirements, extras and a Python, and one hash over them."""

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
    Declared,
    asks_for_package,
    hashed_lines,
    lines_of_file,
)
from mosaic.trainer.workers.found_worker import FoundWorker
from mosaic.trainer.workers.interpreters import Interpreter
from mosaic.trainer.workers.source_files import HASH_LETTERS
from mosaic.trainer.workers.worker_catalog import WorkerCatalog

CHECKOUT_REQUIREMENTS = Path(mosaic.__file__).parents[2] / "requirements"
"""The requirements of the workers that come with a checkout."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True)
class BundleRecipe:
    """All that decides what an environment holds."""

    name: str
    extras: tuple[str, ...]
    available_extras: tuple[str, ...]
    lines: tuple[str, ...]
    folder: Path
    """What is written as a relative path in the lines starts here."""
    interpreter: Interpreter
    worker: FoundWorker | None = None
    """Whose requirements these are, where they are its own."""

    @cached_property
    def hash(self) -> str:
        parts = [self.interpreter.kind, *self.extras, "", *hashed_lines(self.lines)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:HASH_LETTERS]

    @property
    def key(self) -> str:
        """The name of its folder, and by what runs record it."""
        return f"{self.name}-{self.hash}"

    @property
    def packages(self) -> int:
        """How many packages it asks for; those that they need may come on top."""
        return sum(map(asks_for_package, self.lines))


@dataclass(frozen=True)
class _Ingredients:
    """Where the requirements of a bundle are written, with those of its extras."""

    folder: Path
    extras: tuple[str, ...]
    lines: Callable[[str, Interpreter], tuple[str, ...]]
    """Of one extra; of the bundle itself for the empty text."""


class RecipeBook:
    """Finds the recipe of a bundle. Thread-safe; reads the files every time, they are small."""

    def __init__(self, catalog: WorkerCatalog, requirements: Path) -> None:
        self._catalog = catalog
        self._requirements = requirements

    def for_worker(
        self, worker: FoundWorker, bundle: BundleConfig | None, script: str | None = None
    ) -> BundleRecipe | None:
        """What a run of the worker needs, of its own or of a script; None: no environment.

        Raises `UserError`.
        """
        name = worker.manifest.bundle_for(bundle, script)
        if name is None and bundle and bundle.extras:
            raise _unknown_extra(f"of {worker.worker_id}", bundle.extras[0], ())
        if name is None:
            return None
        return self._recipe(name, bundle.extras if bundle else (), worker)

    def named(self, name: str, extras: Sequence[str]) -> list[BundleRecipe]:
        """The bundle of that name, in every form that its workers need. Raises `UserError`."""
        workers: Sequence[FoundWorker | None] = self.workers_by_bundle().get(name) or [None]
        recipes = [self._recipe(name, extras, worker) for worker in workers]
        return list({recipe.key: recipe for recipe in recipes}.values())

    def with_extras(self, recipe: BundleRecipe, extras: Sequence[str]) -> str | None:
        """The key of the same bundle with these extras; None when it has no such extras now."""
        if not set(extras) <= set(recipe.available_extras):
            return None
        return self._recipe(recipe.name, extras, recipe.worker).key

    def workers_by_bundle(self) -> dict[str, list[FoundWorker]]:
        """Every bundle that some worker names."""
        bundles: dict[str, list[FoundWorker]] = {}
        for worker in self._catalog.scan():
            if isinstance(worker, FoundWorker):
                for name in worker.manifest.bundles:
                    bundles.setdefault(name, []).append(worker)
        return bundles

    def _recipe(self, name: str, extras: Sequence[str], worker: FoundWorker | None) -> BundleRecipe:
        ingredients = self._ingredients(name, worker)
        chosen = tuple(sorted(set(extras)))
        for extra in chosen:
            if extra not in ingredients.extras:
                raise _unknown_extra(name, extra, ingredients.extras)
        interpreters = self._catalog.interpreters
        interpreter = interpreters.find(worker.manifest) if worker else interpreters.own()
        wanted = (ingredients.lines(extra, interpreter) for extra in ("", *chosen))
        return BundleRecipe(
            name=name,
            extras=chosen,
            available_extras=ingredients.extras,
            lines=tuple(dict.fromkeys(line for lines in wanted for line in lines)),
            folder=ingredients.folder,
            interpreter=interpreter,
            worker=worker,
        )

    def _ingredients(self, name: str, worker: FoundWorker | None) -> _Ingredients:
        """Beside the worker, then in the checkout, then what its package declares, then nothing."""
        if _NAME.fullmatch(name) is None:
            raise self._unknown(name)
        own = worker if worker and worker.manifest.bundle == name else None
        if (
            worker
            and name in worker.manifest.bundles
            and (worker.location / f"{name}.txt").is_file()
        ):
            return _in_files(worker.location, name)
        if own and (own.location / "requirements.txt").is_file():
            return _in_files(own.location, "requirements")
        if (self._requirements / f"{name}.txt").is_file():
            return _in_files(self._requirements, name)
        if own and own.declaration:
            declared = Declared(own.declaration)
            return _Ingredients(
                own.location,
                declared.extras,
                lambda extra, interpreter: declared.lines(interpreter, extra),
            )
        if own:
            return _Ingredients(own.location, (), lambda _extra, _interpreter: ())
        raise self._unknown(name)

    def _unknown(self, name: str) -> UserError:
        known = sorted(self.workers_by_bundle())
        meant = closest(name, known)
        hint = f"Did you mean {meant}? " if meant else ""
        return UserError(
            f"There is no bundle '{name[:100]}'.",
            remedy=f"{hint}Bundles here: {', '.join(known) or 'none'}.",
            code="T320",
        )


def _in_files(folder: Path, stem: str) -> _Ingredients:
    found = (path.name.removeprefix(f"{stem}.") for path in folder.glob(f"{stem}.*.txt"))
    return _Ingredients(
        folder,
        tuple(sorted(name.removesuffix(".txt") for name in found)),
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
    """`config`, whose bundle names every extra that it needs and the bundle has."""
    asked = config.bundle or BundleConfig()
    extras = tuple(sorted({*asked.extras, *(_needed(config) & set(available))}))
    if extras == tuple(sorted(asked.extras)):
        return config
    return msgspec.structs.replace(config, bundle=msgspec.structs.replace(asked, extras=extras))


def _needed(config: TrainRunConfig) -> set[str]:
    artifacts, params = config.artifacts, config.params
    wanted = {
        environment(config.env_id).family: True,
        "wandb": artifacts.wandb.enabled or bool(params.get("track")),
        "video": artifacts.video.enabled or bool(params.get("capture_video")),
        "hub": bool(params.get("upload_model")),
    }
    return {extra for extra, is_wanted in wanted.items() if is_wanted}
