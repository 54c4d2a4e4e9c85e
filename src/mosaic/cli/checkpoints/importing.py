"""`mosaic checkpoints import`: policies that were saved elsewhere."""

from pathlib import Path

import click

from mosaic.cli import formats
from mosaic.cli.checkpoints.listing import as_document
from mosaic.cli.completions import complete_environments, complete_workers
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json
from mosaic.cli.settings_text import as_json_value, split_settings
from mosaic.contract.layout import Home


@click.command("import")
@click.argument(
    "files",
    metavar="FILE…",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--worker", required=True, shell_complete=complete_workers, help="Which one plays with them."
)
@click.option(
    "--env",
    "env_id",
    required=True,
    metavar="ID",
    shell_complete=complete_environments,
    help="What they were trained in.",
)
@click.option("--algo", default="", help="What they were trained with.")
@click.option("--meta", multiple=True, metavar="NAME=VALUE", help="To be kept with them.")
@json_option
@home_option
def import_files(
    home: Home,
    files: tuple[Path, ...],
    worker: str,
    env_id: str,
    algo: str,
    meta: tuple[str, ...],
    as_json: bool,
) -> None:
    """Take in the policies in FILE…, to play, evaluate and go on training with."""
    kept = {name: as_json_value(text) for name, text in split_settings(meta, "--meta").items()}
    with connected(home, start=True) as client:
        taken = [
            client.import_checkpoint(file, worker=worker, env_id=env_id, algo=algo, meta=kept)
            for file in files
        ]
    if as_json:
        print_json({"checkpoints": [as_document(each, home) for each in taken]})
        return
    for file, checkpoint in zip(files, taken, strict=True):
        size = formats.size(checkpoint.size_bytes)
        click.echo(f"{checkpoint.checkpoint_id}  {file.name}  {size}")
