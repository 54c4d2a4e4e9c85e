"""`mosaic runs list`."""

import click

from mosaic.cli import formats
from mosaic.cli.completions import complete_algorithms, complete_workers
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import Cell, print_json, print_table, say, state_text
from mosaic.contract.layout import Home
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunPage, RunQuery, RunRecord

_WORDS = ("NAME", "WORKER", "ALGO", "ENV")
_NUMBERS = ("STEPS", "RETURN", "SPS", "AGE")
_COLUMNS = ("ID", "NAME", "MODE", "WORKER", "ALGO", "ENV", "STATE", *_NUMBERS)
_USUAL_MODE = "train"
_NO_RUNS = "No runs yet. Try `mosaic train echo_worker --env Echo-v0`."
_NO_MATCHES = "No run matches. `mosaic runs list --all` shows archived ones too."


@click.command("list")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in RunState]),
    help="Only runs in this state; may be given more than once.",
)
@click.option("--worker", default="", shell_complete=complete_workers, help="Only this worker's.")
@click.option("--algo", default="", shell_complete=complete_algorithms, help="Only this algorithm.")
@click.option("--env", "env_id", default="", help="Only this environment.")
@click.option("--tag", default="", help="Only runs with this tag.")
@click.option("--text", default="", help="Part of the name, id, note, worker, algorithm or env.")
@click.option("--all", "include_archived", is_flag=True, help="Archived runs too.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="How many, the newest first.",
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
    """The runs there are, newest first."""
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
    with connected(home) as client:
        page = client.runs_page(query)
    if as_json:
        print_json({"runs": page.runs, "total": page.total})
    else:
        _print(page, is_filtered=any((states, worker, algo, env_id, tag, text)))


def _print(page: RunPage, *, is_filtered: bool) -> None:
    if not page.runs:
        say(_NO_MATCHES if is_filtered else _NO_RUNS)
        return
    print_table(_COLUMNS, map(_row, page.runs), right=_NUMBERS, cut=_WORDS)
    if page.total > len(page.runs):
        say(f"{page.total - len(page.runs):,} more; --limit and the filters show others.")


def _row(run: RunRecord) -> tuple[Cell, ...]:
    digest = run.digest
    return (
        formats.short_id(run.run_id),
        run.name,
        "" if run.mode == _USUAL_MODE else run.mode,
        run.worker,
        run.algo,
        run.env_id,
        state_text(run.state + ("!" if run.warnings else "")),
        formats.count(digest.steps_done),
        formats.real(digest.mean_return),
        formats.count(digest.sps),
        formats.age(run.created_at),
    )
