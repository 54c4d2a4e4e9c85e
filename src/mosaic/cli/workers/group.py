"""`mosaic workers`: shows them, unless another of its commands is named."""

from typing import Any

import click

from mosaic.cli.default_command import DefaultCommandGroup
from mosaic.cli.lazy_group import LazyCommand

_COMMANDS = {
    "show": LazyCommand(
        "mosaic.cli.workers.show:show", "Show all workers, or one; the word may be left out."
    ),
    "new": LazyCommand("mosaic.cli.workers.new:new", "Write a worker of your own to begin with."),
}


class _WorkersGroup(DefaultCommandGroup):
    """`mosaic workers WORKER` is `mosaic workers show WORKER`."""

    def invoke(self, ctx: click.Context) -> Any:
        result = super().invoke(ctx)
        return result if ctx.invoked_subcommand else self.run_default(ctx)


@click.group(cls=_WorkersGroup, lazy=_COMMANDS, default="show", invoke_without_command=True)
def workers() -> None:
    """The workers there are: `mosaic workers`, and of one everything: `mosaic workers WORKER`.

    `mosaic workers show --help` lists everything that can be asked.
    """
