"""`mosaic runs tag`, `note`, `rename`, `archive`, `export`, `import` and `delete`."""

from pathlib import Path

import click

from mosaic.analytics.run_event_files import export_event_file
from mosaic.cli.commands import command
from mosaic.cli.connection import connect
from mosaic.cli.formatting import pluralize, run_title, short_id
from mosaic.cli.options import (
    confirm_deletion,
    home_option,
    json_option,
    run_argument,
    runs_argument,
    yes_option,
)
from mosaic.cli.render import print_json
from mosaic.contract.formatting import format_size
from mosaic.contract.layout import Home
from mosaic.contract.runs import RunRecord


@command(examples=["mosaic runs tag last baseline", "mosaic runs tag last --remove baseline"])
@run_argument
@click.argument("tags", nargs=-1)
@click.option("--remove", multiple=True, metavar="TAG", help="Remove this tag; repeatable.")
@json_option
@home_option
def tag(
    home: Home, run: str, tags: tuple[str, ...], remove: tuple[str, ...], as_json: bool
) -> None:
    """Add TAGS to a run, or show its tags if none are given."""
    with connect(home) as client:
        run_id = client.resolve(run)
        if tags or remove:
            record = client.annotate(run_id, add_tags=tags, remove_tags=remove)
        else:
            record = client.run(run_id).run
    _print_record(record, f"tags: {', '.join(record.tags) or 'none'}", as_json)


@command(examples=["mosaic runs note last 'first good policy'"])
@run_argument
@click.argument("text", nargs=-1)
@json_option
@home_option
def note(home: Home, run: str, text: tuple[str, ...], as_json: bool) -> None:
    """Replace the note of a run by TEXT. An empty text ('') removes the note."""
    with connect(home) as client:
        run_id = client.resolve(run)
        record = client.note(run_id, " ".join(text)) if text else client.run(run_id).run
    _print_record(record, f"note: {record.note or 'none'}", as_json)


@command(examples=["mosaic runs rename last baseline"])
@run_argument
@click.argument("name")
@json_option
@home_option
def rename(home: Home, run: str, name: str, as_json: bool) -> None:
    """Rename a run to NAME. Its id does not change."""
    with connect(home) as client:
        record = client.rename(client.resolve(run), name)
    _print_record(record, f"name: {record.name}", as_json)


@command(examples=["mosaic runs archive last", "mosaic runs archive last --undo"])
@runs_argument
@click.option("--undo", is_flag=True, help="Show the runs in lists again.")
@json_option
@home_option
def archive(home: Home, runs: tuple[str, ...], undo: bool, as_json: bool) -> None:
    """Hide runs from lists. Nothing is deleted; `runs list --all` shows them."""
    with connect(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        records = [client.archive(run_id, archived=not undo) for run_id in run_ids]
    if as_json:
        print_json({"runs": records})
        return
    for record in records:
        click.echo(f"{short_id(record.run_id)} {'archived' if record.archived else 'listed again'}")


@command(
    "export",
    examples=["mosaic runs export last run.tar.gz", "mosaic runs export last --tensorboard logs"],
)
@run_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option(
    "--tensorboard",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write metrics and episodes there as a TensorBoard event file.",
)
@json_option
@home_option
def export(
    home: Home, run: str, file: Path | None, force: bool, folder: Path | None, as_json: bool
) -> None:
    """Export a run to one FILE. Default: <run id>.tar.gz in the current folder."""
    if folder is not None:
        if file is not None:
            raise click.UsageError("Give either FILE or --tensorboard, not both.")
        _export_event_file(home, run, folder, as_json)
        return
    with connect(home) as client:
        run_id = client.resolve(run)
        target = file or Path(f"{run_id}.tar.gz")
        if target.exists() and not force:
            raise click.UsageError(f"{target} already exists; --force overwrites it.")
        size_bytes = client.export_run(run_id, target)
    if as_json:
        print_json({"run_id": run_id, "file": str(target), "bytes": size_bytes})
    else:
        click.echo(f"{target}  {format_size(size_bytes)}")


@command("import", examples=["mosaic runs import run.tar.gz"])
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
@home_option
def import_run(home: Home, file: Path, as_json: bool) -> None:
    """Import a run that `mosaic runs export` wrote, here or on another machine."""
    with connect(home, start=True) as client:
        record = client.import_run(file)
    if as_json:
        print_json(record)
    else:
        click.echo(f"{record.run_id}  {run_title(record)}  {record.state}")


@command(examples=["mosaic runs delete last", "mosaic runs delete last --yes"])
@runs_argument
@yes_option
@json_option
@home_option
def delete(home: Home, runs: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Delete finished runs with all their files. This cannot be undone."""
    with connect(home) as client:
        records = [client.run(client.resolve(run)).run for run in runs]
        if not yes:
            for record in records:
                name = f"{short_id(record.run_id)}  {run_title(record)}"
                click.echo(f"{name}  {record.state}", err=True)
            confirm_deletion()
        freed = {record.run_id: client.delete(record.run_id) for record in records}
    if as_json:
        print_json({"deleted": list(freed), "freed_bytes": sum(freed.values())})
    else:
        count = pluralize(len(freed), "run")
        click.echo(f"Deleted {count}, {format_size(sum(freed.values()))} freed.")


def _export_event_file(home: Home, run: str, folder: Path, as_json: bool) -> None:
    with connect(home) as client:
        record = client.run(client.resolve(run)).run
        exported = export_event_file(client, record, folder)
    if as_json:
        document = {"run_id": record.run_id, "file": str(exported.path)}
        print_json({**document, "points": exported.points, "tags": exported.tags})
    else:
        click.echo(f"{exported.path}  {exported.points} points of {exported.tags} curves")


def _print_record(record: RunRecord, text: str, as_json: bool) -> None:
    if as_json:
        print_json(record)
    else:
        click.echo(f"{short_id(record.run_id)} {text}")
