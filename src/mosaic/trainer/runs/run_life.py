"""RunLife: one run from its start, or from its adoption after a restart, to its final state.

Lives on the event loop; whatever blocks goes to a thread. The registry holds the state and the
run's directory the truth about its processes, so that a life can be cut off at any moment and be
taken up again by the next daemon.
"""

import asyncio
import itertools
import logging
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from mosaic.contract.control import ControlCommand
from mosaic.contract.errors import UserError
from mosaic.contract.layout import CHECKPOINT_VARIABLE, RunDirectory
from mosaic.contract.readiness import InstallProgress
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import LIVE_STATES, RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.artifacts.output_tail import last_lines
from mosaic.trainer.concurrency import in_long_thread, in_thread
from mosaic.trainer.machine.gpus import visible_devices
from mosaic.trainer.processes.launcher import GPUS_VARIABLE
from mosaic.trainer.processes.run_ending import Grace
from mosaic.trainer.processes.run_process import Exited, NotStarted, Running, RunProcess
from mosaic.trainer.registry.failures import StateConflictError, UnknownRunError
from mosaic.trainer.runs.admission import Grant
from mosaic.trainer.runs.frame_removal import remove_frames
from mosaic.trainer.runs.outcome import outcome_of
from mosaic.trainer.runs.run_checkpoint import checkpoint_of
from mosaic.trainer.runs.run_files import LaunchRecord, write_config
from mosaic.trainer.runs.run_lease import RunLease
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.runs.run_pausing import RunPausing
from mosaic.trainer.runs.run_watch import RunWatch

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_log = logging.getLogger(__name__)

_STORE_PATIENCE_S = 30.0
_RETRY_S = 2.0


class RunLife:
    """Made for a run that is `preparing` or later, and not final."""

    def __init__(
        self, parts: RunParts, record: RunRecord, config: TrainRunConfig, grant: Grant
    ) -> None:
        self.run_id = record.run_id
        self.config = config
        self.grant = grant
        self.state = record.state
        self.is_stored = True
        """False at the end of a run whose last lines something was in the way of."""
        self.watch = RunWatch(
            parts.home.run(record.run_id),
            config,
            parts.registry,
            parts.ingest,
            parts.settings.stalled_after_s,
            parts.secrets.redact,
        )
        self._parts = parts
        self._run: RunDirectory = parts.home.run(record.run_id)
        self._install_cancelled = threading.Event()
        self._install_progress: InstallProgress | None = None
        self._has_process = False
        self._grace = Grace(float("inf"))
        self._ending: asyncio.Task[None] | None = None
        # Grows over restarts of the daemon too.
        self._next_seq = itertools.count(time.time_ns() // 1_000_000).__next__
        self._pausing = RunPausing(parts, config.worker, self._run, self.watch, self.send)
        self._lease = RunLease(
            record,
            config.lease_s,
            pause=lambda why: self._changed(self._pausing.pause(why)),
            resume=lambda why: self._changed(self._pausing.resume(why)),
            stop=lambda why: self.stop(why, parts.settings.stop_grace_s),
        )

    @property
    def digest(self) -> RunStats:
        """The newest numbers; while packages are installed, how many of them are."""
        progress = self._install_progress
        if progress is None or not progress.total or self._has_process:
            return self.watch.digest
        return RunStats(
            progress_done=float(progress.done),
            progress_total=float(progress.total),
            progress_unit="packages",
        )

    async def begin(self) -> None:
        """From `preparing` to the end."""
        try:
            command, environment = await in_long_thread(self._prepare)
            if await self._state_now() is RunState.STOPPING:
                await self._insist(self._transition, RunState.CANCELLED, await self._stop_reason())
                return
            process = await in_long_thread(
                self._parts.launcher.start, self._run, command, environment
            )
        except UserError as error:
            await self._never_started(error)
            return
        self._has_process = True
        started_at = process.started.t if isinstance(process, Running) else None
        await self._note_running(started_at)
        _log.info("T304 run %s started", self.run_id)
        await self._follow()

    async def adopt(self) -> None:
        """Take up a run that has been started, whatever became of it meanwhile."""
        self._has_process = True
        self.state = await self._state_now()
        process = await in_thread(self._parts.launcher.status, self._run)
        if isinstance(process, Running):
            if self.state is RunState.PREPARING:
                await self._note_running(process.started.t)
            if self.state is RunState.RUNNING:
                await self._note_pause_found()
        await self._follow()

    async def take_up_again(self) -> None:
        """After a failure of ours: go on from what the directory and the registry say."""
        self.state = await self._state_now()
        if self.state.is_final:
            return
        process = await in_thread(self._parts.launcher.status, self._run)
        if isinstance(process, NotStarted) and not await in_thread(
            self._parts.launcher.is_being_started, self._run
        ):
            await self.begin()
        else:
            await self.adopt()

    def cancel_preparation(self) -> None:
        self._install_cancelled.set()

    def call_off(self) -> None:
        """The daemon goes: leave everything as it is to the next one."""
        self.cancel_preparation()
        self._grace.call_off()

    def end_now(self, grace_s: float) -> None:
        """Have the processes ended, in the background. Asked again, it can only become quicker."""
        self.cancel_preparation()
        self._grace.hurry(grace_s)
        if self._has_process and self._ending is None:
            self._ending = asyncio.create_task(self._end())

    async def stop(self, reason: str, grace_s: float) -> RunRecord:
        """Into `stopping`; the end follows by itself."""
        record = await in_thread(
            self._parts.registry.transition,
            self.run_id,
            {RunState.PREPARING, RunState.RUNNING, RunState.PAUSED},
            RunState.STOPPING,
            reason,
        )
        self.state = record.state
        self.end_now(grace_s)
        return record

    async def pause(self) -> RunRecord:
        self._lease.renew()
        return await self._changed(self._pausing.pause())

    async def resume(self) -> RunRecord:
        self._lease.renew(is_resumed=True)
        return await self._changed(self._pausing.resume())

    async def follow_worker(self) -> None:
        """Record when the worker paused or went on by itself, as of the last look."""
        with suppress(StateConflictError, UnknownRunError):
            record = await self._pausing.follow_worker()
            self.state = self.state if record is None else record.state

    async def hold(self) -> None:
        """A client is there; means nothing to a run without a lease."""
        await self._lease.hold()

    def send(self, command_of: Callable[[int], ControlCommand]) -> int:
        """Hand the worker the command that is made with the next number, which is returned."""
        command = command_of(self._next_seq())
        self._parts.launcher.send(self._run, command)
        return command.seq

    def look(self) -> RunStats:
        """Bring numbers, manifest and warnings up to date. Blocking."""
        return self.watch.look(may_stall=self.state is RunState.RUNNING)

    def _prepare(self) -> tuple[tuple[str, ...], dict[str, str]]:
        parts, config = self._parts, self.config
        if not self._run.config.is_file():  # whoever submits it may not have come to that yet
            write_config(parts.home, self._run, config)
        prepared = parts.bundles.prepare(
            config.worker,
            config.bundle,
            config.script,
            on_progress=self._on_install_progress,
            cancelled=self._install_cancelled,
        )
        credentials = parts.catalog.describe(config.worker).needs.credentials
        checkpoint = checkpoint_of(config, parts.checkpoints)
        environment = {
            **parts.secrets.without_secrets(os.environ),
            **prepared.environment(config.python_path),
            **parts.secrets.for_worker(config, credentials),
            **visible_devices(
                [gpu for gpu in parts.machine.gpus() if gpu.index in self.grant.gpus]
            ),
            GPUS_VARIABLE: ",".join(map(str, self.grant.gpus)),
            **({CHECKPOINT_VARIABLE: str(checkpoint.absolute())} if checkpoint else {}),
        }
        command = prepared.command(self._run.config)
        parts.registry.set_launch(self.run_id, command, prepared.use)
        LaunchRecord(command=command, bundle=prepared.use).write(self._run.launch)
        return command, environment

    def _on_install_progress(self, progress: InstallProgress) -> None:
        self._install_progress = progress
        self._parts.commits.notify(self.run_id)

    async def _follow(self) -> None:
        """Until nothing of the run lives, and all that it wrote is stored."""
        self._parts.ingest.follow(self._run)
        if self.state is RunState.STOPPING:
            asked_s = self._grace.seconds
            self.end_now(self._parts.settings.stop_grace_s if math.isinf(asked_s) else asked_s)
        limits = [asyncio.create_task(self._enforce_time_limit())]
        if self.config.lease_s is not None:
            limits.append(asyncio.create_task(self._lease.keep()))
        try:
            await self._parts.launcher.ended(self._run)
            process = await self._settled()
        finally:
            for limit in limits:
                limit.cancel()
        await self._conclude(process)

    async def _settled(self) -> RunProcess:
        while True:
            try:
                process = await in_thread(self._parts.launcher.settle, self._run)
            except UserError as error:
                await in_thread(self.watch.warn, "end", str(error))
            else:
                if not isinstance(process, Running):
                    return process
            await asyncio.sleep(_RETRY_S)

    async def _conclude(self, process: RunProcess) -> None:
        self.is_stored = await self._parts.ingest.finish(self._run, _STORE_PATIENCE_S)
        await self._insist(self._record_end, process)
        self.watch.close()
        if not self.is_stored:
            _log.warning("T305 run %s ended before all of it could be stored", self.run_id)

    async def store_the_rest(self) -> None:
        """Of a run that is over: wait until nothing is in the way of its last lines any more."""
        await self._parts.ingest.finish(self._run, patience_s=None)
        await self._insist(self._record_numbers)
        self.watch.close()

    def _record_numbers(self) -> None:
        digest = self.watch.look(may_stall=False, final=True)
        self._parts.registry.set_digests({self.run_id: digest})

    def _record_end(self, process: RunProcess) -> None:
        registry = self._parts.registry
        remove_frames(self._run)
        self.watch.warn("stalled", "")
        self.watch.warn("end", "")
        self._record_numbers()
        record = registry.get(self.run_id)
        stop_reason = record.reason if record.state is RunState.STOPPING else None
        outcome = outcome_of(process, self.watch.bye, stop_reason)
        ended_at = process.exit.t if isinstance(process, Exited) else None
        final = registry.transition(
            self.run_id,
            LIVE_STATES,
            outcome.state,
            self._parts.secrets.redact(outcome.reason),
            remedy=self._parts.secrets.redact(outcome.remedy),
            exit_code=outcome.exit_code,
            output_tail=tuple(map(self._parts.secrets.redact, last_lines(self._run))),
            ended_at=ended_at,
        )
        self.state = final.state
        self._parts.commits.notify(self.run_id)  # those who follow it to its end
        _log.info("T306 run %s %s: %s", self.run_id, outcome.state, outcome.reason)

    async def _never_started(self, error: UserError) -> None:
        if await self._state_now() is RunState.STOPPING:
            await self._insist(self._transition, RunState.CANCELLED, await self._stop_reason())
        else:
            await self._insist(self._transition, RunState.FAILED, error.message, error.remedy)

    def _transition(self, to: RunState, reason: str, remedy: str = "") -> None:
        tail = tuple(map(self._parts.secrets.redact, last_lines(self._run)))
        record = self._parts.registry.transition(
            self.run_id, LIVE_STATES, to, reason, remedy=remedy, output_tail=tail
        )
        self.state = record.state
        self._parts.commits.notify(self.run_id)
        _log.info("T306 run %s %s: %s", self.run_id, to, reason)

    async def _note_running(self, started_at: float | None) -> None:
        try:
            record = await self._insist(
                self._parts.registry.transition,
                self.run_id,
                {RunState.PREPARING},
                RunState.RUNNING,
                "",
                started_at=started_at,
            )
            self.state = record.state
        except StateConflictError as conflict:  # asked to stop while it was starting
            self.state = conflict.current

    async def _note_pause_found(self) -> None:
        """A daemon may have gone between pausing the run and recording that."""
        await in_thread(self.watch.look, may_stall=False)
        is_frozen = await in_thread(self._parts.launcher.is_frozen, self._run)
        if is_frozen or self.watch.status.word == "paused":
            with suppress(StateConflictError):
                await self._changed(self._pausing.note_pause_found())

    async def _end(self) -> None:
        try:
            await in_long_thread(self._parts.launcher.end, self._run, self._grace, self._next_seq())
        except UserError as error:
            _log.warning("T307 run %s could not be ended: %s", self.run_id, error)
            await in_thread(self.watch.warn, "end", str(error))
        finally:
            self._ending = None

    async def _enforce_time_limit(self) -> None:
        limit_s = self.config.time_limit_s
        while limit_s is not None:
            try:
                left_s = limit_s - await in_thread(self._pausing.time_at_work)
                if left_s <= 0:
                    reason = f"Its time limit of {limit_s:g} s was reached."
                    await self.stop(reason, self._parts.settings.stop_grace_s)
                    return
            except (StateConflictError, UnknownRunError):
                return
            except UserError as error:
                _log.warning("T156 the time limit of %s cannot be kept: %s", self.run_id, error)
                left_s = _RETRY_S
            await asyncio.sleep(min(left_s, _RETRY_S) if self.state is RunState.PAUSED else left_s)

    async def _changed(self, change: Awaitable[RunRecord]) -> RunRecord:
        record = await change
        self.state = record.state
        return record

    async def _state_now(self) -> RunState:
        return (await in_thread(self._parts.registry.get, self.run_id)).state

    async def _stop_reason(self) -> str:
        return (await in_thread(self._parts.registry.get, self.run_id)).reason

    async def _insist(
        self,
        call: Callable[Parameters, Result],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result:
        """Until the registry has it: a full disk delays what is to be recorded, never loses it."""
        while True:
            try:
                return await in_thread(call, *args, **kwargs)
            except (StateConflictError, UnknownRunError):
                raise
            except UserError as error:
                _log.warning("T308 %s cannot be recorded yet: %s", self.run_id, error)
                await asyncio.sleep(_RETRY_S)
