"""How a run ended, in one state and one sentence."""

from typing import NamedTuple

from mosaic.contract.events import Bye
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.run_states import RunState
from mosaic.trainer.processes.run_process import Exited, RunProcess

_OUT_OF_MEMORY = (
    "If nobody killed it, the machine was probably out of memory: see `dmesg`, and ask for less"
    " (a smaller batch, fewer environments) or run fewer at once."
)
_SEE_OUTPUT = "The last lines of its output say more: `mosaic runs logs`."


class Outcome(NamedTuple):
    """The final state, and why."""

    state: RunState
    reason: str
    remedy: str = ""
    exit_code: int | None = None


def outcome_of(process: RunProcess, bye: Bye | None, stop_reason: str | None) -> Outcome:
    """What to record of a run whose processes are gone; `stop_reason` when we ended it."""
    if not isinstance(process, Exited):
        return Outcome(
            RunState.LOST,
            "Its supervisor vanished before it could record the exit; none of its processes lives.",
            "What it wrote is stored. Start it again, from its last checkpoint if it has one.",
        )
    record = process.exit
    finished = record.exit_code == 0 and (bye is None or bye.outcome == "succeeded")
    if stop_reason is not None and not (finished and bye is not None):
        return Outcome(RunState.CANCELLED, stop_reason, exit_code=record.exit_code)
    if record.error:
        return Outcome(
            RunState.FAILED, record.error, "Install the worker's bundle again.", record.exit_code
        )
    if record.signal is not None:
        return _by_signal(record)
    if finished:
        return Outcome(RunState.SUCCEEDED, "The worker ended by itself.", exit_code=0)
    if bye is not None and bye.outcome == "cancelled":
        return Outcome(
            RunState.CANCELLED, "The worker was stopped from outside.", exit_code=record.exit_code
        )
    said = bye.error if bye is not None and bye.error else f"exit code {record.exit_code}"
    remedy = bye.remedy if bye is not None and bye.remedy else _SEE_OUTPUT
    return Outcome(RunState.FAILED, f"The worker failed: {said}", remedy, record.exit_code)


def _by_signal(record: ExitRecord) -> Outcome:
    name = record.signal_name or f"signal {record.signal}"
    remedy = _OUT_OF_MEMORY if name == "SIGKILL" else _SEE_OUTPUT
    return Outcome(RunState.FAILED, f"The worker was ended by {name}.", remedy, record.exit_code)
