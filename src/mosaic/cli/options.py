"""Options that many commands share."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import click

from mosaic.cli.completions import complete_runs
from mosaic.cli.lazy_group import HOME_KEY
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


def run_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """RUN: an id, its beginning or end, a name, or `last`."""
    return click.argument("run", shell_complete=complete_runs)(command)


def runs_argument(command: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """RUN …: one or more of them."""
    return click.argument("runs", nargs=-1, required=True, shell_complete=complete_runs)(command)


def _locate_home(ctx: click.Context, _: click.Parameter, given: str | None) -> Home:
    return Home.locate(given or ctx.meta.get(HOME_KEY))
