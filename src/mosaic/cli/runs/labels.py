"""`mosaic runs tag`, `note`, `rename` and `archive`: what people write on runs."""

import click

from mosaic.cli.connecting import connected
from mosaic.cli.formats import short_id
from mosaic.cli.options import home_option, json_option, run_argument, runs_argument
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunRecord


@click.command()
@run_argument
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="Take a tag away.")
@json_option
@home_option
def tag(
    home: Home, run: str, tags: tuple[str, ...], remove: tuple[str, ...], as_json: bool
) -> None:
    """Add TAGS to a run. Without any it shows those that are there."""
    with connected(home) as client:
        run_id = client.resolve(run)
        if tags or remove:
            record = client.annotate(run_id, add_tags=tags, remove_tags=remove)
        else:
            record = client.run(run_id).run
    _tell(record, f"tags: {', '.join(record.tags) or 'none'}", as_json)


@click.command()
@run_argument
@click.argument("text", nargs=-1)
@json_option
@home_option
def note(home: Home, run: str, text: tuple[str, ...], as_json: bool) -> None:
    """Write TEXT on a run, in place of what was there. An empty text ('') removes the note."""
    with connected(home) as client:
        run_id = client.resolve(run)
        record = client.note(run_id, " ".join(text)) if text else client.run(run_id).run
    _tell(record, f"note: {record.note or 'none'}", as_json)


@click.command()
@run_argument
@click.argument("name")
@json_option
@home_option
def rename(home: Home, run: str, name: str, as_json: bool) -> None:
    """Give a run another NAME. Its id stays."""
    with connected(home) as client:
        record = client.rename(client.resolve(run), name)
    _tell(record, f"name: {record.name}", as_json)


@click.command()
@runs_argument
@click.option("--undo", is_flag=True, help="Bring them back into lists.")
@json_option
@home_option
def archive(home: Home, runs: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Leave runs out of lists. Nothing is deleted; `runs list --all` shows them."""
    with connected(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        changed = [client.archive(run_id, archived=not undo) for run_id in run_ids]
    if as_json:
        print_json({"runs": changed})
        return
    for record in changed:
        click.echo(f"{short_id(record.run_id)} {'archived' if record.archived else 'listed again'}")


def _tell(record: RunRecord, words: str, as_json: bool) -> None:
    if as_json:
        print_json(record)
    else:
        click.echo(f"{short_id(record.run_id)} {words}")
