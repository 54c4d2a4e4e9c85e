"""`mosaic runs pause` and `resume`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from mosaic.cli.connecting import connected
from mosaic.cli.formats import short_id
from mosaic.cli.options import home_option, json_option, runs_argument
from mosaic.cli.output import print_json
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

Change = Callable[["TrainerClient", str], RunRecord]
_STATE_CONFLICT = "T311"


@click.command()
@runs_argument
@json_option
@home_option
def pause(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Let runs stand still. A worker that cannot pause is frozen where it stands."""
    _for_each(home, runs, lambda client, run: client.pause(run), RunState.PAUSED, as_json)


@click.command()
@runs_argument
@json_option
@home_option
def resume(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Let paused runs go on."""
    _for_each(home, runs, lambda client, run: client.resume(run), RunState.RUNNING, as_json)


def _for_each(
    home: Home,
    runs: tuple[str, ...],
    change: Change,
    wanted: RunState,
    as_json: bool,
) -> None:
    """Bring each of the runs into the state that is wanted, and tell how each is then."""
    with connected(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        changed = [_changed(client, run_id, change, wanted) for run_id in run_ids]
    if as_json:
        print_json({"runs": changed})
        return
    for record in changed:
        click.echo(f"{short_id(record.run_id)} {record.state}: {record.reason}".rstrip(": "))


def _changed(client: "TrainerClient", run_id: str, change: Change, wanted: RunState) -> RunRecord:
    try:
        return change(client, run_id)
    except UserError as error:
        if error.code != _STATE_CONFLICT or client.run(run_id).run.state is not wanted:
            raise
        raise UserError(
            f"Run {short_id(run_id)} is {wanted} already.",
            remedy="There is nothing to do.",
            code=error.code,
        ) from error
