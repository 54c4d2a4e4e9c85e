"""Dispatcher: queues runs, starts them when resources are free, and executes requests on them.

Runs on the event loop. Each run that has left the queue has a `RunController` until it is final.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

from mosaic.contract.control import decode_command
from mosaic.contract.descriptor import validate_params
from mosaic.contract.errors import UserError
from mosaic.contract.run_config import RunConfigError, TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.artifacts.run_import import ImportedRun
from mosaic.trainer.artifacts.run_removal import delete_run
from mosaic.trainer.concurrency import run_in_long_thread, run_in_thread
from mosaic.trainer.processes.control_channel import worker_not_running
from mosaic.trainer.registry.errors import StateConflictError, UnknownRunError
from mosaic.trainer.runs.admission import (
    Capacity,
    Grant,
    Waiting,
    admit,
    cpus_taken,
    shortfall,
    slots_taken,
)
from mosaic.trainer.runs.orphaned_trials import orphaned_trials
from mosaic.trainer.runs.recovery import Recovered
from mosaic.trainer.runs.run_controller import RunController
from mosaic.trainer.runs.run_registration import register_imported, register_submitted
from mosaic.trainer.runs.run_services import RunServices
from mosaic.trainer.runs.run_stats_updater import RunStatsUpdater
from mosaic.trainer.workers.run_scripts import descriptor_of_run

_log = logging.getLogger(__name__)

_DISPATCH_INTERVAL_S = 5.0
"""Free disk space changes without a signal."""
_IMPORT_TIMEOUT_S = 60.0
_REATTACH_TIMEOUT_S = 5.0
_REATTACH_POLL_S = 0.02
_RETRY_S = 2.0


class Dispatcher:
    """One per daemon."""

    def __init__(self, services: RunServices, problems: list[str]) -> None:
        self._services = services
        self._problems = problems
        self._controllers: dict[str, RunController] = {}
        self._deletions: dict[str, asyncio.Task[int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._queue_changed = asyncio.Event()
        self._waiting_for: dict[str, str] = {}
        self._queued: dict[str, Waiting] = {}
        self.digests = RunStatsUpdater(services.registry, self._controllers)

    async def start(self, recovered: Recovered) -> None:
        """Reattach to the runs of an earlier daemon, and start to dispatch."""
        for record in recovered.to_reattach:
            # Before anything is dispatched: their resources are not free.
            controller = self._add_controller(
                record, *await run_in_thread(self._read_grant, record)
            )
            _log.info("T148 reattaching to run %s, %s", record.run_id, record.state)
            self._spawn(self._control(controller, controller.reattach))
        for run_id in recovered.not_stored:
            self._spawn(self._catch_up(run_id))
        self._spawn(self._end_orphaned_trials())
        self._spawn(self._dispatch())
        self._spawn(self.digests.run())

    async def close(self) -> None:
        """Stop controlling runs. Their processes continue."""
        for controller in self._controllers.values():
            controller.detach()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def digest(self, run_id: str) -> RunStats | None:
        """The newest digest of a run that is neither queued nor finished."""
        controller = self._controllers.get(run_id)
        return controller.digest if controller else None

    def is_running(self, run_id: str) -> bool:
        """Whether the run has a controller and is not finished. Fast, and safe from any thread."""
        controller = self._controllers.get(run_id)
        return controller is not None and not controller.state.is_final

    def capacity(self) -> Capacity:
        """The total resources for runs. Blocking, the first time."""
        settings, machine = self._services.settings, self._services.machine
        return Capacity(
            runs=settings.max_runs,
            cpus=settings.cpus,
            memory_mb=settings.memory_mb or machine.memory_mb(),
            gpus=tuple(gpu.index for gpu in machine.gpus()),
        )

    def cpus_free(self) -> int:
        taken = sum(controller.grant.cpus for controller in self._controllers.values())
        return max(0, self._services.settings.cpus - taken)

    async def submit(self, config: TrainRunConfig, request_id: str = "") -> RunRecord:
        """Add a run to the queue, durably. The same `request_id` returns the same run."""
        await run_in_long_thread(self._check_startable, config)
        record = await run_in_thread(register_submitted, self._services, config, request_id)
        self._queue_changed.set()
        return record

    async def cancel(
        self, run_id: str, reason: str = "", grace_s: float | None = None
    ) -> RunRecord:
        """Returns when the run is `stopping` or finished; a repeated call can shorten the grace."""
        reason = reason or "Stopped on request."
        grace_s = self._services.settings.stop_grace_s if grace_s is None else grace_s
        deadline = time.monotonic() + _REATTACH_TIMEOUT_S
        while True:
            record = await run_in_thread(self._services.registry.get, run_id)
            try:
                stopped = await self._stop(record, reason, grace_s)
            except StateConflictError as conflict:
                if conflict.current.is_final:
                    raise
                continue  # it has changed in the meantime: read it again
            if stopped is not None:
                return stopped
            if time.monotonic() > deadline:
                raise UserError(
                    f"Run {run_id} is {record.state}, but the daemon does not control it.",
                    remedy="Restart the daemon (`mosaic daemon stop`, `mosaic daemon start`):"
                    " it reattaches to the run.",
                    code="T151",
                )
            await asyncio.sleep(_REATTACH_POLL_S)

    async def _stop(self, record: RunRecord, reason: str, grace_s: float) -> RunRecord | None:
        """None: the run has left the queue, and its controller is being created."""
        if record.state is RunState.QUEUED:
            await run_in_thread(
                self._services.registry.transition,
                record.run_id,
                {RunState.QUEUED},
                RunState.CANCELLED,
                reason,
            )
            await self._set_waiting_reason(record.run_id, "")
            return await run_in_thread(self._services.registry.get, record.run_id)
        if record.state.is_final:
            raise StateConflictError(record.run_id, record.state, RunState.CANCELLED)
        controller = self._controllers.get(record.run_id)
        if controller is None:
            return None
        if record.state is RunState.STOPPING:
            controller.terminate(grace_s)
            return record
        return await controller.stop(reason, grace_s)

    async def pause(self, run_id: str) -> RunRecord:
        return await (await self._controller_for(run_id, RunState.PAUSED)).pause()

    async def resume(self, run_id: str) -> RunRecord:
        return await (await self._controller_for(run_id, RunState.RUNNING)).resume()

    async def renew_lease(self, run_id: str) -> RunRecord:
        """Renew the lease of the run, if it has one."""
        controller = self._controllers.get(run_id)
        if controller is not None:
            await controller.renew_lease()
        return await run_in_thread(self._services.registry.get, run_id)

    async def control(self, run_id: str, command_json: bytes) -> int:
        """Send a command to the worker; returns its number, which later events refer to."""
        controller = self._controllers.get(run_id)
        if controller is None:  # the registry only then: input latency matters
            run = await run_in_thread(self._services.registry.get, run_id)
            raise worker_not_running(run.run_id)
        await controller.renew_lease()
        return await run_in_thread(controller.send, lambda seq: decode_command(command_json, seq))

    async def delete(self, run_id: str) -> int:
        """Delete the run and all its files permanently; returns the bytes freed.

        Concurrent calls get the same result.
        """
        deletion = self._deletions.get(run_id)
        if deletion is None:
            deletion = asyncio.create_task(self._delete(run_id))
            self._deletions[run_id] = deletion
            deletion.add_done_callback(lambda _: self._deletions.pop(run_id, None))
        return await asyncio.shield(deletion)

    async def _delete(self, run_id: str) -> int:
        record = await run_in_thread(self._services.registry.get, run_id)
        if not record.state.is_final or run_id in self._controllers:
            raise UserError(
                f"Run {run_id} is {record.state}; only a finished run can be deleted.",
                remedy=f"Stop it first: `mosaic runs stop {run_id}`.",
                code="T144",
            )
        await run_in_thread(self._services.ingest.forget, run_id)
        freed = await run_in_thread(delete_run, self._services.home, run_id)
        await run_in_thread(self._services.registry.delete, run_id)
        return freed

    async def register_imported_run(self, imported: ImportedRun) -> RunRecord:
        """Register a run that `import_run` has unpacked, with its telemetry stored."""
        run = self._services.home.run(imported.run_id)
        await self._services.ingest.finish(run, _IMPORT_TIMEOUT_S)
        return await run_in_thread(register_imported, self._services, imported)

    async def _controller_for(self, run_id: str, target: RunState) -> RunController:
        record = await run_in_thread(self._services.registry.get, run_id)
        controller = self._controllers.get(run_id)
        if controller is None:
            raise StateConflictError(run_id, record.state, target)
        return controller

    def _check_startable(self, config: TrainRunConfig) -> None:
        descriptor = descriptor_of_run(self._services.catalog, config)
        if config.script is None:
            problems = validate_params(descriptor, config.algo, config.params).problems
        else:
            problems = [
                problem
                for script in descriptor.algorithms
                for problem in validate_params(descriptor, script.id, config.params).problems
            ]
        if problems:
            raise RunConfigError(problems)
        shortage = shortfall(config.resources, self.capacity())
        if shortage:
            raise UserError(
                f"This run can never start here: {shortage}.",
                remedy="Request less, or raise the daemon's limits: `mosaic daemon start --help`.",
                code="T145",
            )
        if config.launcher != "local":
            raise UserError(
                f"The launcher '{config.launcher}' is not available.",
                remedy='Omit `launcher`, or set it to "local".',
                code="T146",
            )

    async def _dispatch(self) -> None:
        while True:
            self._queue_changed.clear()
            try:
                await self._start_admitted()
            except UserError as error:
                _log.warning("T147 no run can be started: %s", error)
            except Exception:  # noqa: BLE001 - the queue must continue
                _log.exception("T158 dispatching failed because of a bug; retrying")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue_changed.wait(), _DISPATCH_INTERVAL_S)

    async def _start_admitted(self) -> None:
        waiting = await run_in_thread(self._read_queue)
        granted = {run_id: controller.grant for run_id, controller in self._controllers.items()}
        admission = admit(waiting, granted, await run_in_long_thread(self.capacity))
        shortage = await run_in_thread(self._disk_shortage) if waiting else ""
        for run in waiting:
            grant = admission.granted.get(run.run_id)
            if shortage or grant is None:
                await self._set_waiting_reason(run.run_id, shortage or admission.waits[run.run_id])
            else:
                config = await run_in_thread(self._services.registry.config, run.run_id)
                await self._start(run.run_id, config, grant)

    def _read_queue(self) -> list[Waiting]:
        """The queued runs in queue order; the configuration of each is read once."""
        registry, known = self._services.registry, self._queued
        self._queued = {}
        for run_id in registry.queued():
            waiting = known.get(run_id)
            if waiting is None:
                try:
                    config = registry.config(run_id)
                except UnknownRunError:
                    continue  # deleted in the meantime
                waiting = Waiting(run_id, config.resources, config.mode)
            self._queued[run_id] = waiting
        return list(self._queued.values())

    async def _start(self, run_id: str, config: TrainRunConfig, grant: Grant) -> None:
        try:
            preparing = await run_in_thread(
                self._services.registry.transition,
                run_id,
                {RunState.QUEUED},
                RunState.PREPARING,
                "",
            )
        except (StateConflictError, UnknownRunError):
            return  # cancelled in the meantime
        controller = self._add_controller(preparing, config, grant)
        self._spawn(self._control(controller, controller.start))
        await self._set_waiting_reason(run_id, "")

    def _disk_shortage(self) -> str:
        """Without the changing number of free bytes: each change would be an event per run."""
        free_mb = self._services.machine.disk_free_bytes(self._services.home.path) >> 20
        min_mb = self._services.settings.min_free_disk_mb
        if free_mb >= min_mb:
            return ""
        return f"fewer than {min_mb} MB are free on the disk, which runs need to start"

    async def _set_waiting_reason(self, run_id: str, reason: str) -> None:
        if self._waiting_for.get(run_id, "") == reason:
            return
        self._waiting_for[run_id] = reason
        if not reason:
            del self._waiting_for[run_id]
        with suppress(UnknownRunError):  # deleted in the meantime
            await run_in_thread(
                self._services.registry.set_warnings,
                run_id,
                (f"Waiting: {reason}.",) if reason else (),
            )

    def _add_controller(
        self, record: RunRecord, config: TrainRunConfig, grant: Grant
    ) -> RunController:
        controller = self._controllers[record.run_id] = RunController(
            self._services, record, config, grant
        )
        self.digests.wake()
        return controller

    def _read_grant(self, record: RunRecord) -> tuple[TrainRunConfig, Grant]:
        config = self._services.registry.config(record.run_id)
        gpus = self._services.launcher.gpus_of(self._services.home.run(record.run_id))
        cpus = cpus_taken(config.mode, config.resources)
        memory_mb = config.resources.memory_mb or 0
        return config, Grant(cpus, memory_mb, gpus, slots_taken(config.mode))

    async def _control(
        self, controller: RunController, control: Callable[[], Awaitable[None]]
    ) -> None:
        """Until the run is finished, whatever fails in the daemon."""
        try:
            while True:
                try:
                    await control()
                except UnknownRunError:
                    break
                except Exception:  # noqa: BLE001 - the run must stay controlled
                    _log.exception("T149 controlling run %s failed; retrying", controller.run_id)
                    control = controller.recover
                    await asyncio.sleep(_RETRY_S)
                else:
                    break
        finally:
            self._controllers.pop(controller.run_id, None)
            self._queue_changed.set()
        if controller.config.mode == "sweep":
            await self._end_orphaned_trials()
        if not controller.is_stored:
            await self._catch_up(controller.run_id)

    async def _end_orphaned_trials(self) -> None:
        """A sweep that was killed could not stop them itself."""
        try:
            for orphan in await run_in_thread(orphaned_trials, self._services.registry):
                with suppress(StateConflictError, UnknownRunError):  # finished in the meantime
                    await self.cancel(orphan.run_id, f"Its sweep {orphan.parent_run} has ended.")
        except UserError as error:
            _log.warning("T159 trials of a finished sweep could not be stopped: %s", error)

    async def _catch_up(self, run_id: str) -> None:
        """Store the rest of a run that finished before its telemetry was completely stored."""
        with suppress(UnknownRunError):  # deleted in the meantime
            record = await run_in_thread(self._services.registry.get, run_id)
            config = await run_in_thread(self._services.registry.config, run_id)
            await RunController(self._services, record, config, Grant(0, 0)).finish_storing()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._problems.append(f"A part of the daemon stopped because of a bug: {error!r}")
            _log.critical("T150 a part of the daemon stopped because of a bug", exc_info=error)
