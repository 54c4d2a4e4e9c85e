"""ExportRun and ImportRun: a run as one archive, in parts."""

import asyncio
from collections.abc import AsyncIterator, Generator
from functools import partial

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.contract.rpc.convert import to_message
from mosaic.trainer.artifacts.run_archive import export_run, import_run
from mosaic.trainer.service.request_checks import checked_run_id
from mosaic.trainer.service.service_part import Context, ServicePart, carried_out
from mosaic.trainer.service.thread_bound import ThreadBound
from mosaic.trainer.service.uploads import checked_parts, taken_in

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
