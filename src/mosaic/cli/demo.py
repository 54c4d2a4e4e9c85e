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
from mosaic.telemetry.failures import Blockage
from mosaic.telemetry.follow import follow
from mosaic.telemetry.reader import TelemetryReader, TelemetryStats
from mosaic.telemetry.service import IngestStatus, TelemetryService
from mosaic.trainer.processes.local_launcher import launch
from mosaic.trainer.processes.run_ending import end_worker, settle_lost
from mosaic.trainer.processes.run_process import Exited, NotStarted, Running, observe
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
@click.option(
    "--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random rewards."
)
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
    console = Console(stderr=True)
    interrupted = False
    try:
        _start(run, config)
        _follow(run, steps, console)
    except KeyboardInterrupt:
        interrupted = True
        console.print("Stopping the run …")
        if isinstance(end_worker(run, _STOP_GRACE_S), NotStarted):
            console.print("It had not started yet.")
            return exit_codes.INTERRUPTED
        _store_the_rest(run, console)
    result = _result_of(run, interrupted)
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
                _print_blockage(status.blockage, console)
            blockage = status.blockage

        # A run is lost only when nothing of it lives any more; until then it may write.
        follow(service, lambda: not isinstance(settle_lost(run), Running), show)


def _store_the_rest(run: RunDirectory, console: Console) -> None:
    with TelemetryService(run) as service:
        blockage = None if service.finish() else service.status().blockage
    if blockage:
        _print_blockage(blockage, console)


def _print_blockage(blockage: Blockage, console: Console) -> None:
    console.print(f"{blockage.message}. {blockage.remedy}", style="yellow", markup=False)


def _result_of(run: RunDirectory, interrupted: bool) -> DemoResult:
    process = observe(run)
    with TelemetryReader(run) as reader:
        digest = reader.stats()
        byes = [decode(event.line) for event in reader.events_after(-1, tag_of(Bye))]
    bye = next((event for event in byes if isinstance(event, Bye)), None)
    record = process.exit if isinstance(process, Exited) else None
    state, reason = _how_it_ended(record, bye)
    if interrupted and state != "succeeded":
        state, reason = "cancelled", "The worker was stopped."
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
        return "cancelled", "The worker was stopped."
    if record.exit_code == 0:
        return "succeeded", "The worker ended by itself."
    said = bye.error if bye is not None and bye.error else f"exit code {record.exit_code}"
    return "failed", f"The worker failed: {said}"


def _print_result(result: DemoResult) -> None:
    digest = result.digest
    figures = Table.grid(padding=(0, 3))
    figures.add_column()
    figures.add_column(justify="right")
    for name, value in (
        ("lines", digest.lines),
        ("steps", digest.steps),
        ("episodes", digest.episodes),
        ("metric points", digest.metrics),
        ("lines that are no events", digest.rejects),
        ("bytes written by the worker", digest.spool_bytes),
        ("bytes of these stored", digest.committed_bytes),
    ):
        figures.add_row(f"  {name}", f"{value:,}")
    console = Console()
    for part in (
        f"Run {result.run_id} {result.state}.",
        figures,
        f"{result.reason} It ran for {result.duration_s:.1f} s.",
        f"Everything is in {result.directory}",
    ):
        console.print(part, soft_wrap=True, highlight=False, markup=False)
