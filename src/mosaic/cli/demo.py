"""`mosaic demo`: an agent learns to cross a frozen lake, through the daemon.

If the agent's bundle cannot be installed, the echo worker runs instead, which needs only Python.
"""

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli.bundles import install_bundle
from mosaic.cli.commands import ExitCode, command
from mosaic.cli.connection import connect
from mosaic.cli.formatting import run_duration_s, short_id
from mosaic.cli.gui import become_window, find_window_problem
from mosaic.cli.options import home_option, json_option
from mosaic.cli.render import print_fields, print_json, print_message, result_console
from mosaic.cli.watch import follow_run
from mosaic.client.demo_run import find_missing_bundle, make_echo_demo, make_learning_demo
from mosaic.contract.episodes import TelemetryStats
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_config import load_run_config
from mosaic.contract.run_states import RunState

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


class DemoResult(msgspec.Struct, kw_only=True):
    """The result of a demo, for a table or JSON."""

    run_id: str
    state: RunState
    exit_code: int | None
    reason: str
    duration_s: float
    digest: TelemetryStats
    directory: str


@command(examples=["mosaic demo", "mosaic demo --echo --steps 2000"])
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=20_000,
    metavar="N",
    help="Stop after N steps. Default: 20000.",
)
@click.option(
    "--rate",
    type=click.IntRange(0),
    default=1_500,
    metavar="N",
    help="Steps per second; 0 means unlimited. Default: 1500.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=1, metavar="N", help="Random seed. Default: 1."
)
@click.option("--echo", "is_echo", is_flag=True, help="Use the echo worker, which needs no bundle.")
@click.option(
    "--window/--no-window",
    "opens_window",
    default=None,
    help="Open the run in the window afterwards. Default: if possible.",
)
@json_option
@home_option
def demo(
    home: Home,
    steps: int,
    rate: int,
    seed: int,
    is_echo: bool,
    opens_window: bool | None,
    as_json: bool,
) -> int:
    """Watch an agent learn, show that its telemetry is stored completely, and open the window.

    A BDI agent learns to cross FrozenLake; the first time, its bundle is installed. Ctrl-C stops
    the run. The daemon keeps running afterwards.
    """
    if opens_window and (problem := find_window_problem()) is not None:
        raise problem
    interrupted = False
    with connect(home, start=True) as client:
        make_run = make_learning_demo if not is_echo and _prepare_agent(client) else make_echo_demo
        config = load_run_config(make_run(steps=steps, rate=rate, seed=seed))
        run_id = client.submit(config).run_id
        try:
            run = follow_run(client, run_id)
        except KeyboardInterrupt:
            interrupted = True
            print_message("Stopping the run …")
            client.cancel(run_id, reason="Stopped with Ctrl-C.")
            run = client.wait(run_id)
        result = DemoResult(
            run_id=run_id,
            state=run.state,
            exit_code=run.exit_code,
            reason=run.reason,
            duration_s=run_duration_s(run) or 0.0,
            digest=client.stats(run_id),
            directory=str(home.run(run_id).path),
        )
    if as_json:
        print_json(result)
    else:
        _print(result)
    if interrupted:
        return ExitCode.INTERRUPTED
    if result.state is not RunState.SUCCEEDED:
        return ExitCode.FAILED
    if opens_window is None:
        opens_window = not as_json and sys.stdout.isatty() and find_window_problem() is None
    if opens_window:
        print_message("Opening the window. Close it or press Ctrl-C to return.")
        become_window(home, "--run", run_id)
    return 0


def _prepare_agent(client: "TrainerClient") -> bool:
    """Install the agent's bundle if it is missing. Prints why if that fails, and returns False."""
    try:
        bundle = find_missing_bundle(client)
        if not bundle:
            return True
        print_message(
            "Installing the agent's bundle. This takes a minute or two, only the first time."
        )
        install_bundle(client, bundle)
    except UserError as error:
        print_message(
            f"The agent cannot run here: {error.message} {error.remedy}".rstrip(), style="yellow"
        )
        print_message("Using the echo worker instead, which needs only Python.")
        return False
    return True


def _print(result: DemoResult) -> None:
    digest = result.digest
    console = result_console()
    console.print(f"Run {result.run_id} {result.state}.", soft_wrap=True)
    stats = {
        "lines": digest.lines,
        "steps": digest.steps,
        "episodes": digest.episodes,
        "metric points": digest.metrics,
        "lines that failed to parse": digest.rejects,
        "bytes written by the worker": digest.spool_bytes,
        "bytes stored": digest.committed_bytes,
    }
    print_fields((f"  {name}", f"{number:>12,}") for name, number in stats.items())
    console.print(f"{result.reason} Duration: {result.duration_s:.1f} s.", soft_wrap=True)
    console.print(f"Run directory: {result.directory}", soft_wrap=True)
    short = short_id(result.run_id)
    console.print(f"More: `mosaic runs show {short}` or `mosaic telemetry {short} steps`.")
