"""The outcome of a run: its final state and the reason."""

from typing import NamedTuple

from mosaic.contract.events import Bye
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.run_process import Exited, Lost, RunProcess

_OUT_OF_MEMORY = (
    "If it was not killed on purpose, the machine was probably out of memory: see `dmesg`, and use"
    " less (a smaller batch, fewer environments) or run fewer at once."
)
_SEE_OUTPUT = "See the last lines of its output: `mosaic runs logs`."


EXIT_NOT_RECORDED = (
    "Its worker has ended, but its supervisor does not record the exit: the disk may be full, or"
    " the supervisor may be suspended."
)
_ALL_GONE = "all its processes are gone."
_NONE_FOUND = (
    "no process of it was found, but one that left its session and cleared its environment would"
    " not be."
)


class RunOutcome(NamedTuple):
    """The final state, and why."""

    state: RunState
    reason: str
    remedy: str = ""
    exit_code: int | None = None


def outcome_of(process: RunProcess, bye: Bye | None, stop_reason: str | None) -> RunOutcome:
    """The outcome of a run whose processes are gone; `stop_reason` if the daemon stopped it."""
    if isinstance(process, Lost) and process.problem:
        return RunOutcome(
            RunState.LOST,
            f"How it ended is unknown: {process.problem}",
            "Its telemetry is stored. Start it again, from its last checkpoint if it has one.",
        )
    if not isinstance(process, Exited):
        return RunOutcome(
            RunState.LOST,
            "Its supervisor disappeared before it recorded the exit; "
            + (_ALL_GONE if isinstance(process, Lost) and process.is_end_proven else _NONE_FOUND),
            "Its telemetry is stored. Start it again, from its last checkpoint if it has one.",
        )
    record = process.exit
    finished = record.exit_code == 0 and (bye is None or bye.outcome == "succeeded")
    if stop_reason is not None and not (finished and bye is not None):
        return RunOutcome(RunState.CANCELLED, stop_reason, exit_code=record.exit_code)
    if record.error:
        return RunOutcome(
            RunState.FAILED, record.error, "Install the worker's bundle again.", record.exit_code
        )
    if record.signal is not None:
        return _by_signal(record)
    if finished:
        return RunOutcome(RunState.SUCCEEDED, "Finished.", exit_code=0)
    if bye is not None and bye.outcome == "cancelled":
        return RunOutcome(
            RunState.CANCELLED,
            "The worker was stopped by another program.",
            exit_code=record.exit_code,
        )
    error = bye.error if bye is not None and bye.error else f"exit code {record.exit_code}"
    remedy = bye.remedy if bye is not None and bye.remedy else _SEE_OUTPUT
    return RunOutcome(RunState.FAILED, f"The worker failed: {error}", remedy, record.exit_code)


def _by_signal(record: ExitRecord) -> RunOutcome:
    name = record.signal_name or f"signal {record.signal}"
    remedy = _OUT_OF_MEMORY if name == "SIGKILL" else _SEE_OUTPUT
    return RunOutcome(RunState.FAILED, f"The worker was ended by {name}.", remedy, record.exit_code)
