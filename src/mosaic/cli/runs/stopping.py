"""`mosaic runs stop`: end runs, and prove it."""

import click

from mosaic.cli import exit_codes, formats
from mosaic.cli.completions import complete_runs
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import print_json, say
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.contract.run_states import FINAL_STATES, RunState


@click.command()
@click.argument("runs", nargs=-1, shell_complete=complete_runs)
@click.option("--all", "all_runs", is_flag=True, help="Every run that is not over.")
@click.option(
    "--grace",
    "grace_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="How long a worker may take to obey the command, and again SIGTERM; then it is killed.",
)
@click.option("--reason", default="", help="Kept in the run's history.")
@json_option
@home_option
def stop(
    home: Home,
    runs: tuple[str, ...],
    all_runs: bool,
    grace_s: float | None,
    reason: str,
    as_json: bool,
) -> int:
    """End runs, with all their processes, and wait until they are over."""
    if not runs and not all_runs:
        raise click.UsageError("Name a run, or give --all.")
    failed = False
    ended = []
    with connected(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        if all_runs:
            unfinished = [state for state in RunState if state not in FINAL_STATES]
            run_ids += [run.run_id for run in client.runs(states=unfinished, include_archived=True)]
        told = []
        for run_id in dict.fromkeys(run_ids):
            try:
                if not client.run(run_id).run.state.is_final:
                    client.cancel(run_id, reason=reason, grace_s=grace_s)
                told.append(run_id)
            except UserError as error:
                say(f"{formats.short_id(run_id)}: {error.message} {error.remedy}", style="red")
                failed = True
        for run_id in told:
            record = client.wait(run_id)
            ended.append(record)
            if not as_json:
                short = formats.short_id(run_id)
                click.echo(f"{short} {record.state}: {record.reason}".rstrip(": "))
    if as_json:
        print_json({"runs": ended})
    elif not run_ids:
        say("No run is going on.")
    return exit_codes.FAILED if failed else 0
