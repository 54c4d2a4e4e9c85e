"""`mosaic demo`: one run of the echo worker through supervisor, spool and store."""

import sys
import time

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from mosaic.cli import exit_codes
from mosaic.cli.options import home_option, json_option
from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.decode import decode
from mosaic.contract.errors import UserError
from mosaic.contract.events import Bye, tag_of
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.run_config import TrainRunConfig, load_run_config, to_json
from mosaic.telemetry.follow import follow
from mosaic.telemetry.reader import TelemetryReader, TelemetryStats
from mosaic.telemetry.service import IngestStatus, TelemetryService
from mosaic.trainer.local_launcher import launch
from mosaic.trainer.run_ending import end_worker
from mosaic.trainer.run_process import Exited, Running, observe
from mosaic.trainer.worker_folders import find_worker

_WORKER = "echo_worker"
_STOP_GRACE_S = 5.0


class DemoResult(msgspec.Struct, kw_only=True):
    """What a finished demo tells, as a table or as JSON."""

    run_id: str
    state: str
    exit_code: int | None
    reason: str
    duration_s: float
    digest: TelemetryStats
    directory: str


@click.command()
@click.option(
    "--steps", type=click.IntRange(1), default=50_000, show_default=True, help="Steps to take."
)
@click.option(
    "--rate",
    type=click.IntRange(0),
    default=20_000,
    show_default=True,
    help="Steps a second; 0: as fast as it can.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@json_option
@home_option
def demo(home: Home, steps: int, rate: int, seed: int, as_json: bool) -> int:
    """Run the echo worker, store what it writes, and show that not a line was lost."""
    run = home.run(new_ulid())
    config = load_run_config(
        {
            "worker": _WORKER,
            "algo": "echo",
            "env_id": "Echo-v0",
            "seed": seed,
            "params": {"steps": steps, "rate": rate},
        }
    )
    _start(run, config)
    console = Console(stderr=True)
    interrupted = False
    try:
        _follow(run, steps, console)
    except KeyboardInterrupt:
        interrupted = True
        console.print("Stopping the run …")
        end_worker(run, _STOP_GRACE_S)
        _follow(run, steps, console)
    result = _result_of(run)
    if as_json:
        click.echo(msgspec.json.encode(result))
    else:
        _print_result(result)
    if interrupted:
        return exit_codes.INTERRUPTED
    return 0 if result.state == "succeeded" else exit_codes.FAILED


def _start(run: RunDirectory, config: TrainRunConfig) -> None:
    worker = find_worker(_WORKER)
    try:
        run.path.mkdir(parents=True, mode=0o700)
    except OSError as error:
        raise UserError(
            f"The run's directory {run.path} cannot be made: {error.strerror}.",
            remedy="Choose another place with --home DIR.",
        ) from error
    write_atomically(run.config, to_json(config))
    launch(run, [sys.executable, "-m", worker.manifest.module, "--config", str(run.config)])


def _follow(run: RunDirectory, steps: int, console: Console) -> None:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
    )
    with TelemetryService(run) as service, Progress(*columns, console=console) as progress:
        task = progress.add_task("Steps stored", total=steps, rate="")
        started = time.monotonic()
        blockage = None

        def show(status: IngestStatus) -> None:
            nonlocal blockage
            elapsed_s = max(time.monotonic() - started, 1e-6)
            rate = f"{status.steps / elapsed_s:,.0f}/s"
            progress.update(task, completed=status.steps, rate=rate)
            if status.blockage and status.blockage != blockage:
                console.print(f"[yellow]{status.blockage.message}[/] {status.blockage.remedy}")
            blockage = status.blockage

        follow(service, lambda: not isinstance(observe(run), Running), show)


def _result_of(run: RunDirectory) -> DemoResult:
    process = observe(run)
    with TelemetryReader(run) as reader:
        digest = reader.stats()
        byes = [decode(event.line) for event in reader.events_after(-1, tag_of(Bye))]
    bye = next((event for event in byes if isinstance(event, Bye)), None)
    record = process.exit if isinstance(process, Exited) else None
    state, reason = _how_it_ended(record, bye)
    return DemoResult(
        run_id=run.run_id,
        state=state,
        exit_code=record.exit_code if record else None,
        reason=reason,
        duration_s=record.duration_s if record else 0.0,
        digest=digest,
        directory=str(run.path),
    )


def _how_it_ended(record: ExitRecord | None, bye: Bye | None) -> tuple[str, str]:
    if record is None:
        return "lost", "The supervisor vanished before it could record the exit."
    if record.error or record.signal_name:
        return "failed", record.error or f"The worker was ended by {record.signal_name}."
    if bye is not None and bye.outcome == "cancelled":
        return "cancelled", "The worker was asked to stop."
    if record.exit_code == 0:
        return "succeeded", "The worker ended by itself."
    said = bye.error if bye is not None and bye.error else f"exit code {record.exit_code}"
    return "failed", f"The worker failed: {said}"


def _print_result(result: DemoResult) -> None:
    digest = result.digest
    table = Table(title=f"Run {result.run_id}: {result.state}", title_justify="left")
    table.add_column("stored")
    table.add_column("", justify="right")
    for name, value in (
        ("lines", f"{digest.lines:,}"),
        ("steps", f"{digest.steps:,}"),
        ("episodes", f"{digest.episodes:,}"),
        ("metric points", f"{digest.metrics:,}"),
        ("lines that are no events", f"{digest.rejects:,}"),
        ("bytes written by the worker", f"{digest.spool_bytes:,}"),
        ("of these committed", f"{digest.committed_bytes:,}"),
    ):
        table.add_row(name, value)
    console = Console()
    console.print(table)
    console.print(f"{result.reason} It ran for {result.duration_s:.1f} s.")
    console.print(f"Everything is in {result.directory}", soft_wrap=True, highlight=False)
