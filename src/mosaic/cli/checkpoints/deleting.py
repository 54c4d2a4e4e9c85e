"""`mosaic checkpoints delete`."""

from pathlib import PurePosixPath

import click

from mosaic.cli import formats
from mosaic.cli.checkpoints.reference import checkpoints_argument, find_checkpoint
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home


@click.command()
@checkpoints_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@home_option
def delete(home: Home, references: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Remove checkpoints for good. What a run needs that is not over stays."""
    with connected(home) as client:
        found = {
            each.checkpoint_id: each
            for each in (find_checkpoint(client, reference) for reference in references)
        }
        if not yes:
            for each in found.values():
                name = PurePosixPath(each.path).name
                click.echo(f"{each.checkpoint_id}  {name}  {each.env_id}", err=True)
            _confirm()
        freed = sum(client.delete_checkpoint(each) for each in found)
    if as_json:
        print_json({"deleted": list(found), "freed_bytes": freed})
    else:
        what = formats.amount(len(found), "checkpoint")
        click.echo(f"Deleted {what}, {formats.size(freed)} freed.")


def _confirm() -> None:
    try:
        is_sure = click.confirm("Delete for good?", err=True)
    except click.Abort:
        raise click.UsageError("Nobody is there to ask. Say --yes to delete for good.") from None
    if not is_sure:
        raise click.Abort
