"""`--preset NAME`: a kept configuration to begin with, and its completion."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click
from click.shell_completion import CompletionItem

from mosaic.cli.lazy_group import HOME_KEY
from mosaic.client.presets import list_presets
from mosaic.contract.layout import Home

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def preset_option(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """The command gets the name or path as it was given."""
    return click.option(
        "--preset",
        metavar="NAME|FILE",
        shell_complete=_complete_presets,
        help="A kept configuration to begin with, as a sweep makes one; options win over it.",
    )(command)


def _complete_presets(
    ctx: click.Context, _: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    home = ctx.params.get("home")
    located = home if isinstance(home, Home) else Home.locate(ctx.meta.get(HOME_KEY))
    return [CompletionItem(name) for name in list_presets(located) if name.startswith(incomplete)]
