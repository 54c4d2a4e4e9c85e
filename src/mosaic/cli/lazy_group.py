"""Groups of commands whose modules are imported only when one of them runs."""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from mosaic.contract.problems import closest


class LazyCommand(NamedTuple):
    """Where a command is, and what the help of its group says of it without importing it."""

    target: str
    summary: str


class LazyGroup(click.Group):
    """Commands by name, in the order in which they are listed. Has `--home` like its commands."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy
        self.params.append(
            click.Option(
                ["--home"],
                type=click.Path(file_okay=False),
                metavar="DIR",
                expose_value=False,
                callback=_keep_home,
                help="Where runs are kept.",
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self._lazy and not name.startswith("-") and not ctx.resilient_parsing:
            meant = closest(name, self._lazy)
            hint = f" Did you mean '{meant}'?" if meant else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self._lazy[name].summary) for name in self.list_commands(ctx)]
            )


HOME_KEY = "mosaic.home"
"""Where in a context's `meta`, which all contexts of a command line share, the folder is kept."""


def _keep_home(ctx: click.Context, _: click.Parameter, given: str | None) -> None:
    if given:
        ctx.meta[HOME_KEY] = given
