"""Classes of click commands: help with examples, groups that import lazily, exit codes."""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mosaic.contract.problems import closest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

HOME_KEY = "mosaic.home"
"""Key of `--home` in a context's `meta`, which all contexts of a command line share."""

_HELP_OPTIONS = ("-h", "--help")
_UNIMPORTANT_RANGE = re.compile(r"\s*\[(x>=?[01]|0<=x<=\d{10,})\]$")
"""What click appends to the help of an option that accepts any count or seed."""
_HOME_OPTION = "--home"
_INDENT = "    "
"""Of the further lines of a long example."""


class ExitCode(IntEnum):
    """Exit codes of `mosaic`, besides 0 and click's own code 2 for a usage error."""

    FAILED = 1
    """The run or the check failed."""
    UNREACHABLE = 3
    """The daemon cannot be reached."""
    INTERRUPTED = 130
    """Ctrl-C."""


class MosaicCommand(click.Command):
    """A command whose help ends with examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        _write_examples(formatter, self.examples)


class ParameterCommand(MosaicCommand):
    """A command with `--set NAME=VALUE`, which it suggests for an unknown option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            raise click.UsageError(
                f"{error.format_message()}\nSet a parameter of the worker with "
                f"`--set {name}=VALUE`; `mosaic workers WORKER` lists them.",
                ctx,
            ) from error


def command(
    name: str | None = None,
    *,
    examples: Sequence[str],
    cls: type[MosaicCommand] = MosaicCommand,
) -> Callable[[Callable[..., Any]], click.Command]:
    """Decorate a function as a command with examples in its help."""
    return click.command(name, cls=cls, examples=examples)


class LazyCommand(NamedTuple):
    """Where a command is defined, and its line in the help of its group."""

    target: str
    """`module:name`; the module is imported when the command runs."""
    summary: str
    section: str = "Commands"


class LazyGroup(click.Group):
    """A group that imports a command's module only when that command runs.

    It lists the commands in the given order, by section. It has `--home` like its commands.
    """

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, LazyCommand],
        examples: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.examples = tuple(examples)
        self.params.append(
            click.Option(
                [_HOME_OPTION],
                type=click.Path(file_okay=False),
                metavar="DIR",
                expose_value=False,
                callback=_store_home,
                help="Directory of runs and settings. Default: $MOSAIC_HOME.",
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in self.lazy:
            return None
        module, _, name = self.lazy[cmd_name].target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.lazy and not name.startswith("-") and not ctx.resilient_parsing:
            similar = closest(name, self.lazy)
            hint = f" Did you mean '{similar}'?" if similar else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_options(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        width = max(map(len, self.lazy))
        for section, items in groupby(self.lazy.items(), key=lambda item: item[1].section):
            with formatter.section(section):
                # Equal widths, so that the columns of all sections line up.
                rows = [(name.ljust(width), lazy.summary) for name, lazy in items]
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        _write_examples(formatter, self.examples)


class DefaultCommandGroup(LazyGroup):
    """A group that runs the command `default` where none of its commands is named.

    So `mosaic sweep WORKER` is `mosaic sweep start WORKER`.
    """

    def __init__(
        self, *args: Any, lazy: Mapping[str, LazyCommand], default: str, **kwargs: Any
    ) -> None:
        super().__init__(*args, lazy=lazy, **kwargs)
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        index = _command_index(args)
        if index < len(args) and args[index].startswith("-") and args[index] not in _HELP_OPTIONS:
            args = [*args[:index], self._default, *args[index:]]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.list_commands(ctx):
            args = [self._default, *args]
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer the group's commands and the first argument of the default command."""
        items = super().shell_complete(ctx, incomplete)
        command = self.get_command(ctx, self._default)
        if command is not None and not incomplete.startswith("-"):
            child = command.make_context(self._default, [], parent=ctx, resilient_parsing=True)
            for argument in command.params:
                if isinstance(argument, click.Argument):
                    items += argument.shell_complete(child, incomplete)
                    break
        return items

    def run_default(self, ctx: click.Context) -> Any:
        """Run the default command without arguments, for a group that may stand alone."""
        command = self.get_command(ctx, self._default)
        if command is None:
            raise LookupError(self._default)
        with command.make_context(self._default, [], parent=ctx) as child:
            return command.invoke(child)


class StandaloneGroup(DefaultCommandGroup):
    """A group with a default command that also runs if nothing follows the group's name."""

    def invoke(self, ctx: click.Context) -> Any:
        result = super().invoke(ctx)
        return result if ctx.invoked_subcommand else self.run_default(ctx)


def _command_index(args: list[str]) -> int:
    """Return the index of the command's name, which follows the group's own `--home DIR`."""
    index = 0
    while index < len(args) and args[index].partition("=")[0] == _HOME_OPTION:
        index += 1 if "=" in args[index] else 2
    return index


def _store_home(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        ctx.meta[HOME_KEY] = value


def _write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the options; the first column takes at most a third of the width."""
    rows = []
    for parameter in command.get_params(ctx):
        row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if row is not None:
            rows.append((row[0], _UNIMPORTANT_RANGE.sub("", row[1])))
    with formatter.section("Options"):
        formatter.write_dl(rows, col_max=min(30, formatter.width // 3))


def _write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    if not examples:
        return
    with formatter.section("Examples"):
        width = formatter.width - formatter.current_indent
        for example in examples:
            for line in _wrap_example(example, width):
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _wrap_example(example: str, width: int) -> list[str]:
    """Break a command into lines that a shell joins again, preferably before options."""
    if len(example) <= width:
        return [example]
    max_width = width - len(" \\")
    parts: list[str] = []
    for part in re.split(r" (?=-)", example):
        parts += [part] if len(part) <= max_width - len(_INDENT) else part.split(" ")
    lines = [""]
    for part in parts:
        if lines[-1].strip() and len(lines[-1]) + 1 + len(part) > max_width:
            lines.append(_INDENT)
        separator = " " if lines[-1].strip() else ""
        lines[-1] += separator + part
    return [f"{line} \\" for line in lines[:-1]] + lines[-1:]
