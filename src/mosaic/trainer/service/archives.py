"""ExportRun and ImportRun: a run as one archive, in parts."""

import asyncio
from collections.abc import AsyncIterator, Generator

from mosaic.contract.layout import Home
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.trainer.artifacts.run_archive import ImportedRun, export_run, import_run
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.part_pipe import PartPipe
from mosaic.trainer.service.refusals import InterruptedTransferError
from mosaic.trainer.service.request_checks import BadRequestError, checked_run_id
from mosaic.trainer.service.service_part import Context, ServicePart, carried_out
from mosaic.trainer.service.thread_bound import ThreadBound

LARGEST_PART_BYTES = 1 << 20
IMPORTS_AT_ONCE = 4
_PATIENCE_S = 60.0


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
        registry, secrets = self._trainer.registry, self._trainer.secrets
        record = registry.get(run_id)
        names = secrets.names()
        known = secrets.for_worker(registry.config(run_id), names)
        values = [known[name] for name in names if name in known]
        yield from export_run(self._trainer.home.run(run_id), record, values)

    async def ImportRun(
        self, request_iterator: AsyncIterator[pb.ArchivePart], _: Context
    ) -> pb.RunRecord:
        async with self._import_slots:
            imported = await _import(self._trainer.home, request_iterator)
        record = await carried_out(self._trainer.dispatcher.adopt_imported(imported))
        return to_message(record, pb.RunRecord)


async def _import(home: Home, received: AsyncIterator[pb.ArchivePart]) -> ImportedRun:
    """What arrives, unpacked on a thread; when it stops arriving, nothing of it is kept."""
    pipe = PartPipe()
    importing = asyncio.ensure_future(in_thread(import_run, home, iter(pipe)))
    feeding = asyncio.ensure_future(pipe.feed(_checked(received)))
    try:
        await asyncio.wait({importing, feeding}, return_when=asyncio.FIRST_COMPLETED)
        if not importing.done():
            await feeding
        return await asyncio.shield(importing)
    finally:
        if not importing.done():
            pipe.break_off(InterruptedTransferError("its sender stopped half way"))
            await asyncio.wait({importing})
            importing.exception()  # the first error is the one to tell
        feeding.cancel()
        await asyncio.wait({feeding})
        if not feeding.cancelled():
            feeding.exception()


async def _checked(received: AsyncIterator[pb.ArchivePart]) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                part = await anext(received, None)
        except TimeoutError:
            raise InterruptedTransferError(f"nothing came for {_PATIENCE_S:.0f} s") from None
        if part is None:
            return
        if len(part.data) > LARGEST_PART_BYTES:
            raise BadRequestError(
                "data",
                f"has {len(part.data)} bytes.",
                f"Send parts of at most {LARGEST_PART_BYTES} bytes.",
            )
        yield part.data
