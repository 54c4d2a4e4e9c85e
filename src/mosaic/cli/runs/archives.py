"""`mosaic runs export` and `import`: a run as one file, or its numbers for TensorBoard."""

from pathlib import Path

import click

from mosaic.analytics.run_event_files import export_event_file
from mosaic.cli import formats
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option, run_argument
from mosaic.cli.output import print_json
from mosaic.contract.layout import Home


@click.command("export")
@run_argument
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--force", is_flag=True, help="Replace the file when it is there already.")
@click.option(
    "--tensorboard",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write its metrics and episodes there instead, as an event file for TensorBoard.",
)
@json_option
@home_option
def export(
    home: Home, run: str, file: Path | None, force: bool, folder: Path | None, as_json: bool
) -> None:
    """Write everything of a run into one FILE. Default: <run id>.tar.gz in the current folder."""
    if folder is not None:
        if file is not None:
            raise click.UsageError("Give either FILE or --tensorboard, not both.")
        _export_event_file(home, run, folder, as_json)
        return
    with connected(home) as client:
        run_id = client.resolve(run)
        target = file or Path(f"{run_id}.tar.gz")
        if target.exists() and not force:
            raise click.UsageError(f"{target} is there already; --force replaces it.")
        written = client.export_run(run_id, target)
    if as_json:
        print_json({"run_id": run_id, "file": str(target), "bytes": written})
    else:
        click.echo(f"{target}  {formats.size(written)}")


def _export_event_file(home: Home, run: str, folder: Path, as_json: bool) -> None:
    with connected(home) as client:
        record = client.run(client.resolve(run)).run
        done = export_event_file(client, record, folder)
    if as_json:
        facts = {"run_id": record.run_id, "file": str(done.path)}
        print_json({**facts, "points": done.points, "tags": done.tags})
    else:
        click.echo(f"{done.path}  {done.points} points of {done.tags} curves")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
@home_option
def import_run(home: Home, file: Path, as_json: bool) -> None:
    """Take in a run that was written with `runs export`, here or elsewhere."""
    with connected(home, start=True) as client:
        record = client.import_run(file)
    if as_json:
        print_json(record)
    else:
        click.echo(f"{record.run_id}  {formats.title(record)}  {record.state}")
