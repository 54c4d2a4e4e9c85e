"""`mosaic runs list`, `watch`, `logs`, `pause`, `resume` and `stop`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import click
import msgspec

from mosaic.cli.commands import ExitCode, command
from mosaic.cli.completion import complete_algorithms, complete_runs, complete_workers
from mosaic.cli.connection import connect, print_daemon_problems
from mosaic.cli.formatting import format_age, format_number, format_time, short_id
from mosaic.cli.options import home_option, json_option, run_argument, runs_argument
from mosaic.cli.render import Cell, print_json, print_message, print_table, state_text
from mosaic.cli.watch import print_result, print_resume_hint, watch_run
from mosaic.contract.errors import UserError
from mosaic.contract.formatting import format_count
from mosaic.contract.layout import Home
from mosaic.contract.run_events import RunEvent, StateChanged
from mosaic.contract.run_states import FINAL_STATES, RunState
from mosaic.contract.runs import RunPage, RunQuery, RunRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

StateRequest = Callable[["TrainerClient", str], RunRecord]

_TEXT_COLUMNS = ("NAME", "WORKER", "ALGO", "ENV")
_NUMBER_COLUMNS = ("STEPS", "RETURN", "SPS", "AGE")
_COLUMNS = ("ID", "NAME", "MODE", "WORKER", "ALGO", "ENV", "STATE", *_NUMBER_COLUMNS)
_OPTIONAL_COLUMNS = ("WORKER", "SPS", "MODE", "ALGO", "AGE")
_DEFAULT_MODE = "train"
_NO_RUNS = "No runs yet. Try `mosaic train echo_worker --env Echo-v0`."
_NO_MATCHES = "No run matches. `mosaic runs list --all` includes archived runs."
_STATE_CONFLICT = "T311"


@command(
    "list", examples=["mosaic runs list", "mosaic runs list --state running --env CartPole-v1"]
)
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    type=click.Choice([state.value for state in RunState]),
    help="Only runs in this state, such as running; repeatable.",
)
@click.option(
    "--worker",
    default="",
    metavar="ID",
    shell_complete=complete_workers,
    help="Only runs of this worker.",
)
@click.option(
    "--algo",
    default="",
    metavar="ID",
    shell_complete=complete_algorithms,
    help="Only runs of this algorithm.",
)
@click.option("--env", "env_id", default="", metavar="ID", help="Only runs in this environment.")
@click.option("--tag", default="", metavar="TAG", help="Only runs with this tag.")
@click.option(
    "--text", default="", help="Only runs with TEXT in name, id, note, worker, algo or env."
)
@click.option("--all", "include_archived", is_flag=True, help="Include archived runs.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    metavar="N",
    help="Maximum number of runs. Default: 20.",
)
@json_option
@home_option
def list_runs(
    home: Home,
    states: tuple[str, ...],
    worker: str,
    algo: str,
    env_id: str,
    tag: str,
    text: str,
    include_archived: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List runs, newest first."""
    query = RunQuery(
        states=tuple(map(RunState, states)),
        worker=worker,
        algo=algo,
        env_id=env_id,
        tag=tag,
        text=text,
        include_archived=include_archived,
        page_size=limit,
    )
    with connect(home) as client:
        page = client.runs_page(query)
        print_daemon_problems(client)
    if as_json:
        print_json({"runs": page.runs, "total": page.total})
    else:
        _print_page(page, is_filtered=any((states, worker, algo, env_id, tag, text)))


@command(examples=["mosaic runs watch", "mosaic runs watch --all --json"])
@click.argument("run", default="last", shell_complete=complete_runs)
@click.option("--all", "all_runs", is_flag=True, help="Print the events of all runs until Ctrl-C.")
@json_option
@home_option
def watch(home: Home, run: str, all_runs: bool, as_json: bool) -> int:
    """Watch a run until it finishes. Default: the newest.

    Ctrl-C stops watching and leaves the run alone; a second Ctrl-C stops the run. With --json, one
    document follows at the end; with --all, one JSON object per line.
    """
    with connect(home) as client:
        if all_runs:
            try:
                with client.watch() as events:
                    for event in events:
                        _print_event(event, as_json)
            except KeyboardInterrupt:
                return ExitCode.INTERRUPTED
            return 0
        run_id = client.resolve(run)
        result = watch_run(client, run_id)
        details = client.run(run_id)
        code = print_result(details, home, interrupted=result.interrupted, as_json=as_json)
        print_resume_hint(client, details)
        return code


@command(examples=["mosaic runs logs last --tail 50", "mosaic runs logs last --follow"])
@run_argument
@click.option("--follow", "-f", is_flag=True, help="Keep printing until the run finishes.")
@click.option(
    "--tail",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Show only the last N lines. Default: 0, all lines.",
)
@json_option
@home_option
def logs(home: Home, run: str, follow: bool, tail: int, as_json: bool) -> int:
    """Print the output of a run's worker, without its telemetry.

    With --json, print one document with all lines; with --follow, one JSON object per line.
    """
    with connect(home) as client:
        run_id = client.resolve(run)
        with client.logs(run_id, follow=follow, tail_lines=tail) as lines:
            if as_json and not follow:
                print_json({"run_id": run_id, "lines": list(lines)})
                return 0
            is_empty = True
            try:
                for line in lines:
                    is_empty = False
                    if as_json:
                        print_json({"run_id": run_id, "line": line})
                    else:
                        click.echo(line)
            except KeyboardInterrupt:
                return ExitCode.INTERRUPTED
            if is_empty:
                print_message("The worker has printed nothing.")
    return 0


@command(examples=["mosaic runs pause last"])
@runs_argument
@json_option
@home_option
def pause(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Pause runs. The process of a worker that does not support pausing is suspended."""
    _change_states(home, runs, lambda client, run: client.pause(run), RunState.PAUSED, as_json)


@command(examples=["mosaic runs resume last"])
@runs_argument
@json_option
@home_option
def resume(home: Home, runs: tuple[str, ...], as_json: bool) -> None:
    """Resume paused runs."""
    _change_states(home, runs, lambda client, run: client.resume(run), RunState.RUNNING, as_json)


@command(examples=["mosaic runs stop last", "mosaic runs stop --all --grace 5"])
@click.argument("runs", nargs=-1, shell_complete=complete_runs)
@click.option("--all", "all_runs", is_flag=True, help="Stop every run that has not ended.")
@click.option(
    "--grace",
    "grace_s",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Time to obey the stop command, and again SIGTERM, before SIGKILL.",
)
@click.option("--reason", default="", metavar="TEXT", help="Reason to record in the run's history.")
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
    """Stop runs with all their processes, and wait until they end."""
    if not runs and not all_runs:
        raise click.UsageError("Name a run, or give --all.")
    failed = False
    ended = []
    with connect(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        if all_runs:
            unfinished = [state for state in RunState if state not in FINAL_STATES]
            run_ids += [run.run_id for run in client.runs(states=unfinished, include_archived=True)]
        stopping = []
        for run_id in dict.fromkeys(run_ids):
            try:
                if not client.run(run_id).run.state.is_final:
                    client.cancel(run_id, reason=reason, grace_s=grace_s)
                stopping.append(run_id)
            except UserError as error:
                print_message(f"{short_id(run_id)}: {error.message} {error.remedy}", style="red")
                failed = True
        for run_id in stopping:
            record = client.wait(run_id)
            ended.append(record)
            if not as_json:
                click.echo(f"{short_id(run_id)} {record.state}: {record.reason}".rstrip(": "))
    if as_json:
        print_json({"runs": ended})
    elif not run_ids:
        print_message("No run is active.")
    return ExitCode.FAILED if failed else 0


def _print_page(page: RunPage, *, is_filtered: bool) -> None:
    if not page.runs:
        print_message(_NO_MATCHES if is_filtered else _NO_RUNS)
        return
    print_table(
        _COLUMNS,
        map(_row, page.runs),
        right=_NUMBER_COLUMNS,
        cut=_TEXT_COLUMNS,
        hide=_OPTIONAL_COLUMNS,
    )
    if page.total > len(page.runs):
        print_message(f"{page.total - len(page.runs):,} more; use --limit or the filters.")


def _row(run: RunRecord) -> tuple[Cell, ...]:
    digest = run.digest
    return (
        short_id(run.run_id),
        run.name,
        "" if run.mode == _DEFAULT_MODE else run.mode,
        run.worker,
        run.algo,
        run.env_id,
        state_text(run.state + ("!" if run.warnings else "")),
        format_count(digest.steps_done),
        format_number(digest.mean_return),
        format_count(digest.sps),
        format_age(run.created_at),
    )


def _print_event(event: RunEvent, as_json: bool) -> None:
    kind = type(event.what).__struct_config__.tag
    if as_json:
        what = msgspec.to_builtins(event.what)
        what.pop("manifest_json", None)
        print_json({**msgspec.to_builtins(event), "type": kind, "what": what})
        return
    text = str(kind)
    if isinstance(event.what, StateChanged):
        text = f"{event.what.change.state} {event.what.change.reason}".rstrip()
    click.echo(f"{format_time(event.t)}  {short_id(event.run_id)}  {text}")


def _change_states(
    home: Home,
    runs: tuple[str, ...],
    request: StateRequest,
    state: RunState,
    as_json: bool,
) -> None:
    """Request the state of all runs, and print their states."""
    with connect(home) as client:
        run_ids = [client.resolve(run) for run in runs]
        records = [_change_state(client, run_id, request, state) for run_id in run_ids]
    if as_json:
        print_json({"runs": records})
        return
    for record in records:
        click.echo(f"{short_id(record.run_id)} {record.state}: {record.reason}".rstrip(": "))


def _change_state(
    client: "TrainerClient", run_id: str, request: StateRequest, state: RunState
) -> RunRecord:
    try:
        return request(client, run_id)
    except UserError as error:
        if error.code != _STATE_CONFLICT or client.run(run_id).run.state is not state:
            raise
        raise UserError(
            f"Run {short_id(run_id)} is already {state}.",
            remedy="There is nothing to do.",
            code=error.code,
        ) from error
