"""`mosaic checkpoints list` and `show`."""

import itertools
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli import formats
from mosaic.cli.checkpoints.reference import checkpoint_argument, find_checkpoint
from mosaic.cli.completions import complete_runs, complete_workers
from mosaic.cli.connecting import connected
from mosaic.cli.options import home_option, json_option
from mosaic.cli.output import Cell, print_fields, print_json, print_table, result_console, say
from mosaic.client.script_models import ONLY_ITS_SCRIPT, is_of_script
from mosaic.contract.layout import Home
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_COLUMNS = ("ID", "RUN", "FILE", "ALGO", "ENV", "STEP", "SIZE", "AGE")
_WORDS = ("RUN", "FILE", "ENV")
_NUMBERS = ("STEP", "SIZE", "AGE")


@click.command("list")
@click.option("--run", default="", shell_complete=complete_runs, help="Only what this run saved.")
@click.option("--worker", default="", shell_complete=complete_workers, help="Only this worker's.")
@click.option("--algo", default="", help="Only this algorithm's.")
@click.option("--env", "env_id", default="", help="Only for this environment.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="How many, the newest first.",
)
@json_option
@home_option
def list_checkpoints(
    home: Home, run: str, worker: str, algo: str, env_id: str, limit: int, as_json: bool
) -> None:
    """The checkpoints there are, newest first: of runs, and imported ones."""
    with connected(home) as client:
        run_id = client.resolve(run) if run else ""
        matching = client.checkpoints(run_id=run_id, worker=worker, algo=algo, env_id=env_id)
        found = list(itertools.islice(matching, limit + 1))
        shown = found[:limit]
        names = {} if as_json else _names_of_runs(client, shown)
    if as_json:
        print_json({"checkpoints": [as_document(each, home) for each in shown]})
    elif not shown:
        is_filtered = any((run, worker, algo, env_id))
        say("No checkpoint matches." if is_filtered else "No run has saved a checkpoint yet.")
    else:
        rows = [_row(each, names.get(each.run_id, "")) for each in shown]
        print_table(_COLUMNS, rows, right=_NUMBERS, cut=_WORDS)
    if len(found) > limit:
        say("There are more; --limit and the filters show others.")


@click.command()
@checkpoint_argument
@json_option
@home_option
def show(home: Home, checkpoint: str, as_json: bool) -> None:
    """Everything about one checkpoint: where it is, what made it, and what its maker says of it."""
    with connected(home) as client:
        found = find_checkpoint(client, checkpoint)
    if as_json:
        print_json(as_document(found, home))
        return
    meta = _meta(found)
    result_console().print(PurePosixPath(found.path).name, style="bold", soft_wrap=True)
    print_fields(
        [
            ("id", found.checkpoint_id),
            ("source", found.source),
            ("run", found.run_id),
            ("worker", found.worker),
            ("algorithm", found.algo),
            ("environment", found.env_id),
            ("file", str(home.path / found.path)),
            ("size", formats.size(found.size_bytes)),
            ("saved", formats.moment(found.t)),
            *((name, _told(value)) for name, value in sorted(meta.items())),
        ]
    )
    if is_of_script(found):
        say(ONLY_ITS_SCRIPT)
        return
    say(
        f"Use it: `mosaic evaluate {found.checkpoint_id}`,"
        f" `mosaic play {found.env_id or 'ENV'} --actor {found.checkpoint_id}`."
    )


def as_document(checkpoint: CheckpointRecord, home: Home) -> dict[str, Any]:
    """The checkpoint as one JSON object, its metadata with it."""
    document: dict[str, Any] = msgspec.to_builtins(checkpoint)
    del document["meta_json"]
    return {**document, "file": str(home.path / checkpoint.path), "meta": _meta(checkpoint)}


def _names_of_runs(
    client: "TrainerClient", checkpoints: Iterable[CheckpointRecord]
) -> dict[str, str]:
    """What the runs that saved them are called; the short id of one without a name."""
    wanted = {each.run_id for each in checkpoints if each.run_id}
    names: dict[str, str] = {}
    for run in client.runs(include_archived=True) if wanted else ():
        if run.run_id in wanted:
            names[run.run_id] = run.name or formats.short_id(run.run_id)
            if len(names) == len(wanted):
                break
    return names


def _row(checkpoint: CheckpointRecord, run: str) -> tuple[Cell, ...]:
    step = _meta(checkpoint).get("step")
    return (
        _short(checkpoint.checkpoint_id),
        run,
        PurePosixPath(checkpoint.path).name,
        checkpoint.algo or checkpoint.worker,
        checkpoint.env_id,
        formats.count(step) if isinstance(step, (int, float)) else "",
        formats.size(checkpoint.size_bytes),
        formats.age(checkpoint.t),
    )


def _short(checkpoint_id: str) -> str:
    """As much of the end of the id as tells it from others: two runs may save the same part."""
    run_id, dot, part = checkpoint_id.partition(".")
    return f"{formats.short_id(run_id)}{dot}{part}"


def _meta(checkpoint: CheckpointRecord) -> dict[str, Any]:
    meta = msgspec.json.decode(checkpoint.meta_json)
    return meta if isinstance(meta, dict) else {}


def _told(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
