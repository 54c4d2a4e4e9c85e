"""`mosaic runs delete`."""

import click

from mosaic.cli import formats
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option, runs_argument
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home


@click.command()
@runs_argument
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@json_option
@home_option
def delete(home: Home, runs: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Remove runs that are over, with all their files. There is no way back."""
    with connected(home) as client:
        records = [client.run(client.resolve(run)).run for run in runs]
        if not yes:
            for record in records:
                name = f"{formats.short_id(record.run_id)}  {formats.title(record)}"
                click.echo(f"{name}  {record.state}", err=True)
            _confirm()
        freed = {record.run_id: client.delete(record.run_id) for record in records}
    if as_json:
        print_json({"deleted": list(freed), "freed_bytes": sum(freed.values())})
    else:
        what = formats.amount(len(freed), "run")
        click.echo(f"Deleted {what}, {formats.size(sum(freed.values()))} freed.")


def _confirm() -> None:
    try:
        is_sure = click.confirm("Delete for good?", err=True)
    except click.Abort:
        raise click.UsageError("Nobody is there to ask. Say --yes to delete for good.") from None
    if not is_sure:
        raise click.Abort
