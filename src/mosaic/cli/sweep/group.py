"""`mosaic sweep`: starts a sweep, unless another of its commands is named."""

import click

from mosaic.cli.lazy_group import LazyCommand, LazyGroup

_DEFAULT = "start"
_COMMANDS = {
    _DEFAULT: LazyCommand(
        "mosaic.cli.sweep.start:start", "Search for good parameters; the word may be left out."
    ),
    "show": LazyCommand("mosaic.cli.sweep.show:show", "Show the trials of a sweep or a study."),
}
_OF_THE_GROUP = ("-h", "--help", "--home")


class _StartsByDefault(LazyGroup):
    """`mosaic sweep WORKER …` is `mosaic sweep start WORKER …`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0].partition("=")[0] not in _OF_THE_GROUP:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS:
            args = [_DEFAULT, *args]
        return super().resolve_command(ctx, args)


@click.group(cls=_StartsByDefault, lazy=_COMMANDS)
def sweep() -> None:
    """Search for good parameters: `mosaic sweep WORKER --algo A --env ID`.

    `mosaic sweep start --help` lists everything that can be said.
    """
