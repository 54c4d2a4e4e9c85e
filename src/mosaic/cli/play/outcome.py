"""How playing went: a table of the episodes, what became of the run, and the exit code."""

from typing import TYPE_CHECKING

import msgspec

from mosaic.cli import formats
from mosaic.cli.attendance import Attendance
from mosaic.cli.output import print_json, say
from mosaic.cli.play.results import print_results, read_results
from mosaic.cli.run_result import exit_code_of, tell_result
from mosaic.cli.runs.details import as_document
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient


def tell_outcome(
    client: "TrainerClient",
    home: Home,
    ending: Attendance,
    actor: str | None,
    *,
    was_quit: bool = False,
    as_json: bool,
) -> int:
    """Print it; the exit code. A person who quits has not failed.

    `actor` is who acted where no step says so; None: who did is told already, and always the same.
    """
    details = client.run(ending.run.run_id)
    results = read_results(client, ending.run.run_id)
    if as_json:
        print_json(as_document(details, home) | msgspec.to_builtins(results))
    else:
        if results.episodes or details.run.state not in (RunState.FAILED, RunState.LOST):
            print_results(results, actor)
        tell_result(details, home, with_return=results.summary.returns is None)
        if results.episodes:
            seen = f"{formats.short_id(details.run.run_id)} {results.episodes[-1].episode}"
            say(f"See it again: `mosaic replay {seen} --mp4 FILE`; --verify proves it.")
    if was_quit and details.run.state is RunState.CANCELLED and not ending.interrupted:
        return 0
    return exit_code_of(Attendance(details.run, ending.interrupted))
