"""RunPausing: pauses and resumes a run, and measures its running time without pauses."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from mosaic.contract.control import ControlCommand, Pause, Resume
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import StartedRecord
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.processes.run_process import Running
from mosaic.trainer.registry.errors import StateConflictError
from mosaic.trainer.runs.run_monitor import RunMonitor
from mosaic.trainer.runs.run_services import RunServices

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def age_s(started: StartedRecord) -> float:
    """Seconds since the worker was started, by the kernel's clock, in the same boot."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started.start_ticks / _TICKS_PER_S


_CONFIRM_TIMEOUT_S = 5.0

Send = Callable[[Callable[[int], ControlCommand]], int]


class RunPausing:
    """Pauses one run. Calls are executed one after the other."""

    def __init__(
        self, services: RunServices, worker: str, run: RunDirectory, monitor: RunMonitor, send: Send
    ) -> None:
        self._services = services
        self._worker = worker
        self._run = run
        self._monitor = monitor
        self._send = send
        self._lock = asyncio.Lock()
        self._paused_at: float | None = None
        self._handled_seq = -1
        """The last `status` line of the worker that the run's record reflects."""

    async def pause(self, reason: str = "") -> RunRecord:
        """By a command if the worker supports it, otherwise by SIGSTOP."""
        async with self._lock:
            await self._expect(RunState.RUNNING, RunState.PAUSED)
            how = "The worker is waiting."
            if not (await self._can_pause() and await self._pause_by_command()):
                await run_in_thread(self._services.launcher.signal, self._run, signal.SIGSTOP)
                how = "Its processes were suspended."
            try:
                record = await self._move(
                    RunState.RUNNING, RunState.PAUSED, f"{reason} {how}".strip()
                )
            except UserError:
                # Suspended, it could not react to a stop command; and a pause that is not recorded
                # could not be resumed.
                await run_in_thread(self._services.launcher.signal, self._run, signal.SIGCONT)
                raise
            self._paused_at = _now()
            self._handled_seq = self._monitor.status.seq
            return record

    async def resume(self, reason: str = "") -> RunRecord:
        async with self._lock:
            await self._expect(RunState.PAUSED, RunState.RUNNING)
            # An earlier daemon may have paused it: that line was handled already.
            await run_in_thread(self._monitor.refresh, may_stall=False)
            self._handled_seq = max(self._handled_seq, self._monitor.status.seq)
            await run_in_thread(self._services.launcher.signal, self._run, signal.SIGCONT)
            if await self._can_pause():
                await run_in_thread(self._send, lambda seq: Resume(seq=seq))
            await run_in_thread(self._add_current_pause)
            return await self._move(RunState.PAUSED, RunState.RUNNING, reason or "It was resumed.")

    async def record_found_pause(self) -> RunRecord:
        """Record the pause of a run that an earlier daemon paused without recording it."""
        self._paused_at = _now()
        self._handled_seq = self._monitor.status.seq
        return await self._move(
            RunState.RUNNING, RunState.PAUSED, "It was paused by an earlier daemon."
        )

    async def follow_worker(self) -> RunRecord | None:
        """Record a pause or resume by the worker itself: a session pauses if its actor fails."""
        if self._monitor.status.seq <= self._handled_seq:
            return None
        async with self._lock:
            status = self._monitor.status
            if status.seq <= self._handled_seq:
                return None
            self._handled_seq = status.seq
            if status.state == "paused":
                reason = status.reason or "The worker paused itself."
                record = await self._move(RunState.RUNNING, RunState.PAUSED, reason)
                self._paused_at = _now()
                return record
            if status.state == "running":
                await run_in_thread(self._add_current_pause)
                return await self._move(
                    RunState.PAUSED, RunState.RUNNING, "The worker resumed on its own."
                )
            return None

    def running_time_s(self) -> float:
        """Seconds since its start without pauses; 0 without a process. Blocking."""
        process = self._services.launcher.status(self._run)
        if not isinstance(process, Running):
            return 0.0
        paused_s = self._services.registry.paused_seconds(self._run.run_id)
        return age_s(process.started) - paused_s - self._current_pause_s(process)

    def _add_current_pause(self) -> None:
        process = self._services.launcher.status(self._run)
        if isinstance(process, Running):
            registry, run_id = self._services.registry, self._run.run_id
            paused_s = registry.paused_seconds(run_id) + self._current_pause_s(process)
            registry.set_paused_seconds(run_id, paused_s)
        self._paused_at = None

    def _current_pause_s(self, process: Running) -> float:
        """How long the run has been paused; 0 when it is not."""
        details = self._services.registry.details(self._run.run_id)
        if details.run.state is not RunState.PAUSED:
            return 0.0
        if self._paused_at is not None:
            return _now() - self._paused_at
        # Paused under an earlier daemon: only the wall clock is known, limited to plausible values.
        return min(max(0.0, time.time() - details.history[-1].t), age_s(process.started))

    async def _can_pause(self) -> bool:
        try:
            descriptor = await run_in_thread(self._services.catalog.describe, self._worker)
        except UserError:
            return False
        return descriptor.supports.pause

    async def _pause_by_command(self) -> bool:
        """Send the pause command; returns whether the worker confirms it in time."""
        before = self._monitor.status.seq
        deadline = time.monotonic() + _CONFIRM_TIMEOUT_S
        with self._services.commits.listen(self._run.run_id) as committed:
            try:
                await run_in_thread(self._send, lambda seq: Pause(seq=seq))
            except UserError:
                return False
            while (left_s := deadline - time.monotonic()) > 0:
                committed.clear()
                await run_in_thread(self._monitor.refresh, may_stall=False)
                status = self._monitor.status
                if status.seq > before and status.state == "paused":
                    return True
                with suppress(TimeoutError):
                    await asyncio.wait_for(committed.wait(), left_s)
        return False

    async def _expect(self, state: RunState, target: RunState) -> None:
        record = await run_in_thread(self._services.registry.get, self._run.run_id)
        if record.state is not state:
            raise StateConflictError(self._run.run_id, record.state, target)

    async def _move(self, expected: RunState, to: RunState, reason: str) -> RunRecord:
        return await run_in_thread(
            self._services.registry.transition, self._run.run_id, {expected}, to, reason
        )


def _now() -> float:
    """A clock that is not affected by changes of the wall clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
