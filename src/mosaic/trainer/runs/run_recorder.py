"""RunRecorder: records the states of one run in the registry, and the outcome at its end."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import NamedTuple, ParamSpec, TypeVar

from mosaic.contract.errors import UserError
from mosaic.contract.events import Bye
from mosaic.contract.process_records import ExitRecord
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.processes.run_process import Exited, Lost, RunProcess
from mosaic.trainer.registry.errors import StateConflictError, UnknownRunError
from mosaic.trainer.runs.run_files import last_lines, remove_frames
from mosaic.trainer.runs.run_monitor import RunMonitor
from mosaic.trainer.runs.run_services import RunServices

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_log = logging.getLogger(__name__)

_RETRY_S = 2.0
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


class RunRecorder:
    """`state` is the state that was recorded last.

    All methods except `read` and `apply` retry: a full disk delays a record, and never loses it.
    They raise only `StateConflictError` and `UnknownRunError`.
    """

    def __init__(self, services: RunServices, record: RunRecord, monitor: RunMonitor) -> None:
        self.state = record.state
        self._run_id = record.run_id
        self._run = services.home.run(record.run_id)
        self._services = services
        self._monitor = monitor

    async def read(self) -> RunRecord:
        """Return the record in the registry."""
        return await run_in_thread(self._services.registry.get, self._run_id)

    async def apply(self, change: Awaitable[RunRecord]) -> RunRecord:
        """Wait for a change of the record, and set `state` to the new one."""
        record = await change
        self.state = record.state
        return record

    async def record_running(self, started_at: float | None) -> None:
        try:
            record = await self._retry(
                self._services.registry.transition,
                self._run_id,
                {RunState.PREPARING},
                RunState.RUNNING,
                "",
                started_at=started_at,
            )
            self.state = record.state
        except StateConflictError as conflict:  # a stop was requested while it was starting
            self.state = conflict.current

    async def record_cancelled_start(self) -> None:
        """Record that it was stopped before it had a process."""
        await self._retry(self._transition, RunState.CANCELLED, (await self.read()).reason)

    async def record_failed_start(self, error: UserError) -> None:
        if (await self.read()).state is RunState.STOPPING:
            await self.record_cancelled_start()
        else:
            await self._retry(self._transition, RunState.FAILED, error.message, error.remedy)

    async def record_end(self, process: RunProcess, *, is_stored: bool) -> None:
        """Record the outcome of a run whose processes are gone."""
        await self._retry(self._record_end, process, is_stored=is_stored)

    async def record_final_digest(self) -> None:
        """Record the digest of a finished run again, after the rest of it was stored."""
        await self._retry(self._monitor.record_final)

    def _record_end(self, process: RunProcess, *, is_stored: bool) -> None:
        remove_frames(self._run)
        self._monitor.warn("stalled", "")
        self._monitor.warn("end", "")
        self._monitor.record_final()
        if is_stored and isinstance(process, Exited):
            self._monitor.check_completeness(process.exit.spool_bytes)
        record = self._services.registry.get(self._run_id)
        stop_reason = record.reason if record.state is RunState.STOPPING else None
        outcome = outcome_of(process, self._monitor.bye, stop_reason)
        redact = self._services.secrets.redact
        self._transition(
            outcome.state,
            redact(outcome.reason),
            redact(outcome.remedy),
            outcome.exit_code,
            process.exit.t if isinstance(process, Exited) else None,
        )

    def _transition(
        self,
        state: RunState,
        reason: str,
        remedy: str = "",
        exit_code: int | None = None,
        ended_at: float | None = None,
    ) -> None:
        record = self._services.registry.transition(
            self._run_id,
            LIVE_STATES,
            state,
            reason,
            remedy=remedy,
            exit_code=exit_code,
            output_tail=tuple(map(self._services.secrets.redact, last_lines(self._run))),
            ended_at=ended_at,
        )
        self.state = record.state
        self._services.commits.notify(self._run_id)  # wakes streams that follow it to its end
        _log.info("T306 run %s %s: %s", self._run_id, state, reason)

    async def _retry(
        self,
        call: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        while True:
            try:
                return await run_in_thread(call, *args, **kwargs)
            except (StateConflictError, UnknownRunError):
                raise
            except UserError as error:
                _log.warning("T308 %s cannot be recorded yet: %s", self._run_id, error)
                await asyncio.sleep(_RETRY_S)


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
