"""Calls on runs: submit, dry-run, stop, pause, control, annotate, delete, list, export, import."""

import asyncio
import os
from collections.abc import AsyncIterator, Generator
from functools import partial

from mosaic.contract.control import MAX_COMMAND_BYTES
from mosaic.contract.errors import UserError
from mosaic.contract.readiness import DryRunReport
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.contract.run_config import TrainRunConfig, load_run_config
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunQuery, RunRecord
from mosaic.trainer.artifacts.run_export import export_run
from mosaic.trainer.artifacts.run_import import import_run
from mosaic.trainer.bundles.bundle_recipe import add_needed_extras
from mosaic.trainer.concurrency import ThreadBound, run_in_long_thread, run_in_thread, shielded
from mosaic.trainer.preflight.dry_run import dry_run
from mosaic.trainer.preflight.preflight_report import planned_config
from mosaic.trainer.runs.run_annotations import save_annotations
from mosaic.trainer.service.partial_servicer import Context, PartialServicer
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_integer,
    checked_line,
    checked_lines,
    checked_number,
    checked_run_id,
    checked_text,
    shown,
)
from mosaic.trainer.service.uploads import checked_parts, receive_upload

_MAX_REASON_LENGTH = 500
_MAX_TAG_LENGTH = 100
_MAX_NOTE_LENGTH = 10_000
_MAX_GRACE_S = 3600.0
_MAX_PAGE_SIZE = 1000


class RunServicer(PartialServicer):
    """Each call returns when the request is done, or certain to be done."""

    async def SubmitRun(self, request: pb.SubmitRunRequest, _: Context) -> pb.RunRecord:
        request_id = checked_line("request_id", request.request_id)
        config = await run_in_thread(self._config, request.config_json)
        return _record(await shielded(self._trainer.dispatcher.submit(config, request_id)))

    async def DryRun(self, request: pb.RunRequest, _: Context) -> pb.DryRunReport:
        config = await run_in_thread(self._config, request.config_json)
        return to_message(await run_in_long_thread(self._dry_run, config), pb.DryRunReport)

    async def Preflight(self, request: pb.RunRequest, _: Context) -> pb.PreflightReport:
        config = await run_in_thread(self._config, request.config_json)
        report = await run_in_long_thread(self._trainer.preflight.report, config)
        return to_message(report, pb.PreflightReport)

    async def CancelRun(self, request: pb.CancelRunRequest, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        reason = checked_line("reason", request.reason, _MAX_REASON_LENGTH)
        grace_s = None
        if request.HasField("grace_s"):
            grace_s = checked_number("grace_s", request.grace_s, 0.0, _MAX_GRACE_S)
        return _record(await shielded(self._trainer.dispatcher.cancel(run_id, reason, grace_s)))

    async def PauseRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await shielded(self._trainer.dispatcher.pause(run_id)))

    async def ResumeRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await shielded(self._trainer.dispatcher.resume(run_id)))

    async def HoldRun(self, request: pb.RunRef, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        return _record(await shielded(self._trainer.dispatcher.renew_lease(run_id)))

    async def ControlRun(self, request: pb.ControlRunRequest, _: Context) -> pb.ControlRunResponse:
        run_id = checked_run_id(request.run_id)
        if len(request.command_json) > MAX_COMMAND_BYTES:
            raise BadRequestError(
                "command_json",
                f"has {len(request.command_json)} bytes.",
                f"A command has at most {MAX_COMMAND_BYTES}; send a smaller value.",
            )
        seq = await shielded(self._trainer.dispatcher.control(run_id, request.command_json))
        return pb.ControlRunResponse(seq=seq)

    async def AnnotateRun(self, request: pb.AnnotateRunRequest, _: Context) -> pb.RunRecord:
        run_id = checked_run_id(request.run_id)
        add = checked_lines("add_tags", request.add_tags, _MAX_TAG_LENGTH)
        remove = checked_lines("remove_tags", request.remove_tags, _MAX_TAG_LENGTH)
        note = name = archived = None
        if request.HasField("note"):
            note = checked_text("note", request.note, _MAX_NOTE_LENGTH)
        if request.HasField("name"):
            name = checked_line("name", request.name)
        if request.HasField("archived"):
            archived = request.archived
        annotate = self._trainer.registry.annotate
        record = await run_in_thread(
            annotate,
            run_id,
            add_tags=add,
            remove_tags=remove,
            note=note,
            name=name,
            archived=archived,
        )
        trainer = self._trainer
        await run_in_thread(save_annotations, trainer.home, trainer.registry, run_id)
        return _record(record)

    async def DeleteRun(self, request: pb.DeleteRunRequest, _: Context) -> pb.DeleteRunResponse:
        run_id = checked_run_id(request.run_id)
        freed = await shielded(self._trainer.dispatcher.delete(run_id))
        return pb.DeleteRunResponse(freed_bytes=freed)

    async def ListRuns(self, request: pb.ListRunsRequest, _: Context) -> pb.RunPage:
        page = await run_in_thread(self._trainer.registry.list, _query(request))
        return await run_in_thread(to_message, page, pb.RunPage)

    async def GetRun(self, request: pb.RunRef, _: Context) -> pb.RunDetails:
        details = await run_in_thread(
            self._trainer.registry.details, checked_run_id(request.run_id)
        )
        return to_message(details, pb.RunDetails)

    def _config(self, config_json: bytes) -> TrainRunConfig:
        """The requested configuration, with the bundle extras that it needs."""
        config = load_run_config(config_json)
        extras = self._trainer.bundles.available_extras(config.worker, config.bundle, config.script)
        return add_needed_extras(config, extras)

    def _dry_run(self, config: TrainRunConfig) -> DryRunReport:
        trainer = self._trainer
        prepared = trainer.bundles.lookup(config.worker, config.bundle, config.script)
        if prepared is None:
            manifest = trainer.catalog.find(config.worker).manifest
            bundle = manifest.bundle_for(config.bundle, config.script)
            raise _not_installed(config.worker, bundle or config.worker)
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


def _not_installed(worker: str, bundle: str) -> UserError:
    return UserError(
        f"{worker} cannot be dry-run: its bundle '{bundle}' is not installed.",
        remedy=f"Run `mosaic bundles install {bundle}`, then try again.",
        code="T379",
    )


def _record(record: RunRecord) -> pb.RunRecord:
    return to_message(record, pb.RunRecord)


def _query(request: pb.ListRunsRequest) -> RunQuery:
    return RunQuery(
        states=tuple(_state(name) for name in checked_lines("states", request.states, 20)),
        worker=checked_line("worker", request.worker),
        algo=checked_line("algo", request.algo),
        env_id=checked_line("env_id", request.env_id),
        tag=checked_line("tag", request.tag),
        text=checked_line("text", request.text),
        parent_run=checked_line("parent_run", request.parent_run),
        include_archived=request.include_archived,
        page_size=checked_integer("page_size", request.page_size, 0, _MAX_PAGE_SIZE),
        page_token=checked_line("page_token", request.page_token, 1_000),
    )


def _state(name: str) -> RunState:
    try:
        return RunState(name)
    except ValueError:
        raise BadRequestError(
            "states",
            f"has an unknown state: {shown(name)}.",
            f"The states are {', '.join(RunState)}.",
        ) from None


MAX_IMPORTS = 4


class ArchiveServicer(PartialServicer):
    """Neither call holds more than a few parts in memory."""

    _import_slots: asyncio.Semaphore
    """An import occupies a thread until its client has sent everything."""

    async def ExportRun(self, request: pb.RunRef, _: Context) -> AsyncIterator[pb.ArchivePart]:
        parts = self._export(checked_run_id(request.run_id))
        async with ThreadBound(parts, parts.close) as bound:
            while (part := await bound.run(next, parts, None)) is not None:
                yield pb.ArchivePart(data=part)

    def _export(self, run_id: str) -> Generator[bytes, None, None]:
        """Starts on a thread; closing it stops the export."""
        record = self._trainer.registry.get(run_id)
        secrets = self._trainer.secrets.spellings()
        yield from export_run(self._trainer.home.run(run_id), record, secrets)

    async def ImportRun(
        self, request_iterator: AsyncIterator[pb.ArchivePart], _: Context
    ) -> pb.RunRecord:
        async with self._import_slots:
            data = (part.data async for part in checked_parts(request_iterator))
            imported = await receive_upload(partial(import_run, self._trainer.home), data)
        record = await shielded(self._trainer.dispatcher.register_imported_run(imported))
        return to_message(record, pb.RunRecord)
