"""Calls on checkpoints, data sets and retention."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import msgspec

from mosaic.contract.json_value import copy_json, parse_json
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import from_message, to_message
from mosaic.contract.storage import CheckpointQuery
from mosaic.contract.text_types import EnvId, Identifier
from mosaic.trainer.artifacts.run_tree import is_temporary, is_valid_path
from mosaic.trainer.concurrency import run_in_thread
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import (
    BadRequestError,
    checked_integer,
    checked_line,
    shown,
)
from mosaic.trainer.service.uploads import checked_parts, receive_upload
from mosaic.trainer.storage.imported_checkpoints import MAX_BYTES, RECORD, NewCheckpoint

MAX_VERIFICATIONS = 2
_MAX_FILE_NAME_BYTES = 200
_MAX_TOKEN_LENGTH = 20_000
_MAX_INT32 = (1 << 31) - 1
_MAX_META_BYTES = 16 << 10
_DEFAULT_FILE_NAME = "checkpoint"
_SHA256 = re.compile("[0-9a-fA-F]{64}")


class StorageServicer(PartialServicer):
    """What a home stores besides the runs themselves."""

    _import_slots: asyncio.Semaphore
    _verification_slots: asyncio.Semaphore
    """Reading twenty gigabytes occupies a thread and the disk, so few run at once."""

    async def ListCheckpoints(
        self, request: pb.ListCheckpointsRequest, _: Context
    ) -> pb.CheckpointPage:
        if request.run_id:
            await existing_run(self._trainer, request.run_id)
        for field in ("worker", "algo", "env_id"):
            checked_line(field, getattr(request, field))
        _check_page(request)
        query = from_message(request, CheckpointQuery)
        page = await run_in_thread(self._trainer.checkpoints.list, query)
        return to_message(page, pb.CheckpointPage)

    async def ImportCheckpoint(
        self, request_iterator: AsyncIterator[pb.CheckpointPart], _: Context
    ) -> pb.Checkpoint:
        parts = checked_parts(request_iterator)
        async with self._import_slots:
            first = await anext(parts, None)
            if first is None or not first.HasField("header"):
                raise BadRequestError(
                    "header", "is missing.", "Send it in the first part, before the content."
                )
            new = _new_checkpoint(first.header)
            store = partial(self._trainer.checkpoints.imported.add, new)
            checkpoint = await receive_upload(store, _contents(first, parts))
        return to_message(checkpoint, pb.Checkpoint)

    async def VerifyCheckpoint(self, request: pb.CheckpointRef, _: Context) -> pb.CheckpointReport:
        checkpoint_id = _checked_type("checkpoint_id", request.checkpoint_id, Identifier)
        client_left = threading.Event()
        async with self._verification_slots:
            try:
                report = await run_in_thread(
                    self._trainer.checkpoints.verify, checkpoint_id, client_left.is_set
                )
            finally:
                client_left.set()
        return to_message(report, pb.CheckpointReport)

    async def DeleteCheckpoint(
        self, request: pb.CheckpointRef, _: Context
    ) -> pb.DeleteCheckpointResponse:
        checkpoint_id = _checked_type("checkpoint_id", request.checkpoint_id, Identifier)
        freed = await run_in_thread(self._trainer.checkpoint_removal.delete, checkpoint_id)
        return pb.DeleteCheckpointResponse(freed_bytes=freed)

    async def ListDatasets(self, request: pb.ListDatasetsRequest, _: Context) -> pb.DatasetPage:
        _check_page(request)
        page = await run_in_thread(
            self._trainer.datasets.list, request.page_size, request.page_token
        )
        return to_message(page, pb.DatasetPage)

    async def GetRetention(self, _: pb.GetRetentionRequest, _context: Context) -> pb.Retention:
        return to_message(await run_in_thread(self._trainer.retention.view), pb.Retention)

    async def Prune(self, request: pb.PruneRequest, _: Context) -> pb.PruneReport:
        report = await run_in_thread(self._trainer.retention.prune, dry_run=request.dry_run)
        return to_message(report, pb.PruneReport)


async def _contents(
    first: pb.CheckpointPart, others: AsyncIterator[pb.CheckpointPart]
) -> AsyncIterator[bytes]:
    """A client that disconnects looks like one that is done, so the end must be marked."""
    yield first.data
    part = first
    async for part in others:
        if part.HasField("header"):
            raise BadRequestError("header", "comes twice.", "Send it in the first part alone.")
        yield part.data
    if not (first.header.size_bytes or part.last):
        raise BadRequestError(
            "last", "is missing.", "Announce the size in the header, or mark the last part."
        )


def _new_checkpoint(header: pb.CheckpointHeader) -> NewCheckpoint:
    return NewCheckpoint(
        file=_file_name(header.name or _DEFAULT_FILE_NAME),
        worker=_checked_type("worker", header.worker, Identifier),
        algo=_checked_type("algo", header.algo, Identifier) if header.algo else "",
        env_id=_checked_type("env_id", header.env_id, EnvId),
        meta=_meta(header.meta_json),
        size_bytes=checked_integer("size_bytes", header.size_bytes, 0, MAX_BYTES),
        sha256=_sha256(header.sha256),
    )


def _file_name(name: str) -> str:
    if (
        "/" in name
        or name == RECORD
        or is_temporary(name)
        or not is_valid_path(name)
        or len(name.encode()) > _MAX_FILE_NAME_BYTES
    ):
        raise BadRequestError(
            "name",
            f"cannot be the name of a checkpoint's file: {shown(name)}.",
            "Send a plain file name such as 'policy.pt', without a folder.",
        )
    return name


def _meta(document: bytes) -> dict[str, Any]:
    if not document:
        return {}
    if len(document) > _MAX_META_BYTES:
        raise BadRequestError(
            "meta_json", f"has {len(document)} bytes.", f"Send at most {_MAX_META_BYTES}."
        )
    value, problems = parse_json(document)
    if not problems:
        value, problems = copy_json(value, reject_secrets=True)
    if problems:
        raise BadRequestError("meta_json", problems[0].message, problems[0].remedy)
    if not isinstance(value, dict):
        raise BadRequestError("meta_json", "is not an object.", "Send a JSON object.")
    return value


def _sha256(value: str) -> str:
    if value and not _SHA256.fullmatch(value):
        raise BadRequestError(
            "sha256",
            f"is not a SHA-256: {shown(value)}.",
            "Send 64 hexadecimal digits, or nothing.",
        )
    return value.lower()


def _check_page(request: pb.ListCheckpointsRequest | pb.ListDatasetsRequest) -> None:
    checked_integer("page_size", request.page_size, 0, _MAX_INT32)
    checked_line("page_token", request.page_token, _MAX_TOKEN_LENGTH)


def _checked_type(field: str, value: str, kind: Any) -> str:
    """Text that matches one of the types of `text_types`, which are safe in paths."""
    try:
        return str(msgspec.convert(value, kind))
    except msgspec.ValidationError:
        raise BadRequestError(
            field,
            f"is not a valid id: {shown(value)}.",
            "An id starts with a letter or digit, and has no spaces.",
        ) from None
