"""Groups in which one command's name may be left out: `mosaic sweep WORKER`, `mosaic workers`."""

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from mosaic.cli.lazy_group import LazyCommand, LazyGroup

_HELP = ("-h", "--help")
_HOME = "--home"


class DefaultCommandGroup(LazyGroup):
    """The command `default` is meant wherever none of the group's commands is named."""

    def __init__(
        self, *args: Any, lazy: Mapping[str, LazyCommand], default: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, lazy=lazy, **kwargs)
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = _place_of_command(args)
        if at < len(args) and args[at].startswith("-") and args[at] not in _HELP:
            args = [*args[:at], self._default, *args[at:]]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.list_commands(ctx):
            args = [self._default, *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What the group has, and what may follow the word that is left out."""
        offered = super().shell_complete(ctx, incomplete)
        command = self.get_command(ctx, self._default)
        if command is not None and not incomplete.startswith("-"):
            below = command.make_context(self._default, [], parent=ctx, resilient_parsing=True)
            for argument in command.params:
                if isinstance(argument, click.Argument):
                    offered += argument.shell_complete(below, incomplete)
                    break
        return offered

    def run_default(self, ctx: click.Context) -> Any:
        """For a group that may stand alone: its callback calls this when nothing follows it."""
        command = self.get_command(ctx, self._default)
        if command is None:
            raise LookupError(self._default)
        with command.make_context(self._default, [], parent=ctx) as below:
            return command.invoke(below)


def _place_of_command(args: list[str]) -> int:
    """Where the name of a command stands, or would: after the group's own `--home DIR`."""
    at = 0
    while at < len(args) and args[at].partition("=")[0] == _HOME:
        at += 1 if "=" in args[at] else 2
    return at
