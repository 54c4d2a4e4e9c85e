"""Dispatcher: takes runs in, starts them when they fit, and carries out what people ask of them.

On the event loop. Each run that has left the queue is a `RunLife`, held here until it is final.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

from mosaic.contract.control import decode_command
from mosaic.contract.descriptor import validate_params
from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.run_config import RunConfigError, TrainRunConfig
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord, RunStats
from mosaic.trainer.artifacts.run_archive import ImportedRun, delete_run
from mosaic.trainer.concurrency import in_long_thread, in_thread
from mosaic.trainer.processes.control_channel import NoWorkerError
from mosaic.trainer.registry.failures import StateConflictError, UnknownRunError
from mosaic.trainer.runs.admission import (
    Capacity,
    Grant,
    Waiting,
    admit,
    cpus_taken,
    places_taken,
    shortfall,
)
from mosaic.trainer.runs.digest_keeper import DigestKeeper
from mosaic.trainer.runs.imported_runs import register_imported
from mosaic.trainer.runs.orphaned_trials import orphaned_trials
from mosaic.trainer.runs.recovery import Recovered
from mosaic.trainer.runs.run_files import write_config
from mosaic.trainer.runs.run_life import RunLife
from mosaic.trainer.runs.run_parts import RunParts
from mosaic.trainer.workers.run_scripts import descriptor_of_run

_log = logging.getLogger(__name__)

_LOOK_AGAIN_S = 5.0
"""Room on the disk comes and goes without a signal."""
_IMPORT_PATIENCE_S = 60.0
_TAKE_UP_PATIENCE_S = 5.0
_TAKE_UP_LOOK_S = 0.02
_AGAIN_S = 2.0


class Dispatcher:
    """One per daemon."""

    def __init__(self, parts: RunParts, problems: list[str]) -> None:
        self._parts = parts
        self._problems = problems
        self._lives: dict[str, RunLife] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._queue_changed = asyncio.Event()
        self._waiting_for: dict[str, str] = {}
        self.digests = DigestKeeper(parts.registry, self._lives)

    async def start(self, recovered: Recovered) -> None:
        """Take up what an earlier daemon left, and begin to dispatch."""
        for record in recovered.adopted:
            # Before anything is dispatched: what they have is not free.
            life = self._take(record, *await in_thread(self._held_by, record))
            _log.info("T148 run %s is taken up again, %s", record.run_id, record.state)
            self._spawn(self._live(life, life.adopt))
        for run_id in recovered.behind:
            self._spawn(self._catch_up(run_id))
        self._spawn(self._end_orphaned_trials())
        self._spawn(self._dispatch())
        self._spawn(self.digests.keep())

    async def close(self) -> None:
        """Stop watching. Runs that have a process keep it."""
        for life in self._lives.values():
            life.call_off()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def digest(self, run_id: str) -> RunStats | None:
        """The newest numbers of a run that is not in the queue and not over."""
        life = self._lives.get(run_id)
        return life.digest if life else None

    def is_going(self, run_id: str) -> bool:
        """Whether the run is watched and not over. Quick, and safe from any thread."""
        life = self._lives.get(run_id)
        return life is not None and not life.state.is_final

    def capacity(self) -> Capacity:
        """What runs may have together. Blocking, the first time."""
        settings, machine = self._parts.settings, self._parts.machine
        return Capacity(
            runs=settings.max_runs,
            cpus=settings.cpus,
            memory_mb=settings.memory_mb or machine.memory_mb(),
            gpus=tuple(gpu.index for gpu in machine.gpus()),
        )

    def cpus_free(self) -> int:
        taken = sum(life.grant.cpus for life in self._lives.values())
        return max(0, self._parts.settings.cpus - taken)

    async def submit(self, config: TrainRunConfig, request_id: str = "") -> RunRecord:
        """Into the queue, durably. The same `request_id` again is the same run."""
        await in_long_thread(self._expect_startable, config)
        record = await in_thread(self._add, config, request_id)
        self._queue_changed.set()
        return record

    async def cancel(
        self, run_id: str, reason: str = "", grace_s: float | None = None
    ) -> RunRecord:
        """Returns when the run is `stopping` or over; asked again, it is ended with new grace."""
        reason = reason or "It was stopped on request."
        grace_s = self._parts.settings.stop_grace_s if grace_s is None else grace_s
        deadline = time.monotonic() + _TAKE_UP_PATIENCE_S
        while True:
            record = await in_thread(self._parts.registry.get, run_id)
            try:
                stopped = await self._stop(record, reason, grace_s)
            except StateConflictError as conflict:
                if conflict.current.is_final:
                    raise
                continue  # it has changed meanwhile: look again
            if stopped is not None:
                return stopped
            if time.monotonic() > deadline:
                raise UserError(
                    f"Run {run_id} is {record.state}, but the daemon does not watch it any more.",
                    remedy="Restart the daemon (`mosaic daemon stop`, `mosaic daemon start`):"
                    " it takes the run up again.",
                    code="T151",
                )
            await asyncio.sleep(_TAKE_UP_LOOK_S)

    async def _stop(self, record: RunRecord, reason: str, grace_s: float) -> RunRecord | None:
        """None: the run has left the queue, and is just being taken up."""
        if record.state is RunState.QUEUED:
            await in_thread(
                self._parts.registry.transition,
                record.run_id,
                {RunState.QUEUED},
                RunState.CANCELLED,
                reason,
            )
            await self._say_why_it_waits(record.run_id, "")
            return await in_thread(self._parts.registry.get, record.run_id)
        if record.state.is_final:
            raise StateConflictError(record.run_id, record.state, RunState.CANCELLED)
        life = self._lives.get(record.run_id)
        if life is None:
            return None
        if record.state is RunState.STOPPING:
            life.end_now(grace_s)
            return record
        return await life.stop(reason, grace_s)

    async def pause(self, run_id: str) -> RunRecord:
        return await (await self._life_for(run_id, RunState.PAUSED)).pause()

    async def resume(self, run_id: str) -> RunRecord:
        return await (await self._life_for(run_id, RunState.RUNNING)).resume()

    async def hold(self, run_id: str) -> RunRecord:
        """A client is there; renews the lease of a run that has one, and harms no other."""
        life = self._lives.get(run_id)
        if life is not None:
            await life.hold()
        return await in_thread(self._parts.registry.get, run_id)

    async def control(self, run_id: str, command_json: bytes) -> int:
        """Hand a command to the worker; the number that comes back in what it causes."""
        life = self._lives.get(run_id)
        if life is None:  # asked only then: somebody waits to see what a key does
            raise NoWorkerError((await in_thread(self._parts.registry.get, run_id)).run_id)
        await life.hold()
        return await in_thread(life.send, lambda seq: decode_command(command_json, seq))

    async def delete(self, run_id: str) -> int:
        """The run and all its files, for good. How many bytes that freed."""
        record = await in_thread(self._parts.registry.get, run_id)
        if not record.state.is_final or run_id in self._lives:
            raise UserError(
                f"Run {run_id} is {record.state}, and only a run that is over can be deleted.",
                remedy=f"Stop it first: `mosaic runs stop {run_id}`.",
                code="T144",
            )
        await in_thread(self._parts.ingest.forget, run_id)
        freed = await in_thread(delete_run, self._parts.home, run_id)
        await in_thread(self._parts.registry.delete, run_id)
        return freed

    async def adopt_imported(self, imported: ImportedRun) -> RunRecord:
        """List a run that `import_run` has put in its place, with all of it stored."""
        run = self._parts.home.run(imported.run_id)
        await self._parts.ingest.finish(run, _IMPORT_PATIENCE_S)
        return await in_thread(register_imported, self._parts, imported)

    async def _life_for(self, run_id: str, wanted: RunState) -> RunLife:
        record = await in_thread(self._parts.registry.get, run_id)
        life = self._lives.get(run_id)
        if life is None:
            raise StateConflictError(run_id, record.state, wanted)
        return life

    def _expect_startable(self, config: TrainRunConfig) -> None:
        descriptor = descriptor_of_run(self._parts.catalog, config)
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
        lack = shortfall(config.resources, self.capacity())
        if lack:
            raise UserError(
                f"This run could never start here: {lack}.",
                remedy="Ask for less, or give the daemon more: `mosaic daemon start --help`.",
                code="T145",
            )
        if config.launcher != "local":
            raise UserError(
                f"Runs cannot be launched with '{config.launcher}' here.",
                remedy='Leave `launcher` out, or say "local".',
                code="T146",
            )

    def _add(self, config: TrainRunConfig, request_id: str) -> RunRecord:
        record = self._parts.registry.add(new_ulid(), config, request_id=request_id)
        run = self._parts.home.run(record.run_id)
        if record.state is RunState.QUEUED and not run.config.exists():
            try:
                write_config(self._parts.home, run, config)
            except UserError as error:
                self._parts.registry.transition(
                    record.run_id,
                    {RunState.QUEUED},
                    RunState.FAILED,
                    error.message,
                    remedy=error.remedy,
                )
                raise
        return record

    async def _dispatch(self) -> None:
        while True:
            self._queue_changed.clear()
            try:
                await self._start_what_fits()
            except UserError as error:
                _log.warning("T147 no run can be started: %s", error)
            except Exception:  # noqa: BLE001 - the edge of a task: the queue must go on
                _log.exception("T158 dispatching failed by a bug; it is tried again")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._queue_changed.wait(), _LOOK_AGAIN_S)

    async def _start_what_fits(self) -> None:
        registry = self._parts.registry
        queued = await in_thread(registry.in_states, {RunState.QUEUED})
        configs = await in_thread(
            lambda: {record.run_id: registry.config(record.run_id) for record in queued}
        )
        waiting = [
            Waiting(record.run_id, configs[record.run_id].resources, configs[record.run_id].mode)
            for record in queued
        ]
        granted = {run_id: life.grant for run_id, life in self._lives.items()}
        admission = admit(waiting, granted, await in_long_thread(self.capacity))
        lack = await in_thread(self._lack_of_room) if queued else ""
        for record in queued:
            grant = admission.granted.get(record.run_id)
            if lack or grant is None:
                await self._say_why_it_waits(record.run_id, lack or admission.waits[record.run_id])
            else:
                await self._start(record.run_id, configs[record.run_id], grant)

    async def _start(self, run_id: str, config: TrainRunConfig, grant: Grant) -> None:
        try:
            preparing = await in_thread(
                self._parts.registry.transition, run_id, {RunState.QUEUED}, RunState.PREPARING, ""
            )
        except (StateConflictError, UnknownRunError):
            return  # cancelled meanwhile
        life = self._take(preparing, config, grant)
        self._spawn(self._live(life, life.begin))
        await self._say_why_it_waits(run_id, "")

    def _lack_of_room(self) -> str:
        free_mb = self._parts.machine.disk_free_bytes(self._parts.home.path) >> 20
        least_mb = self._parts.settings.min_free_disk_mb
        return (
            f"{free_mb} MB are free on the disk, and runs start with {least_mb} MB or more"
            if free_mb < least_mb
            else ""
        )

    async def _say_why_it_waits(self, run_id: str, why: str) -> None:
        if self._waiting_for.get(run_id, "") == why:
            return
        self._waiting_for[run_id] = why
        if not why:
            del self._waiting_for[run_id]
        await in_thread(
            self._parts.registry.set_warnings, run_id, (f"It waits: {why}.",) if why else ()
        )

    def _take(self, record: RunRecord, config: TrainRunConfig, grant: Grant) -> RunLife:
        life = self._lives[record.run_id] = RunLife(self._parts, record, config, grant)
        self.digests.note_lives()
        return life

    def _held_by(self, record: RunRecord) -> tuple[TrainRunConfig, Grant]:
        config = self._parts.registry.config(record.run_id)
        gpus = self._parts.launcher.gpus_of(self._parts.home.run(record.run_id))
        cpus = cpus_taken(config.mode, config.resources)
        memory_mb = config.resources.memory_mb or 0
        return config, Grant(cpus, memory_mb, gpus, places_taken(config.mode))

    async def _live(self, life: RunLife, live: Callable[[], Awaitable[None]]) -> None:
        """Until the run is over, whatever goes wrong with us on the way."""
        try:
            while True:
                try:
                    await live()
                except UnknownRunError:
                    break
                except Exception:  # noqa: BLE001 - the edge of a task: the run must stay watched
                    _log.exception("T149 watching run %s failed; it is tried again", life.run_id)
                    live = life.take_up_again
                    await asyncio.sleep(_AGAIN_S)
                else:
                    break
        finally:
            self._lives.pop(life.run_id, None)
            self._queue_changed.set()
        if life.config.mode == "sweep":
            await self._end_orphaned_trials()
        if not life.is_stored:
            await self._catch_up(life.run_id)

    async def _end_orphaned_trials(self) -> None:
        """A sweep that was killed could not end them itself."""
        try:
            for orphan in await in_thread(orphaned_trials, self._parts.registry):
                with suppress(StateConflictError, UnknownRunError):  # over by itself meanwhile
                    await self.cancel(orphan.run_id, f"Its sweep {orphan.parent_run} has ended.")
        except UserError as error:
            _log.warning("T159 runs go on whose sweep is over: %s", error)

    async def _catch_up(self, run_id: str) -> None:
        """The rest of a run that was over before all of it could be stored."""
        with suppress(UnknownRunError):  # deleted meanwhile
            record = await in_thread(self._parts.registry.get, run_id)
            config = await in_thread(self._parts.registry.config, run_id)
            await RunLife(self._parts, record, config, Grant(0, 0)).store_the_rest()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._problems.append(f"A part of the daemon stopped by a bug: {error!r}")
            _log.critical("T150 a part of the daemon stopped by a bug", exc_info=error)
