"""The program `mosaic`: its commands, and how errors are printed."""

import errno
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from mosaic import __version__
from mosaic.cli.commands import HOME_KEY, ExitCode, LazyCommand, LazyGroup
from mosaic.client.errors import DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home

_STDOUT_ERRORS = (errno.EPIPE, errno.ENOSPC)

_PLAY = "Play"
_TRAIN = "Train"
_RESULTS = "Look at results"
_MANAGE = "Manage"
_COMMANDS = {
    "gui": LazyCommand("mosaic.cli.gui:gui", "Open the window; the default command.", _PLAY),
    "demo": LazyCommand("mosaic.cli.demo:demo", "Watch an agent learn.", _PLAY),
    "play": LazyCommand(
        "mosaic.cli.play:play", "Play an environment, or let an actor play.", _PLAY
    ),
    "envs": LazyCommand("mosaic.cli.envs:envs", "Show the environments.", _PLAY),
    "train": LazyCommand("mosaic.cli.train:train", "Start a training run and watch it.", _TRAIN),
    "sweep": LazyCommand(
        "mosaic.cli.command_groups:sweep", "Search for the best hyperparameters.", _TRAIN
    ),
    "evaluate": LazyCommand("mosaic.cli.evaluate:evaluate", "Evaluate a saved policy.", _TRAIN),
    "runs": LazyCommand(
        "mosaic.cli.command_groups:runs", "List, inspect, control and export runs.", _RESULTS
    ),
    "telemetry": LazyCommand(
        "mosaic.cli.command_groups:telemetry", "Read the telemetry of a run.", _RESULTS
    ),
    "replay": LazyCommand("mosaic.cli.replay:replay", "Replay a recorded episode.", _RESULTS),
    "checkpoints": LazyCommand(
        "mosaic.cli.command_groups:checkpoints", "Manage saved policies.", _RESULTS
    ),
    "workers": LazyCommand(
        "mosaic.cli.command_groups:workers", "Show the workers, or create one.", _MANAGE
    ),
    "bundles": LazyCommand(
        "mosaic.cli.command_groups:bundles", "Manage the workers' virtual environments.", _MANAGE
    ),
    "daemon": LazyCommand(
        "mosaic.cli.command_groups:daemon", "Start, stop and inspect the daemon.", _MANAGE
    ),
    "doctor": LazyCommand("mosaic.cli.doctor:doctor", "Check this installation.", _MANAGE),
    "completion": LazyCommand(
        "mosaic.cli.completion:completion", "Print the completion script of a shell.", _MANAGE
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    examples=["mosaic demo", "mosaic train cleanrl_worker --algo ppo --env CartPole-v1"],
)
@click.version_option(__version__, "--version", prog_name="mosaic")
@click.pass_context
def mosaic(context: click.Context) -> int | None:
    """Play, train, watch, replay and compare reinforcement learning agents.

    Without a command, the window opens.
    """
    if context.invoked_subcommand is not None:
        return None
    from mosaic.cli.gui import become_window, find_window_problem  # noqa: PLC0415 - rarely needed

    problem = find_window_problem()
    if problem is None:
        become_window(Home.locate(context.meta.get(HOME_KEY)))
    click.echo(context.get_help())
    click.echo(f"\n{problem.message} {problem.remedy}", err=True)
    return ExitCode.FAILED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, see `ExitCode`."""
    try:
        result: Any = mosaic.main(args=arguments, prog_name="mosaic", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Interrupted.", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except UserError as error:
        _print_error(error, as_json="--json" in (sys.argv[1:] if arguments is None else arguments))
        if isinstance(error, DaemonUnreachableError):
            return ExitCode.UNREACHABLE
        return ExitCode.FAILED
    except OSError as error:
        if error.errno not in _STDOUT_ERRORS:
            raise
        # What cannot be printed now cannot be flushed at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            click.echo(f"The output cannot be written: {error.strerror}.", err=True)
        return ExitCode.FAILED
    return result if isinstance(result, int) else 0


def _print_error(error: UserError, *, as_json: bool) -> None:
    click.secho(error.message, fg="red", err=True)
    if error.remedy:
        click.echo(error.remedy, err=True)
    if as_json:
        document = {"error": error.message, "remedy": error.remedy, "code": error.code}
        click.echo(json.dumps(document))


if __name__ == "__main__":
    sys.exit(main())
