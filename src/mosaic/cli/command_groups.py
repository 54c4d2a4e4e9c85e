"""The groups below `mosaic`, and the summary of each of their commands."""

import importlib
from typing import TYPE_CHECKING

import click

from mosaic.cli.commands import DefaultCommandGroup, LazyCommand, LazyGroup, StandaloneGroup

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

RUN_KEY = "mosaic.run"
"""Key of RUN in a context's `meta`, for the commands of `mosaic telemetry RUN`."""

_RUNS = {
    "list": LazyCommand("mosaic.cli.runs:list_runs", "List runs, newest first."),
    "show": LazyCommand("mosaic.cli.run_details:show", "Show everything about one run."),
    "watch": LazyCommand("mosaic.cli.runs:watch", "Watch a run until it finishes."),
    "logs": LazyCommand("mosaic.cli.runs:logs", "Print the output of a run's worker."),
    "pause": LazyCommand("mosaic.cli.runs:pause", "Pause runs."),
    "resume": LazyCommand("mosaic.cli.runs:resume", "Resume paused runs."),
    "stop": LazyCommand("mosaic.cli.runs:stop", "Stop runs and wait until they end."),
    "tag": LazyCommand("mosaic.cli.run_edits:tag", "Add tags to a run or remove them."),
    "note": LazyCommand("mosaic.cli.run_edits:note", "Write a note on a run."),
    "rename": LazyCommand("mosaic.cli.run_edits:rename", "Rename a run."),
    "archive": LazyCommand("mosaic.cli.run_edits:archive", "Hide runs from lists."),
    "export": LazyCommand("mosaic.cli.run_edits:export", "Export a run to one file."),
    "import": LazyCommand("mosaic.cli.run_edits:import_run", "Import an exported run."),
    "delete": LazyCommand("mosaic.cli.run_edits:delete", "Delete runs and all their files."),
}
_CHECKPOINTS = {
    "list": LazyCommand(
        "mosaic.cli.checkpoints:list_checkpoints", "List checkpoints, newest first."
    ),
    "show": LazyCommand("mosaic.cli.checkpoints:show", "Show everything about one checkpoint."),
    "import": LazyCommand("mosaic.cli.checkpoints:import_files", "Import checkpoint files."),
    "verify": LazyCommand("mosaic.cli.checkpoints:verify", "Verify that files are intact."),
    "delete": LazyCommand("mosaic.cli.checkpoints:delete", "Delete checkpoints permanently."),
}
_SWEEP = {
    "start": LazyCommand(
        "mosaic.cli.sweep:start", "Start a hyperparameter search; the default command."
    ),
    "show": LazyCommand("mosaic.cli.sweep:show", "Show the trials of a sweep or a study."),
}
_WORKERS = {
    "show": LazyCommand("mosaic.cli.workers:show", "Show all workers or one; the default command."),
    "new": LazyCommand("mosaic.cli.workers:new", "Create a worker from a template."),
}
_BUNDLES = {
    "list": LazyCommand("mosaic.cli.bundles:list_bundles", "List bundles, installed or not."),
    "install": LazyCommand("mosaic.cli.bundles:install", "Install or repair a bundle."),
    "remove": LazyCommand("mosaic.cli.bundles:remove", "Remove a bundle that no run uses."),
}
_DAEMON = {
    "start": LazyCommand("mosaic.cli.daemon:start", "Start the daemon in the background."),
    "run": LazyCommand("mosaic.cli.daemon:run", "Run the daemon in the foreground."),
    "stop": LazyCommand("mosaic.cli.daemon:stop", "Stop the daemon; runs keep running."),
    "status": LazyCommand("mosaic.cli.daemon:status", "Show daemon status."),
}
_TELEMETRY = {
    "stats": LazyCommand("mosaic.cli.telemetry:stats", "Show how much is stored."),
    "steps": LazyCommand("mosaic.cli.telemetry:steps", "List steps."),
    "episodes": LazyCommand("mosaic.cli.telemetry:episodes", "List episodes."),
    "metrics": LazyCommand("mosaic.cli.telemetry:metrics", "List metrics, or one curve's points."),
    "rejects": LazyCommand("mosaic.cli.telemetry:rejects", "List lines that failed to parse."),
}


@click.group(
    cls=LazyGroup,
    lazy=_RUNS,
    examples=["mosaic runs list", "mosaic runs watch last"],
)
def runs() -> None:
    """List, inspect, control and export runs.

    RUN is a run's id, the beginning or the end of its id (lists show the last eight characters),
    its name, or `last`.
    """


@click.group(
    cls=LazyGroup,
    lazy=_CHECKPOINTS,
    examples=["mosaic checkpoints list", "mosaic checkpoints show last"],
)
def checkpoints() -> None:
    """Manage checkpoints: policies that runs saved, and imported ones.

    CKPT is a checkpoint's id, the beginning or the end of its id, or a run, which means the run's
    newest checkpoint.
    """


@click.group(
    cls=DefaultCommandGroup,
    lazy=_SWEEP,
    default="start",
    examples=["mosaic sweep cleanrl_worker --algo ppo --env CartPole-v1", "mosaic sweep show last"],
)
def sweep() -> None:
    """Search for the best hyperparameters, and show the trials.

    `mosaic sweep WORKER` is short for `mosaic sweep start WORKER`; `mosaic sweep start --help`
    lists its options.
    """


@click.group(
    cls=StandaloneGroup,
    lazy=_WORKERS,
    default="show",
    invoke_without_command=True,
    examples=["mosaic workers", "mosaic workers cleanrl_worker"],
)
def workers() -> None:
    """Show the workers that can train, or create one.

    `mosaic workers` lists all of them, `mosaic workers WORKER` shows one. `mosaic workers show
    --help` lists the options.
    """


@click.group(
    cls=LazyGroup,
    lazy=_BUNDLES,
    examples=["mosaic bundles list", "mosaic bundles install cleanrl_worker"],
)
def bundles() -> None:
    """Manage bundles: the virtual environments that workers run in.

    A run installs the bundle of its worker if it is missing.
    """


@click.group(
    cls=LazyGroup,
    lazy=_DAEMON,
    examples=["mosaic daemon status", "mosaic daemon stop"],
)
def daemon() -> None:
    """Manage the daemon, the process that starts runs and stores their telemetry.

    There is one daemon per home.
    """


def _complete_runs(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    completion = importlib.import_module("mosaic.cli.completion")
    items: list[CompletionItem] = completion.complete_runs(ctx, parameter, incomplete)
    return items


@click.group(
    cls=LazyGroup,
    lazy=_TELEMETRY,
    examples=["mosaic telemetry last stats", "mosaic telemetry last metrics"],
)
@click.argument("run", shell_complete=_complete_runs)
@click.pass_context
def telemetry(ctx: click.Context, run: str) -> None:
    """Read the telemetry of RUN from its store. Works without a daemon."""
    ctx.meta[RUN_KEY] = run
