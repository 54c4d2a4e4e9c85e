"""`mosaic`: the commands, and how errors reach a person."""

import errno
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from mosaic import __version__
from mosaic.cli import exit_codes
from mosaic.cli.lazy_group import HOME_KEY, LazyCommand, LazyGroup
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

_STDOUT_IS_GONE = (errno.EPIPE, errno.ENOSPC)

_COMMANDS = {
    "gui": LazyCommand("mosaic.cli.gui:gui", "Open the window; so does `mosaic` alone."),
    "demo": LazyCommand("mosaic.cli.demo:demo", "Watch an agent learn, and see what is stored."),
    "play": LazyCommand(
        "mosaic.cli.play.command:play", "Play an environment, or let an actor play it."
    ),
    "train": LazyCommand("mosaic.cli.train:train", "Start a run and watch it."),
    "sweep": LazyCommand(
        "mosaic.cli.sweep.group:sweep", "Search for good parameters, and look at what was found."
    ),
    "evaluate": LazyCommand("mosaic.cli.evaluate:evaluate", "See how well a saved policy does."),
    "runs": LazyCommand("mosaic.cli.runs.group:runs", "List, show, watch, steer and keep runs."),
    "telemetry": LazyCommand("mosaic.cli.telemetry:telemetry", "Read what a run has told."),
    "replay": LazyCommand(
        "mosaic.cli.replay.command:replay", "Play a recorded episode again, exactly."
    ),
    "checkpoints": LazyCommand(
        "mosaic.cli.checkpoints.group:checkpoints", "Policies that were saved."
    ),
    "envs": LazyCommand("mosaic.cli.envs.command:envs", "Show what can be played and trained in."),
    "workers": LazyCommand(
        "mosaic.cli.workers.group:workers", "Show what can be trained with, or begin a worker."
    ),
    "bundles": LazyCommand("mosaic.cli.bundles:bundles", "Environments that workers run in."),
    "daemon": LazyCommand("mosaic.cli.daemon:daemon", "Start, stop and look at the daemon."),
    "doctor": LazyCommand("mosaic.cli.doctor:doctor", "Say what works here and what is missing."),
    "completion": LazyCommand("mosaic.cli.completion:completion", "Completion for your shell."),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "--version", prog_name="mosaic")
@click.pass_context
def mosaic(context: click.Context) -> int | None:
    """A workbench for reinforcement learning: play, train, watch, replay, compare."""
    if context.invoked_subcommand is not None:
        return None
    from mosaic.cli.window import become_window, why_no_window  # noqa: PLC0415 - rarely needed

    problem = why_no_window()
    if problem is None:
        become_window(Home.locate(context.meta.get(HOME_KEY)))
    click.echo(context.get_help())
    click.echo(f"\n{problem.message} {problem.remedy}", err=True)
    return exit_codes.FAILED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns its exit code; `exit_codes` says what each means."""
    try:
        result: Any = mosaic.main(args=arguments, prog_name="mosaic", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        return exit_codes.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UserError as error:
        _tell(error, as_json="--json" in (sys.argv[1:] if arguments is None else arguments))
        if isinstance(error, DaemonUnreachableError):
            return exit_codes.UNREACHABLE
        return exit_codes.FAILED
    except OSError as error:
        if error.errno not in _STDOUT_IS_GONE:
            raise
        # What cannot be printed now cannot be flushed at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            click.echo(f"The output cannot be written: {error.strerror}.", err=True)
        return exit_codes.FAILED
    return result if isinstance(result, int) else 0


def _tell(error: UserError, *, as_json: bool) -> None:
    click.secho(error.message, fg="red", err=True)
    if error.remedy:
        click.echo(error.remedy, err=True)
    if as_json:
        told = {"error": error.message, "remedy": error.remedy, "code": error.code}
        click.echo(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main())
