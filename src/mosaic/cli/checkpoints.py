"""`mosaic checkpoints`: list, show, import, verify and delete saved policies."""

import itertools
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mosaic.cli.assignments import parse_assignments, parse_json_or_text
from mosaic.cli.checkpoint_reference import (
    checkpoint_argument,
    checkpoints_argument,
    find_checkpoint,
)
from mosaic.cli.commands import ExitCode, command
from mosaic.cli.completion import complete_environments, complete_runs, complete_workers
from mosaic.cli.connection import connect
from mosaic.cli.formatting import format_age, format_time, pluralize, short_id
from mosaic.cli.options import confirm_deletion, home_option, json_option, yes_option
from mosaic.cli.render import (
    Cell,
    print_fields,
    print_json,
    print_message,
    print_table,
    result_console,
)
from mosaic.client.sessions.session_requests import SCRIPT_MODEL_TEXT, is_script_model
from mosaic.contract.formatting import format_count, format_size
from mosaic.contract.layout import Home
from mosaic.contract.storage import CheckpointRecord

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_COLUMNS = ("ID", "RUN", "FILE", "ALGO", "ENV", "STEP", "SIZE", "AGE")
_TEXT_COLUMNS = ("RUN", "FILE", "ENV")
_NUMBER_COLUMNS = ("STEP", "SIZE", "AGE")
_OPTIONAL_COLUMNS = ("SIZE", "AGE", "ALGO", "STEP")


@command("list", examples=["mosaic checkpoints list", "mosaic checkpoints list --env CartPole-v1"])
@click.option(
    "--run",
    default="",
    metavar="RUN",
    shell_complete=complete_runs,
    help="Only checkpoints of this run.",
)
@click.option(
    "--worker",
    default="",
    metavar="ID",
    shell_complete=complete_workers,
    help="Only checkpoints of this worker.",
)
@click.option("--algo", default="", metavar="ID", help="Only checkpoints of this algorithm.")
@click.option(
    "--env", "env_id", default="", metavar="ID", help="Only checkpoints for this environment."
)
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=100,
    metavar="N",
    help="Maximum number of checkpoints. Default: 100.",
)
@json_option
@home_option
def list_checkpoints(
    home: Home, run: str, worker: str, algo: str, env_id: str, limit: int, as_json: bool
) -> None:
    """List checkpoints, newest first: saved by runs, and imported ones."""
    with connect(home) as client:
        run_id = client.resolve(run) if run else ""
        matching = client.checkpoints(run_id=run_id, worker=worker, algo=algo, env_id=env_id)
        records = list(itertools.islice(matching, limit + 1))
        listed = records[:limit]
        names = {} if as_json else _run_names(client, listed)
    if as_json:
        print_json({"checkpoints": [_document(checkpoint, home) for checkpoint in listed]})
    elif not listed:
        is_filtered = any((run, worker, algo, env_id))
        print_message("No checkpoint matches." if is_filtered else "No checkpoints yet.")
    else:
        rows = [_row(checkpoint, names.get(checkpoint.run_id, "")) for checkpoint in listed]
        print_table(
            _COLUMNS, rows, right=_NUMBER_COLUMNS, cut=_TEXT_COLUMNS, hide=_OPTIONAL_COLUMNS
        )
    if len(records) > limit:
        print_message("There are more; use --limit or the filters.")


@command(examples=["mosaic checkpoints show last"])
@checkpoint_argument
@json_option
@home_option
def show(home: Home, checkpoint: str, as_json: bool) -> None:
    """Show everything about one checkpoint: its file, its run and its metadata."""
    with connect(home) as client:
        record = find_checkpoint(client, checkpoint)
    if as_json:
        print_json(_document(record, home))
        return
    meta = _meta(record)
    result_console().print(PurePosixPath(record.path).name, style="bold", soft_wrap=True)
    print_fields(
        [
            ("id", record.checkpoint_id),
            ("source", record.source),
            ("run", record.run_id),
            ("worker", record.worker),
            ("algorithm", record.algo),
            ("environment", record.env_id),
            ("file", str(home.path / record.path)),
            ("size", format_size(record.size_bytes)),
            ("saved", format_time(record.t)),
            *((name, _to_text(value)) for name, value in sorted(meta.items())),
        ]
    )
    if is_script_model(record):
        print_message(SCRIPT_MODEL_TEXT)
        return
    print_message(
        f"Use it: `mosaic evaluate {record.checkpoint_id}`,"
        f" `mosaic play {record.env_id or 'ENV'} --actor {record.checkpoint_id}`."
    )


@command(
    "import",
    examples=["mosaic checkpoints import policy.pt --worker cleanrl_worker --env CartPole-v1"],
)
@click.argument(
    "files",
    metavar="FILE…",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--worker",
    required=True,
    metavar="ID",
    shell_complete=complete_workers,
    help="Worker that loads them.",
)
@click.option(
    "--env",
    "env_id",
    required=True,
    metavar="ID",
    shell_complete=complete_environments,
    help="Environment they were trained in.",
)
@click.option("--algo", default="", metavar="ID", help="Algorithm they were trained with.")
@click.option(
    "--meta", multiple=True, metavar="NAME=VALUE", help="Metadata to store with them; repeatable."
)
@json_option
@home_option
def import_files(
    home: Home,
    files: tuple[Path, ...],
    worker: str,
    env_id: str,
    algo: str,
    meta: tuple[str, ...],
    as_json: bool,
) -> None:
    """Import the policies in FILE…, to play, evaluate or train with."""
    metadata = {
        name: parse_json_or_text(text) for name, text in parse_assignments(meta, "--meta").items()
    }
    with connect(home, start=True) as client:
        imported = [
            client.import_checkpoint(file, worker=worker, env_id=env_id, algo=algo, meta=metadata)
            for file in files
        ]
    if as_json:
        print_json({"checkpoints": [_document(checkpoint, home) for checkpoint in imported]})
        return
    for file, checkpoint in zip(files, imported, strict=True):
        size = format_size(checkpoint.size_bytes)
        click.echo(f"{checkpoint.checkpoint_id}  {file.name}  {size}")


@command(examples=["mosaic checkpoints verify last"])
@checkpoints_argument
@json_option
@home_option
def verify(home: Home, references: tuple[str, ...], as_json: bool) -> int:
    """Verify that files still have the size and content that were saved.

    The exit code is 1 if one differs or is missing.
    """
    with connect(home) as client:
        ids = [find_checkpoint(client, reference).checkpoint_id for reference in references]
        reports = {checkpoint_id: client.verify_checkpoint(checkpoint_id) for checkpoint_id in ids}
    all_ok = all(report.ok for report in reports.values())
    if as_json:
        documents = [
            {"checkpoint_id": checkpoint_id, **msgspec.to_builtins(report)}
            for checkpoint_id, report in reports.items()
        ]
        print_json({"ok": all_ok, "checkpoints": documents})
    else:
        for checkpoint_id, report in reports.items():
            intact = f"intact, {format_size(report.size_bytes)}"
            click.echo(f"{checkpoint_id}  {intact if report.ok else ' '.join(report.problems)}")
    return 0 if all_ok else ExitCode.FAILED


@command(examples=["mosaic checkpoints delete last", "mosaic checkpoints delete last --yes"])
@checkpoints_argument
@yes_option
@json_option
@home_option
def delete(home: Home, references: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Delete checkpoints permanently. Those that an unfinished run needs are kept."""
    with connect(home) as client:
        checkpoints = {
            checkpoint.checkpoint_id: checkpoint
            for checkpoint in (find_checkpoint(client, reference) for reference in references)
        }
        if not yes:
            for checkpoint in checkpoints.values():
                name = PurePosixPath(checkpoint.path).name
                click.echo(f"{checkpoint.checkpoint_id}  {name}  {checkpoint.env_id}", err=True)
            confirm_deletion()
        freed_bytes = sum(client.delete_checkpoint(checkpoint_id) for checkpoint_id in checkpoints)
    if as_json:
        print_json({"deleted": list(checkpoints), "freed_bytes": freed_bytes})
    else:
        count = pluralize(len(checkpoints), "checkpoint")
        click.echo(f"Deleted {count}, {format_size(freed_bytes)} freed.")


def _document(checkpoint: CheckpointRecord, home: Home) -> dict[str, Any]:
    """Return the checkpoint as one JSON object with its metadata."""
    document: dict[str, Any] = msgspec.to_builtins(checkpoint)
    del document["meta_json"]
    return {**document, "file": str(home.path / checkpoint.path), "meta": _meta(checkpoint)}


def _run_names(client: "TrainerClient", checkpoints: Iterable[CheckpointRecord]) -> dict[str, str]:
    """Return the names of the runs that saved them; the short id of a run without a name."""
    run_ids = {checkpoint.run_id for checkpoint in checkpoints if checkpoint.run_id}
    names: dict[str, str] = {}
    for run in client.runs(include_archived=True) if run_ids else ():
        if run.run_id in run_ids:
            names[run.run_id] = run.name or short_id(run.run_id)
            if len(names) == len(run_ids):
                break
    return names


def _row(checkpoint: CheckpointRecord, run: str) -> tuple[Cell, ...]:
    step = _meta(checkpoint).get("step")
    return (
        _short_checkpoint_id(checkpoint.checkpoint_id),
        run,
        PurePosixPath(checkpoint.path).name,
        checkpoint.algo or checkpoint.worker,
        checkpoint.env_id,
        format_count(step) if isinstance(step, (int, float)) else "",
        format_size(checkpoint.size_bytes),
        format_age(checkpoint.t),
    )


def _short_checkpoint_id(checkpoint_id: str) -> str:
    """Shorten the run's part of the id: two runs may save files of the same name."""
    run_id, dot, name = checkpoint_id.partition(".")
    return f"{short_id(run_id)}{dot}{name}"


def _meta(checkpoint: CheckpointRecord) -> dict[str, Any]:
    meta = msgspec.json.decode(checkpoint.meta_json)
    return meta if isinstance(meta, dict) else {}


def _to_text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
