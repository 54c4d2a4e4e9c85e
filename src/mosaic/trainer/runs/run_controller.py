"""RunController: one run from its start, or from reattaching after a restart, to its final state.

Runs on the event loop; blocking work goes to threads. The registry has the state, and the run's
directory the truth about its processes, so that a daemon can be killed at any time and the next one
can continue.
"""

import asyncio
import itertools
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from mosaic.contract.control import ControlCommand
from mosaic.contract.errors import UserError
from mosaic.contract.layout import CHECKPOINT_VARIABLE, RunDirectory
from mosaic.contract.process_records import DamagedRecordError
from mosaic.contract.readiness import InstallProgress
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.concurrency import run_in_long_thread, run_in_thread
from mosaic.trainer.machine.gpus import visible_devices
from mosaic.trainer.processes.launcher import GPUS_VARIABLE
from mosaic.trainer.processes.run_process import NotStarted, Running, RunProcess
from mosaic.trainer.processes.run_termination import Grace
from mosaic.trainer.registry.errors import StateConflictError, UnknownRunError
from mosaic.trainer.runs.admission import Grant
from mosaic.trainer.runs.run_files import LaunchRecord, write_config
from mosaic.trainer.runs.run_lease import RunLease
from mosaic.trainer.runs.run_monitor import RunMonitor
from mosaic.trainer.runs.run_pausing import RunPausing
from mosaic.trainer.runs.run_recorder import EXIT_NOT_RECORDED, RunRecorder
from mosaic.trainer.runs.run_services import RunServices

_log = logging.getLogger(__name__)

_RETRY_S = 2.0


class RunController:
    """Created for a run that is `preparing` or later, and not final."""

    def __init__(
        self, services: RunServices, record: RunRecord, config: TrainRunConfig, grant: Grant
    ) -> None:
        self.run_id = record.run_id
        self.config = config
        self.grant = grant
        self.is_stored = True
        """False at the end of a run whose telemetry could not be stored completely."""
        self.monitor = RunMonitor(
            services.home.run(record.run_id),
            config,
            services.registry,
            services.ingest,
            services.settings.stalled_after_s,
            services.secrets.redact,
        )
        self._recorder = RunRecorder(services, record, self.monitor)
        self._services = services
        self._run: RunDirectory = services.home.run(record.run_id)
        self._install_cancelled = threading.Event()
        self._install_progress: InstallProgress | None = None
        self._has_process = False
        self._grace = Grace(float("inf"))
        self._termination: asyncio.Task[None] | None = None
        # Grows across restarts of the daemon.
        self._next_seq = itertools.count(time.time_ns() // 1_000_000).__next__
        self._pausing = RunPausing(services, config.worker, self._run, self.monitor, self.send)
        self._lease = RunLease(
            record,
            config.lease_s,
            pause=lambda reason: self._recorder.apply(self._pausing.pause(reason)),
            resume=lambda reason: self._recorder.apply(self._pausing.resume(reason)),
            stop=lambda reason: self.stop(reason, services.settings.stop_grace_s),
        )

    @property
    def state(self) -> RunState:
        """The state that was recorded last."""
        return self._recorder.state

    @property
    def digest(self) -> RunStats:
        """The newest digest; while packages are installed, its progress counts packages."""
        progress = self._install_progress
        if progress is None or not progress.total or self._has_process:
            return self.monitor.digest
        return RunStats(
            progress_done=float(progress.done),
            progress_total=float(progress.total),
            progress_unit="packages",
        )

    async def start(self) -> None:
        """Control the run from `preparing` to its end."""
        try:
            command, environment = await run_in_long_thread(self._prepare)
            if (await self._recorder.read()).state is RunState.STOPPING:
                await self._recorder.record_cancelled_start()
                return
            process = await run_in_long_thread(
                self._services.launcher.start, self._run, command, environment
            )
        except UserError as error:
            await self._recorder.record_failed_start(error)
            return
        self._has_process = True
        started_at = process.started.t if isinstance(process, Running) else None
        await self._recorder.record_running(started_at)
        _log.info("T304 run %s started", self.run_id)
        await self._follow()

    async def reattach(self) -> None:
        """Continue with a run that was started before, whatever has happened to it since."""
        self._has_process = True
        await self._recorder.apply(self._recorder.read())
        try:
            process = await run_in_thread(self._services.launcher.status, self._run)
        except DamagedRecordError as error:
            await run_in_thread(self.monitor.warn, "end", str(error))
            process = NotStarted()
        if isinstance(process, Running):
            if self.state is RunState.PREPARING:
                await self._recorder.record_running(process.started.t)
            if self.state is RunState.RUNNING:
                await self._record_found_pause()
        await self._follow()

    async def recover(self) -> None:
        """Continue after an error of the daemon, from the state on disk and in the registry."""
        await self._recorder.apply(self._recorder.read())
        if self.state.is_final:
            return
        process = await run_in_thread(self._services.launcher.status, self._run)
        if isinstance(process, NotStarted) and not await run_in_thread(
            self._services.launcher.is_starting, self._run
        ):
            await self.start()
        else:
            await self.reattach()

    def cancel_preparation(self) -> None:
        self._install_cancelled.set()

    def detach(self) -> None:
        """The daemon stops: leave the run unchanged to the next one."""
        self.cancel_preparation()
        self._grace.cancel()

    def terminate(self, grace_s: float) -> None:
        """Terminate the processes in the background. Another call can only shorten the grace."""
        self.cancel_preparation()
        self._grace.shorten(grace_s)
        if self._has_process and self._termination is None:
            self._termination = asyncio.create_task(self._terminate())

    async def stop(self, reason: str, grace_s: float) -> RunRecord:
        """Change the state to `stopping` and terminate the processes in the background."""
        record = await self._recorder.apply(
            run_in_thread(
                self._services.registry.transition,
                self.run_id,
                {RunState.PREPARING, RunState.RUNNING, RunState.PAUSED},
                RunState.STOPPING,
                reason,
            )
        )
        self.terminate(grace_s)
        return record

    async def pause(self) -> RunRecord:
        self._lease.renew()
        return await self._recorder.apply(self._pausing.pause())

    async def resume(self) -> RunRecord:
        self._lease.renew(is_resumed=True)
        return await self._recorder.apply(self._pausing.resume())

    async def follow_worker(self) -> None:
        """Record when the worker paused or resumed on its own, as of the last refresh."""
        with suppress(StateConflictError, UnknownRunError):
            record = await self._pausing.follow_worker()
            if record is not None:
                self._recorder.state = record.state

    async def renew_lease(self) -> None:
        """Renew the lease; no effect on a run without one."""
        await self._lease.renew_and_resume()

    def send(self, command_of: Callable[[int], ControlCommand]) -> int:
        """Send the command created with the next sequence number, which is returned."""
        command = command_of(self._next_seq())
        self._services.launcher.send(self._run, command)
        return command.seq

    def refresh(self) -> RunStats:
        """Update digest, manifest and warnings. Blocking."""
        return self.monitor.refresh(may_stall=self.state is RunState.RUNNING)

    def _prepare(self) -> tuple[tuple[str, ...], dict[str, str]]:
        services, config = self._services, self.config
        if not self._run.config.is_file():  # the submitting call may not have written it yet
            write_config(services.home, self._run, config)
        prepared = services.bundles.prepare(
            config.worker,
            config.bundle,
            config.script,
            on_progress=self._on_install_progress,
            cancelled=self._install_cancelled,
        )
        credentials = services.catalog.describe(config.worker).needs.credentials
        checkpoint = services.checkpoints.path_for(config)
        environment = {
            **services.secrets.without_secrets(os.environ),
            **prepared.environment(config.python_path),
            **services.secrets.for_worker(config, credentials),
            **visible_devices(
                [gpu for gpu in services.machine.gpus() if gpu.index in self.grant.gpus]
            ),
            GPUS_VARIABLE: ",".join(map(str, self.grant.gpus)),
            **({CHECKPOINT_VARIABLE: str(checkpoint.absolute())} if checkpoint else {}),
        }
        command = prepared.command(self._run.config)
        services.registry.set_launch(self.run_id, command, prepared.use)
        LaunchRecord(command=command, bundle=prepared.use).write(self._run.launch)
        return command, environment

    def _on_install_progress(self, progress: InstallProgress) -> None:
        self._install_progress = progress
        self._services.commits.notify(self.run_id)

    async def _follow(self) -> None:
        """Until all processes of the run are gone and its telemetry is stored."""
        self._services.ingest.follow(self._run)
        if self.state is RunState.STOPPING:
            requested_s = self._grace.seconds
            self.terminate(
                self._services.settings.stop_grace_s if math.isinf(requested_s) else requested_s
            )
        limits = [asyncio.create_task(self._enforce_time_limit())]
        if self.config.lease_s is not None:
            limits.append(asyncio.create_task(self._lease.enforce()))
        try:
            await self._services.launcher.wait_until_ended(self._run)
            process = await self._wait_until_gone()
        finally:
            for limit in limits:
                limit.cancel()
        await self._finish(process)

    async def _wait_until_gone(self) -> RunProcess:
        while True:
            try:
                process = await run_in_thread(self._services.launcher.finalize, self._run)
            except UserError as error:
                await run_in_thread(self.monitor.warn, "end", str(error))
            else:
                if not isinstance(process, Running):
                    return process
            await asyncio.sleep(_RETRY_S)

    async def _finish(self, process: RunProcess) -> None:
        self.is_stored = await self._services.ingest.finish(
            self._run, self._services.settings.store_timeout_s
        )
        await self._recorder.record_end(process, is_stored=self.is_stored)
        self.monitor.close()
        if not self.is_stored:
            _log.warning(
                "T305 run %s ended before its telemetry was completely stored", self.run_id
            )

    async def finish_storing(self) -> None:
        """Store the rest of a finished run, however long that takes."""
        await self._services.ingest.finish(self._run, timeout_s=None)
        await self._recorder.record_final_digest()
        self.monitor.close()

    async def _record_found_pause(self) -> None:
        """The last daemon may have stopped between pausing the run and recording it."""
        await run_in_thread(self.monitor.refresh, may_stall=False)
        is_suspended = await run_in_thread(self._services.launcher.is_suspended, self._run)
        if is_suspended or self.monitor.status.state == "paused":
            with suppress(StateConflictError):
                await self._recorder.apply(self._pausing.record_found_pause())

    async def _terminate(self) -> None:
        try:
            process = await run_in_long_thread(
                self._services.launcher.terminate, self._run, self._grace, self._next_seq()
            )
            if isinstance(process, Running) and not self._grace.is_cancelled:
                await run_in_thread(self.monitor.warn, "end", EXIT_NOT_RECORDED)
        except UserError as error:
            _log.warning("T307 run %s could not be terminated: %s", self.run_id, error)
            await run_in_thread(self.monitor.warn, "end", str(error))
        finally:
            self._termination = None

    async def _enforce_time_limit(self) -> None:
        limit_s = self.config.time_limit_s
        while limit_s is not None:
            try:
                left_s = limit_s - await run_in_thread(self._pausing.running_time_s)
                if left_s <= 0:
                    reason = f"Its time limit of {limit_s:g} s was reached."
                    await self.stop(reason, self._services.settings.stop_grace_s)
                    return
            except (StateConflictError, UnknownRunError):
                return
            except UserError as error:
                _log.warning("T156 the time limit of %s cannot be enforced: %s", self.run_id, error)
                left_s = _RETRY_S
            await asyncio.sleep(min(left_s, _RETRY_S) if self.state is RunState.PAUSED else left_s)
