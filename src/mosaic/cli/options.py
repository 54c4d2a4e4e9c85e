"""Options that every command shares."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

from mosaic.contract.layout import HOME_VARIABLE, Home

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def home_option(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`--home DIR`, before the command or after it; the command gets a `Home`."""
    return click.option(
        "--home",
        type=click.Path(file_okay=False),
        metavar="DIR",
        callback=_locate_home,
        help=f"Where runs are kept. Default: ${HOME_VARIABLE}; ./mosaic uses var/ in the checkout.",
    )(command)


def json_option(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """`--json`: one document on stdout; messages and progress stay on stderr."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(command)


def _locate_home(ctx: click.Context, _: click.Parameter, given: str | None) -> Home:
    before_command = ctx.parent.params.get("home") if ctx.parent else None
    return Home.locate(given or before_command)
