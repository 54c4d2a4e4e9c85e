"""`mosaic checkpoints`: the commands there are."""

import click

from mosaic.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = {
    "list": LazyCommand("mosaic.cli.checkpoints.listing:list_checkpoints", "Those there are."),
    "show": LazyCommand("mosaic.cli.checkpoints.listing:show", "Everything about one."),
    "import": LazyCommand("mosaic.cli.checkpoints.importing:import_files", "Take in files."),
    "verify": LazyCommand("mosaic.cli.checkpoints.verifying:verify", "Whether files are intact."),
    "delete": LazyCommand("mosaic.cli.checkpoints.deleting:delete", "Remove them for good."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def checkpoints() -> None:
    """Policies that runs have saved, and imported ones.

    CKPT is a checkpoint's id, its beginning or its end, or a run, whose newest one is meant.
    """
