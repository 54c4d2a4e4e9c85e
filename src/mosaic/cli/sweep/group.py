"""`mosaic sweep`: starts a sweep, unless another of its commands is named."""

import click

from mosaic.cli.default_command import DefaultCommandGroup
from mosaic.cli.lazy_group import LazyCommand

_COMMANDS = {
    "start": LazyCommand(
        "mosaic.cli.sweep.start:start", "Search for good parameters; the word may be left out."
    ),
    "show": LazyCommand("mosaic.cli.sweep.show:show", "Show the trials of a sweep or a study."),
}


@click.group(cls=DefaultCommandGroup, lazy=_COMMANDS, default="start")
def sweep() -> None:
    """Search for good parameters: `mosaic sweep WORKER --algo A --env ID`.

    `mosaic sweep start --help` lists everything that can be said.
    """
