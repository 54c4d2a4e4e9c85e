"""Calls on runs: submit, try out, stop, pause, steer, describe, delete, list."""

import asyncio
import os
from collections.abc import AsyncIterator, Generator
from functools import partial

from mosaic.contract.control import MAX_COMMAND_BYTES
from mosaic.contract.readiness import DryRunReport
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery, RunRecord
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import import_run
from mosaic.trainer.bundles.bundle_recipe import with_needed_extras
from mosaic.trainer.concurrency import ThreadBound, in_long_thread, in_thread
from mosaic.trainer.preflight.dry_run import dry_run
from mosaic.trainer.preflight.preflight_report import planned_config
from mosaic.trainer.service.errors import NotInstalledError
from mosaic.trainer.service.partial_servicer import Context, ServicePart, carried_out
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_line,
    checked_lines,
    checked_number,
    checked_run_id,
    checked_text,
    checked_whole,
    shown,
)
from mosaic.trainer.service.uploads import checked_parts, taken_in

_LONGEST_REASON = 500
_LONGEST_TAG = 100
_LONGEST_NOTE = 10_000
_LONGEST_GRACE_S = 3600.0
_LARGEST_PAGE = 1000


class RunCalls(ServicePart):
    """Each answers when what was asked for is done or under way for good."""

    async def SubmitRun(self, request: pb.SubmitRunRequest, _: Context) -> pb.RunRecord:
        request_id = checked_line("request_id", request.request_id)
        config = await in_thread(self._config, request.config_json)
        return _record(await carried_out(self._trainer.dispatcher.submit(config, request_id)))

    async def DryRun(self, request: pb.RunRequest, _: Context) -> pb.DryRunReport:
        config = await in_thread(self._config, request.config_json)
        return to_message(await in_long_thread(self._dry_run, config), pb.DryRunReport)

    async def Preflight(self, request: pb.RunRequest, _: Context) -> pb.PreflightReport:
        config = await in_thread(self._config, request.config_json)
        report = await in_long_thread(self._trainer.preflight.report, config)
        return to_message(report, pb.PreflightReport)

    async def CancelRun(self, request: pb.CancelRunRequest, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        reason = checked_line("reason", request.reason, _LONGEST_REASON)
        grace_s = None
        if request.HasField("grace_s"):
            grace_s = checked_number("grace_s", request.grace_s, 0.0, _LONGEST_GRACE_S)
        return _record(await carried_out(self._trainer.dispatcher.cancel(run_id, reason, grace_s)))

    async def PauseRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await carried_out(self._trainer.dispatcher.pause(run_id)))

    async def ResumeRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await carried_out(self._trainer.dispatcher.resume(run_id)))

    async def HoldRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await carried_out(self._trainer.dispatcher.hold(run_id)))

    async def ControlRun(self, request: pb.ControlRunRequest, _: Context) -> pb.ControlRunResponse:
        run_id = checked_run_id(request.run_id)
        if len(request.command_json) > MAX_COMMAND_BYTES:
            raise BadRequestError(
                "command_json",
                f"has {len(request.command_json)} bytes.",
                f"A command has at most {MAX_COMMAND_BYTES}; send a smaller value.",
            )
        seq = await carried_out(self._trainer.dispatcher.control(run_id, request.command_json))
        return pb.ControlRunResponse(seq=seq)

    async def AnnotateRun(self, request: pb.AnnotateRunRequest, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        add = checked_lines("add_tags", request.add_tags, _LONGEST_TAG)
        remove = checked_lines("remove_tags", request.remove_tags, _LONGEST_TAG)
        note = name = archived = None
        if request.HasField("note"):
            note = checked_text("note", request.note, _LONGEST_NOTE)
        if request.HasField("name"):
            name = checked_line("name", request.name)
        if request.HasField("archived"):
            archived = request.archived
        annotate = self._trainer.registry.annotate
        return _record(
            await in_thread(
                annotate,
                run_id,
                add_tags=add,
                remove_tags=remove,
                note=note,
                name=name,
                archived=archived,
            )
        )

    async def DeleteRun(self, request: pb.DeleteRunRequest, _: Context) -> pb.DeleteRunResponse:
        run_id = checked_run_id(request.run_id)
        freed = await carried_out(self._trainer.dispatcher.delete(run_id))
        return pb.DeleteRunResponse(freed_bytes=freed)

    async def ListRuns(self, request: pb.ListRunsRequest, _: Context) -> pb.RunPage:
        page = await in_thread(self._trainer.registry.list, _query(request))
        return await in_thread(to_message, page, pb.RunPage)

    async def GetRun(self, request: pb.RunRef, _: Context) -> pb.RunDetails:
        details = await in_thread(self._trainer.registry.details, checked_run_id(request.run_id))
        return to_message(details, pb.RunDetails)

    def _config(self, config_json: bytes) -> TrainRunConfig:
        """As it was asked for, with the extras that it needs."""
        config = load_run_config(config_json)
        extras = self._trainer.bundles.available_extras(config.worker, config.bundle, config.script)
        return with_needed_extras(config, extras)

    def _dry_run(self, config: TrainRunConfig) -> DryRunReport:
        trainer = self._trainer
        prepared = trainer.bundles.lookup(config.worker, config.bundle, config.script)
        if prepared is None:
            manifest = trainer.catalog.find(config.worker).manifest
            bundle = manifest.bundle_for(config.bundle, config.script)
            raise NotInstalledError(config.worker, bundle or config.worker)
        credentials = trainer.catalog.describe(config.worker).needs.credentials
        environment = {
            **trainer.secrets.without_secrets(os.environ),
            **trainer.secrets.for_worker(config, credentials),
        }
        return dry_run(
            config,
            prepared,
            environment,
            run_config=planned_config(trainer.home),
            redact=trainer.secrets.redact,
        )


def _record(record: RunRecord) -> pb.RunRecord:
    return to_message(record, pb.RunRecord)


def _query(request: pb.ListRunsRequest) -> RunQuery:
    return RunQuery(
        states=tuple(_state(word) for word in checked_lines("states", request.states, 20)),
        worker=checked_line("worker", request.worker),
        algo=checked_line("algo", request.algo),
        env_id=checked_line("env_id", request.env_id),
        tag=checked_line("tag", request.tag),
        text=checked_line("text", request.text),
        parent_run=checked_line("parent_run", request.parent_run),
        include_archived=request.include_archived,
        page_size=checked_whole("page_size", request.page_size, 0, _LARGEST_PAGE),
        page_token=checked_line("page_token", request.page_token, 1_000),
    )


def _state(word: str) -> RunState:
    try:
        return RunState(word)
    except ValueError:
        raise BadRequestError(
            "states", f"names no state: {shown(word)}.", f"The states are {', '.join(RunState)}."
        ) from None


IMPORTS_AT_ONCE = 4


class ArchiveCalls(ServicePart):
    """Neither ever holds more than a few parts in memory."""

    _import_slots: asyncio.Semaphore
    """A client that sends slowly holds a thread meanwhile; there is not one for everybody."""

    async def ExportRun(self, request: pb.RunRef, _: Context) -> AsyncIterator[pb.ArchivePart]:
        parts = self._exported(checked_run_id(request.run_id))
        async with ThreadBound(parts, parts.close) as bound:
            while (part := await bound.run(next, parts, None)) is not None:
                yield pb.ArchivePart(data=part)

    def _exported(self, run_id: str) -> Generator[bytes, None, None]:
        """Begins on a thread, and can be told that nobody wants the rest."""
        record = self._trainer.registry.get(run_id)
        secrets = self._trainer.secrets.spellings()
        yield from export_run(self._trainer.home.run(run_id), record, secrets)

    async def ImportRun(
        self, request_iterator: AsyncIterator[pb.ArchivePart], _: Context
    ) -> pb.RunRecord:
        async with self._import_slots:
            data = (part.data async for part in checked_parts(request_iterator))
            imported = await taken_in(partial(import_run, self._trainer.home), data)
        record = await carried_out(self._trainer.dispatcher.adopt_imported(imported))
        return to_message(record, pb.RunRecord)
