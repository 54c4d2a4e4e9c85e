"""What the shell is offered for runs, workers, environments, … Needs no daemon.

Nothing here may print or fail: a shell in the middle of a line has no place for it.
"""

import importlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem

from mosaic.cli.formats import short_id
from mosaic.cli.lazy_group import HOME_KEY
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, RunDirectory

_MOST_RUNS = 50


def complete_runs(
    ctx: click.Context,
    _: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """The ends of the newest runs' ids, which is what tables show."""
    with suppress(OSError):
        newest = sorted(_home_of(ctx).runs.iterdir(), reverse=True)[:_MOST_RUNS]
        return [
            CompletionItem(short_id(folder.name), help=_summary(RunDirectory(folder)))
            for folder in newest
            if short_id(folder.name).startswith(incomplete.upper())
        ]
    return []


def complete_workers(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The workers that are found here."""
    return _items(
        ((worker.manifest.id, worker.manifest.label) for worker in _workers(ctx)), incomplete
    )


def complete_environments(
    _ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The environments of the catalog."""
    catalog = importlib.import_module("mosaic.envs.catalog")
    return _items(((entry.env_id, entry.title) for entry in catalog.environments()), incomplete)


def complete_algorithms(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The algorithms of the worker that was named before."""
    algorithms = _algorithms(ctx)
    return _items(((algorithm.id, algorithm.label) for algorithm in algorithms), incomplete)


def complete_settings(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The parameters of the algorithm that was named before, or of all."""
    chosen = ctx.params.get("algo")
    found = {
        f"{parameter.name}=": parameter.help
        for algorithm in _algorithms(ctx)
        if chosen in (None, algorithm.id)
        for parameter in algorithm.parameters
    }
    return _items(found.items(), incomplete)


def complete_bundles(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The bundles that workers name."""
    names = {name for worker in _workers(ctx) for name in worker.manifest.bundles}
    return _items(((name, "") for name in sorted(names)), incomplete)


def _algorithms(ctx: click.Context) -> Sequence[Algorithm]:
    # A line that ends in an option without its value is parsed only so far.
    worker_id = ctx.params.get("worker") or next(iter(ctx.args), None)
    if worker_id:
        with suppress(UserError, OSError):
            descriptor: WorkerDescriptor = _catalog(ctx).describe(worker_id)
            return descriptor.algorithms
    return ()


def _workers(ctx: click.Context) -> Iterator[Any]:
    found_worker = importlib.import_module("mosaic.trainer.workers.found_worker").FoundWorker
    with suppress(UserError, OSError):
        for worker in _catalog(ctx).scan():
            if isinstance(worker, found_worker):
                yield worker


def _catalog(ctx: click.Context) -> Any:
    settings = importlib.import_module("mosaic.trainer.settings")
    own = settings.load_settings(_home_of(ctx).settings, {}).own_worker_folders
    folders = importlib.import_module("mosaic.trainer.workers.worker_layout")
    catalog = importlib.import_module("mosaic.trainer.workers.worker_catalog")
    return catalog.WorkerCatalog((folders.CHECKOUT_WORKERS, *own))


def _home_of(ctx: click.Context) -> Home:
    home = ctx.params.get("home")
    return home if isinstance(home, Home) else Home.locate(ctx.meta.get(HOME_KEY))


def _summary(run: RunDirectory) -> str:
    with suppress(OSError, ValueError):
        config = json.loads(run.config.read_bytes())
        parts = (config.get("run_name"), config.get("worker"), config.get("algo"), config["env_id"])
        return " ".join(part for part in parts if part)
    return ""


def _items(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(value, help=text) for value, text in found if value.startswith(incomplete)
    ]
