"""`mosaic runs pause` and `resume`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from mosaic.cli.connecting import connected
from mosaic.cli.formats import short_id
from mosaic.cli.options import home_option, json_option, runs_argument
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


@click.command()
@runs_argument
@json_option
@home_option
def pause(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Let runs stand still. A worker that cannot pause is frozen where it stands."""
    for_each(home, runs, lambda client, run_id: client.pause(run_id), as_json)


@click.command()
@runs_argument
@json_option
@home_option
def resume(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Let paused runs go on."""
    for_each(home, runs, lambda client, run_id: client.resume(run_id), as_json)


def for_each(
    home: Home,
    runs: tuple[str, ...],
    change: "Callable[[TrainerClient, str], RunRecord]",
    as_json: bool,
) -> None:
    """Change each of the runs, and tell how each is then."""
    with connected(home) as client:
        changed = [change(client, run_id) for run_id in [client.resolve(run) for run in runs]]
    if as_json:
        print_json({"runs": changed})
        return
    for record in changed:
        click.echo(f"{short_id(record.run_id)} {record.state}: {record.reason}".rstrip(": "))
