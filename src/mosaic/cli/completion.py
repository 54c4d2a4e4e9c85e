"""Shell completion: the command that prints the script, and the values it offers.

Completing a value needs no daemon. It never prints and never fails, because that would disturb the
line that is being typed.
"""

import importlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from mosaic.cli.commands import HOME_KEY, command
from mosaic.cli.formatting import short_id
from mosaic.contract.descriptor import Algorithm, WorkerDescriptor
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home, RunDirectory

_MAX_RUNS = 50
_SHELLS = {
    "bash": 'eval "$(mosaic completion bash)"',
    "fish": "mosaic completion fish > ~/.config/fish/completions/mosaic.fish",
    "zsh": 'eval "$(mosaic completion zsh)"',
}


@command(examples=list(_SHELLS.values()))
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options, runs and workers in a shell.

    For bash and zsh, add the line below to ~/.bashrc or ~/.zshrc.
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"There is no completion for {shell}.")
    root = ctx.find_root().command
    click.echo(script(root, {}, "mosaic", "_MOSAIC_COMPLETE").source())


def complete_runs(
    ctx: click.Context,
    _: click.Parameter,
    incomplete: str,
) -> list[CompletionItem]:
    """Offer the short ids of the newest runs, as tables show them."""
    with suppress(OSError):
        newest = sorted(_home_of(ctx).runs.iterdir(), reverse=True)[:_MAX_RUNS]
        return [
            CompletionItem(short_id(folder.name), help=_summarize(RunDirectory(folder)))
            for folder in newest
            if short_id(folder.name).startswith(incomplete.upper())
        ]
    return []


def complete_workers(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the installed workers."""
    return _items(
        ((worker.manifest.id, worker.manifest.label) for worker in _workers(ctx)), incomplete
    )


def complete_environments(
    _ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the environments of the catalog."""
    catalog = importlib.import_module("mosaic.envs.catalog")
    return _items(((entry.env_id, entry.title) for entry in catalog.environments()), incomplete)


def complete_algorithms(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the algorithms of the worker that precedes on the line."""
    algorithms = _algorithms(ctx)
    return _items(((algorithm.id, algorithm.label) for algorithm in algorithms), incomplete)


def complete_settings(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the parameters of the selected algorithm, or of all."""
    selected = ctx.params.get("algo")
    parameters = {
        f"{parameter.name}=": parameter.help
        for algorithm in _algorithms(ctx)
        if selected in (None, algorithm.id)
        for parameter in algorithm.parameters
    }
    return _items(parameters.items(), incomplete)


def complete_bundles(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the bundles that workers declare."""
    names = {name for worker in _workers(ctx) for name in worker.manifest.bundles}
    return _items(((name, "") for name in sorted(names)), incomplete)


def complete_presets(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the saved presets."""
    presets = importlib.import_module("mosaic.client.presets")
    return _items(((name, "") for name in presets.preset_names(_home_of(ctx))), incomplete)


def _algorithms(ctx: click.Context) -> Sequence[Algorithm]:
    # Click parses a line that ends in an option without a value only up to that option.
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
    settings = importlib.import_module("mosaic.trainer.daemon_settings")
    own = settings.load_settings(_home_of(ctx).settings, {}).own_worker_folders
    folders = importlib.import_module("mosaic.trainer.workers.worker_layout")
    catalog = importlib.import_module("mosaic.trainer.workers.worker_catalog")
    return catalog.WorkerCatalog((folders.CHECKOUT_WORKERS, *own))


def _home_of(ctx: click.Context) -> Home:
    home = ctx.params.get("home")
    return home if isinstance(home, Home) else Home.locate(ctx.meta.get(HOME_KEY))


def _summarize(run: RunDirectory) -> str:
    with suppress(OSError, ValueError):
        config = json.loads(run.config.read_bytes())
        parts = (config.get("run_name"), config.get("worker"), config.get("algo"), config["env_id"])
        return " ".join(part for part in parts if part)
    return ""


def _items(values: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(value, help=text) for value, text in values if value.startswith(incomplete)
    ]
