"""A worker's parameter that somebody wrote as an option of ours: how it is given instead."""

import click


class CommandWithParameters(click.Command):
    """For commands that have `--set NAME=VALUE`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            raise click.UsageError(
                f"{error.format_message()}\nA parameter of the worker is given as "
                f"`--set {name}=VALUE`; `mosaic workers WORKER` lists them.",
                ctx,
            ) from error
