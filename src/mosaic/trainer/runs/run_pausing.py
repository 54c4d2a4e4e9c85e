"""Pausing a run and letting it go on, and how long it has been at work."""

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from mosaic.contract.control import ControlCommand, Pause, Resume
from mosaic.contract.errors import UserError
from mosaic.contract.layout import RunDirectory
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.processes.run_process import Running
from mosaic.trainer.registry.failures import StateConflictError
from mosaic.trainer.runs.process_age import age_s
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.runs.run_watch import RunWatch

_CONFIRM_S = 5.0

Send = Callable[[Callable[[int], ControlCommand]], int]


class RunPausing:
    """Of one run. The calls of one run come one after the other."""

    def __init__(
        self, parts: RunParts, worker: str, run: RunDirectory, watch: RunWatch, send: Send
    ) -> None:
        self._parts = parts
        self._worker = worker
        self._run = run
        self._watch = watch
        self._send = send
        self._one_at_a_time = asyncio.Lock()
        self._paused_at: float | None = None
        self._followed = -1
        """The last of the worker's `status` lines that the record of the run accounts for."""

    async def pause(self, why: str = "") -> RunRecord:
        """By a command if the worker can, else by stopping its processes where they stand."""
        async with self._one_at_a_time:
            await self._expect(RunState.RUNNING, RunState.PAUSED)
            how = "The worker waits."
            if not (await self._can_pause() and await self._pauses_itself()):
                await in_thread(self._parts.launcher.signal, self._run, signal.SIGSTOP)
                how = "Its processes were frozen where they stood."
            try:
                record = await self._move(RunState.RUNNING, RunState.PAUSED, f"{why} {how}".strip())
            except UserError:
                # Frozen it could not obey when it is to stop meanwhile; and a pause that cannot be
                # recorded could not be ended, either.
                await in_thread(self._parts.launcher.signal, self._run, signal.SIGCONT)
                raise
            self._paused_at = _now()
            self._followed = self._watch.status.seq
            return record

    async def resume(self, why: str = "") -> RunRecord:
        async with self._one_at_a_time:
            await self._expect(RunState.PAUSED, RunState.RUNNING)
            # An earlier daemon may have paused it: that line of the worker is no news.
            await in_thread(self._watch.look, may_stall=False)
            self._followed = max(self._followed, self._watch.status.seq)
            await in_thread(self._parts.launcher.signal, self._run, signal.SIGCONT)
            if await self._can_pause():
                await in_thread(self._send, lambda seq: Resume(seq=seq))
            await in_thread(self._count_this_pause)
            return await self._move(RunState.PAUSED, RunState.RUNNING, why or "It was resumed.")

    async def note_pause_found(self) -> RunRecord:
        """Of a run that an earlier daemon paused without living to record it."""
        self._paused_at = _now()
        self._followed = self._watch.status.seq
        return await self._move(RunState.RUNNING, RunState.PAUSED, "It was found paused.")

    async def follow_worker(self) -> RunRecord | None:
        """Record what the worker did by itself: a session pauses when its actor fails."""
        if self._watch.status.seq <= self._followed:
            return None
        async with self._one_at_a_time:
            status = self._watch.status
            if status.seq <= self._followed:
                return None
            self._followed = status.seq
            if status.word == "paused":
                reason = status.reason or "The worker paused itself."
                record = await self._move(RunState.RUNNING, RunState.PAUSED, reason)
                self._paused_at = _now()
                return record
            if status.word == "running":
                await in_thread(self._count_this_pause)
                return await self._move(
                    RunState.PAUSED, RunState.RUNNING, "The worker went on by itself."
                )
            return None

    def time_at_work(self) -> float:
        """Seconds since its start without its pauses; 0 when it has no process. Blocking."""
        process = self._parts.launcher.status(self._run)
        if not isinstance(process, Running):
            return 0.0
        paused_s = self._parts.registry.paused_seconds(self._run.run_id)
        return age_s(process.started) - paused_s - self._this_pause_s(process)

    def _count_this_pause(self) -> None:
        process = self._parts.launcher.status(self._run)
        if isinstance(process, Running):
            registry, run_id = self._parts.registry, self._run.run_id
            paused_s = registry.paused_seconds(run_id) + self._this_pause_s(process)
            registry.set_paused_seconds(run_id, paused_s)
        self._paused_at = None

    def _this_pause_s(self, process: Running) -> float:
        """How long the run stands still already; 0 when it does not."""
        details = self._parts.registry.details(self._run.run_id)
        if details.run.state is not RunState.PAUSED:
            return 0.0
        if self._paused_at is not None:
            return _now() - self._paused_at
        # Paused under an earlier daemon: the wall clock is all there is, within what can be true.
        return min(max(0.0, time.time() - details.history[-1].t), age_s(process.started))

    async def _can_pause(self) -> bool:
        try:
            descriptor = await in_thread(self._parts.catalog.describe, self._worker)
        except UserError:
            return False
        return descriptor.supports.pause

    async def _pauses_itself(self) -> bool:
        """Whether the worker says that it stands still, soon after being told."""
        before = self._watch.status.seq
        deadline = time.monotonic() + _CONFIRM_S
        with self._parts.commits.listen(self._run.run_id) as committed:
            try:
                await in_thread(self._send, lambda seq: Pause(seq=seq))
            except UserError:
                return False
            while (left_s := deadline - time.monotonic()) > 0:
                committed.clear()
                await in_thread(self._watch.look, may_stall=False)
                status = self._watch.status
                if status.seq > before and status.word == "paused":
                    return True
                with suppress(TimeoutError):
                    await asyncio.wait_for(committed.wait(), left_s)
        return False

    async def _expect(self, state: RunState, wanted: RunState) -> None:
        record = await in_thread(self._parts.registry.get, self._run.run_id)
        if record.state is not state:
            raise StateConflictError(self._run.run_id, record.state, wanted)

    async def _move(self, expected: RunState, to: RunState, reason: str) -> RunRecord:
        return await in_thread(
            self._parts.registry.transition, self._run.run_id, {expected}, to, reason
        )


def _now() -> float:
    """By a clock that no jump of the wall clock touches."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
