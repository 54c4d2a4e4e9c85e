"""Dry runs: the worker validates a configuration with its real entry point, without training.

Called by the service for `DryRun`, on a thread, with an installed worker.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.contract.readiness import DryRunReport
from mosaic.contract.run_config import TrainRunConfig, to_json
from mosaic.trainer.bundles.bundle_store import PreparedWorker
from mosaic.trainer.processes.process_environment import worker_environment
from mosaic.trainer.processes.watched_process import CommandResult, run_bounded

_LIMIT_S = 60.0
_OPTIONS = ("--dry-run", "--emit-summary")
_CANNOT_EXECUTE = 127
_PREFIX = "[mosaic]"
"""Prefix of lines that the worker did not write itself, as in a run's log."""


def dry_run(
    config: TrainRunConfig,
    prepared: PreparedWorker,
    environment: Mapping[str, str],
    *,
    run_config: Path = Path("<run directory>", "config.json"),
    redact: Callable[[str], str] = lambda text: text,
    limit_s: float = _LIMIT_S,
) -> DryRunReport:
    """Run the worker as a run would be, in a temporary directory, with `--dry-run --emit-summary`.

    `environment` is that of the run's worker, including secrets; `run_config` is the path that the
    run's configuration would have. A worker that fails, hangs or prints no summary gives a report
    that is not ok, never an exception. Raises `UserError` when the disk is full.
    """
    started = time.monotonic()
    with _temporary_run() as run:
        try:
            run.config.write_bytes(to_json(config))
        except OSError as error:
            raise _no_room(error) from error
        command = (*prepared.command(run.config), *_OPTIONS)
        result = _run(
            command,
            worker_environment(run, {**environment, **prepared.environment(config.python_path)}),
            run.path,
            limit_s,
        )
    summary = _summary(result.output)
    return DryRunReport(
        ok=result.exit_code == 0 and summary is not None,
        exit_code=result.exit_code,
        output=redact(_text(result.output)),
        error_output=redact(_text(result.error_output) + _remarks(result, summary, limit_s)),
        command=tuple(map(redact, command)),
        summary_json=None if summary is None else redact(summary.decode()).encode(),
        duration_s=time.monotonic() - started,
        run_command=tuple(map(redact, prepared.command(run_config))),
    )


@contextmanager
def _temporary_run() -> Iterator[RunDirectory]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="mosaic-dry-run-", ignore_cleanup_errors=True)
    except OSError as error:
        raise _no_room(error) from error
    with folder as path:
        # The worker uses its folder's name as the run's id.
        run = RunDirectory(Path(path).resolve() / new_ulid())
        run.path.mkdir()
        yield run


def _run(
    command: tuple[str, ...], environment: Mapping[str, str], folder: Path, limit_s: float
) -> CommandResult:
    try:
        return run_bounded(command, limit_s=limit_s, environment=environment, folder=folder)
    except OSError as error:
        message = (
            f"{_PREFIX} {command[0]} cannot be executed: {error.strerror}. Repair the bundle.\n"
        )
        return CommandResult(_CANNOT_EXECUTE, b"", message.encode())


def _summary(output: bytes) -> bytes | None:
    """The JSON object that the worker printed last; libraries may have printed before it."""
    start = 0 if output.startswith(b"{") else output.rfind(b"\n{") + 1
    try:
        parsed = msgspec.json.decode(output[start:])
    except msgspec.DecodeError:
        return None
    return msgspec.json.encode(parsed) if isinstance(parsed, dict) else None


def _remarks(result: CommandResult, summary: bytes | None, limit_s: float) -> str:
    remarks = []
    if result.is_output_truncated or result.is_error_output_truncated:
        remarks.append("The rest of its output was truncated.")
    if result.timed_out:
        remarks.append(f"It did not finish within {limit_s:g} s and was killed.")
    elif result.exit_code == 0 and summary is None:
        remarks.append("It printed no summary, which --dry-run --emit-summary requires.")
    lines = "".join(f"{_PREFIX} {remark}\n" for remark in remarks)
    written = result.error_output
    return ("\n" if lines and written and not written.endswith(b"\n") else "") + lines


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")


def _no_room(error: OSError) -> UserError:
    return UserError(
        f"No temporary directory can be created for the dry run: {error.strerror}.",
        remedy="Free some space for temporary files, or set TMPDIR to another folder.",
        code="T346",
    )
