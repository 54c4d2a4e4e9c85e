"""`mosaic runs`: the commands there are."""

import click

from mosaic.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = {
    "list": LazyCommand("mosaic.cli.runs.listing:list_runs", "The runs there are, newest first."),
    "show": LazyCommand("mosaic.cli.runs.details:show", "Everything about one run."),
    "watch": LazyCommand("mosaic.cli.runs.watching:watch", "Watch a run until it is over."),
    "logs": LazyCommand("mosaic.cli.runs.logs:logs", "What a run's worker has printed."),
    "pause": LazyCommand("mosaic.cli.runs.steering:pause", "Let runs stand still."),
    "resume": LazyCommand("mosaic.cli.runs.steering:resume", "Let paused runs go on."),
    "stop": LazyCommand("mosaic.cli.runs.stopping:stop", "End runs and wait until they are over."),
    "tag": LazyCommand("mosaic.cli.runs.labels:tag", "Add tags to a run, or take them away."),
    "note": LazyCommand("mosaic.cli.runs.labels:note", "Write a note on a run."),
    "rename": LazyCommand("mosaic.cli.runs.labels:rename", "Give a run another name."),
    "archive": LazyCommand("mosaic.cli.runs.labels:archive", "Leave runs out of lists."),
    "export": LazyCommand("mosaic.cli.runs.archives:export", "Write a run into one file."),
    "import": LazyCommand("mosaic.cli.runs.archives:import_run", "Take in an exported run."),
    "delete": LazyCommand("mosaic.cli.runs.deleting:delete", "Remove runs and all their files."),
}


@click.group(cls=LazyGroup, lazy=_COMMANDS)
def runs() -> None:
    """List, show, watch, steer and keep runs.

    RUN is a run's id, its beginning or its end (lists show the last eight letters), its name, or
    `last`.
    """
