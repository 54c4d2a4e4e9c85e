"""`mosaic telemetry RUN …`: what a run has told, straight from its store. Needs no daemon."""

import click

from mosaic.cli.completions import complete_runs
from mosaic.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = {
    "stats": LazyCommand("mosaic.cli.telemetry_views:stats", "How much is stored."),
    "steps": LazyCommand("mosaic.cli.telemetry_views:steps", "Steps, of an episode or in order."),
    "episodes": LazyCommand("mosaic.cli.telemetry_views:episodes", "Episodes in numbers."),
    "metrics": LazyCommand("mosaic.cli.telemetry_views:metrics", "Curves, or one of them."),
    "rejects": LazyCommand("mosaic.cli.telemetry_views:rejects", "Lines that are no events."),
}

RUN_KEY = "mosaic.run"
"""Where in a context's `meta` the run is kept for the command."""


@click.group(cls=LazyGroup, lazy=_COMMANDS)
@click.argument("run", shell_complete=complete_runs)
@click.pass_context
def telemetry(ctx: click.Context, run: str) -> None:
    """Read what RUN has told: `mosaic telemetry last stats`."""
    ctx.meta[RUN_KEY] = run
