"""`mosaic demo`: an agent learns to cross a frozen lake, through the daemon, down to the last byte.

Where its bundle cannot be installed, the echo worker takes its place, which needs Python alone.
"""

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import follow
from mosaic.cli.bundle_installation import install_bundle
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_fields, print_json, result_console, say
from mosaic.cli.window import become_window, why_no_window
from mosaic.client.demo_run import find_missing_bundle, make_echo_demo, make_learning_demo
from mosaic.contract.episodes import TelemetryStats
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


class DemoResult(msgspec.Struct, kw_only=True):
    """What a finished demo tells, as a table or as JSON."""

    run_id: str
    state: RunState
    exit_code: int | None
    reason: str
    duration_s: float
    digest: TelemetryStats
    directory: str


@click.command()
@click.option(
    "--steps", type=click.IntRange(1), default=20_000, show_default=True, help="Steps to take."
)
@click.option(
    "--rate",
    type=click.IntRange(0),
    default=1_500,
    show_default=True,
    help="Steps a second, so that it can be watched; 0: as fast as it can.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of everything random."
)
@click.option("--echo", "is_echo", is_flag=True, help="With the worker that needs no bundle.")
@click.option(
    "--window/--no-window",
    "shows_window",
    default=None,
    help="Open the run in the window at the end. Default: when there is a display and a terminal.",
)
@json_option
@home_option
def demo(
    home: Home,
    steps: int,
    rate: int,
    seed: int,
    is_echo: bool,
    shows_window: bool | None,
    as_json: bool,
) -> int:
    """Watch an agent learn, store what it tells, show that not a line was lost, open the window.

    A BDI agent learns to cross FrozenLake; the first time, its bundle is installed.
    Ctrl-C stops the run. The daemon that it starts stays for whatever comes next.
    """
    if shows_window and (problem := why_no_window()) is not None:
        raise problem
    interrupted = False
    with connected(home, start=True) as client:
        made = make_learning_demo if not is_echo and _agent_is_ready(client) else make_echo_demo
        config = load_run_config(made(steps=steps, rate=rate, seed=seed))
        run_id = client.submit(config).run_id
        try:
            run = follow(client, run_id)
        except KeyboardInterrupt:
            interrupted = True
            say("Stopping the run …")
            client.cancel(run_id, reason="Stopped with Ctrl-C.")
            run = client.wait(run_id)
        result = DemoResult(
            run_id=run_id,
            state=run.state,
            exit_code=run.exit_code,
            reason=run.reason,
            duration_s=formats.run_time(run) or 0.0,
            digest=client.stats(run_id),
            directory=str(home.run(run_id).path),
        )
    if as_json:
        print_json(result)
    else:
        _print(result)
    if interrupted:
        return exit_codes.INTERRUPTED
    if result.state is not RunState.SUCCEEDED:
        return exit_codes.FAILED
    if shows_window is None:
        shows_window = not as_json and sys.stdout.isatty() and why_no_window() is None
    if shows_window:
        say("The window opens now; close it to come back, or press Ctrl-C.")
        become_window(home, "--run", run_id)
    return 0


def _agent_is_ready(client: "TrainerClient") -> bool:
    """Installs the agent's bundle if need be; says why when that fails."""
    try:
        bundle = find_missing_bundle(client)
        if not bundle:
            return True
        say("The agent's bundle is installed first, which takes a minute or two, once.")
        install_bundle(client, bundle)
    except UserError as error:
        say(f"The agent cannot run here: {error.message} {error.remedy}".rstrip(), style="yellow")
        say("The echo worker takes its place, which needs Python alone.")
        return False
    return True


def _print(result: DemoResult) -> None:
    digest = result.digest
    console = result_console()
    console.print(f"Run {result.run_id} {result.state}.", soft_wrap=True)
    figures = {
        "lines": digest.lines,
        "steps": digest.steps,
        "episodes": digest.episodes,
        "metric points": digest.metrics,
        "lines that are no events": digest.rejects,
        "bytes written by the worker": digest.spool_bytes,
        "bytes of these stored": digest.committed_bytes,
    }
    print_fields((f"  {name}", f"{number:>12,}") for name, number in figures.items())
    console.print(f"{result.reason} It ran for {result.duration_s:.1f} s.", soft_wrap=True)
    console.print(f"Everything is in {result.directory}", soft_wrap=True)
    short = formats.short_id(result.run_id)
    console.print(
        f"Look closer with `mosaic runs show {short}` or `mosaic telemetry {short} steps`."
    )
