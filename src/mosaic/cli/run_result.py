"""How a run ended, as `train` and `runs watch` tell it: a few lines, or one JSON document."""

import click

from mosaic.cli import exit_codes, formats
from mosaic.cli.attendance import Attendance
from mosaic.cli.output import print_json, result_console
from mosaic.cli.runs.details import as_document
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunDetails

_LAST_LINES = 10


def tell_result(
    details: RunDetails,
    home: Home,
    *,
    interrupted: bool = False,
    as_json: bool = False,
    with_return: bool = True,
) -> int:
    """Print how the run is, and return the exit code that goes with it.

    Without its return where that was told already: the mean here is of the last episodes alone.
    """
    if as_json:
        print_json(as_document(details, home))
    else:
        _print(details, home, with_return)
    return exit_code_of(Attendance(details.run, interrupted))


def exit_code_of(attendance: Attendance) -> int:
    """0 for a run that succeeded or still goes on."""
    if attendance.interrupted:
        return exit_codes.INTERRUPTED
    state = attendance.run.state
    return exit_codes.FAILED if state.is_final and state is not RunState.SUCCEEDED else 0


def _print(details: RunDetails, home: Home, with_return: bool) -> None:
    run = details.run
    console = result_console()
    console.print(f"Run {run.run_id} {run.state}.", soft_wrap=True)
    if not run.state.is_final:
        return
    if run.reason:
        console.print(run.reason, soft_wrap=True)
    if run.remedy:
        console.print(run.remedy, soft_wrap=True)
    digest = run.digest
    numbers = [
        formats.amount(digest.steps_done, "step"),
        formats.amount(digest.episodes, "episode"),
    ]
    if with_return and digest.mean_return is not None:
        numbers.append(f"mean return {formats.real(digest.mean_return)}")
    ran_for = formats.run_time(run)
    if ran_for is not None:
        numbers.append(f"in {formats.duration(ran_for)}")
    console.print(", ".join(numbers))
    if digest.rejects:
        told = formats.amount(digest.rejects, "line")
        console.print(
            f"{told} it wrote are no events: `mosaic telemetry {formats.short_id(run.run_id)}"
            " rejects` shows them.",
            style="yellow",
            soft_wrap=True,
        )
    if run.state in (RunState.FAILED, RunState.LOST) and details.output_tail:
        console.print("Its last output:")
        for line in details.output_tail[-_LAST_LINES:]:
            console.print(f"  {line}", soft_wrap=True)
    click.echo(f"Everything is in {home.path / details.directory}")
    click.echo(f"More: `mosaic runs show {formats.short_id(run.run_id)}`")
