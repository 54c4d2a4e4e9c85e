"""`mosaic`: the commands, their common options, and how errors reach a person."""

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from mosaic import __version__
from mosaic.cli import exit_codes
from mosaic.contract.errors import UserError


class _CommandModule(NamedTuple):
    """Where a command is, and what `mosaic --help` says of it without importing it."""

    target: str
    summary: str


_COMMANDS = {
    "demo": _CommandModule("mosaic.cli.demo:demo", "Run the echo worker and show what is stored."),
}


class _LazyGroup(click.Group):
    """Commands by name, each in a module that is imported only when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, _, name = _COMMANDS[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _COMMANDS[name].summary) for name in self.list_commands(ctx)]
            )


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="mosaic")
@click.option(
    "--home", type=click.Path(file_okay=False), help="Where runs are kept.", metavar="DIR"
)
def mosaic(home: str | None) -> None:
    """A workbench for reinforcement learning: play, train, watch, replay, compare."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns its exit code: 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    try:
        result: Any = mosaic.main(args=arguments, prog_name="mosaic", standalone_mode=False)
    except click.exceptions.Abort:
        return exit_codes.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UserError as error:
        click.secho(error.message, fg="red", err=True)
        click.echo(error.remedy, err=True)
        return exit_codes.FAILED
    return result if isinstance(result, int) else 0


if __name__ == "__main__":
    sys.exit(main())
