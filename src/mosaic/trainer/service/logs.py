"""StreamLogs: what a worker printed, or the daemon's own log."""

import asyncio
from collections.abc import AsyncIterator

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import in_thread
from mosaic.trainer.service.following import is_over
from mosaic.trainer.service.log_follower import LogBlock, LogFollower
from mosaic.trainer.service.redacted_log import RedactedLog
from mosaic.trainer.service.refusals import UnsafeFileError
from mosaic.trainer.service.request_checks import LARGEST_CURSOR, checked_whole
from mosaic.trainer.service.service_part import Context, ServicePart, existing_run
from mosaic.trainer.service.thread_bound import ThreadBound

_LOOK_EVERY_S = 0.2
_MOST_LINES = 100_000
DAEMON_LOG = "daemon.log"


class LogCalls(ServicePart):
    """Nobody signals that a log has grown, so followers look a few times a second."""

    async def StreamLogs(
        self, request: pb.StreamLogsRequest, _: Context
    ) -> AsyncIterator[pb.LogPart]:
        after = checked_whole("after", request.after, 0, LARGEST_CURSOR)
        lines = checked_whole("tail_lines", request.tail_lines, 0, _MOST_LINES)
        if request.run_id:
            path = (await existing_run(self._trainer, request.run_id)).worker_log
        else:
            path = self._trainer.home.logs / DAEMON_LOG
        file = LogFollower(path, UnsafeFileError(request.run_id or "(none)", path.name))
        log = await in_thread(RedactedLog, file, self._trainer.secrets.spellings)
        async with ThreadBound(log, log.close) as bound:
            if lines:
                await bound.run(log.begin_before_end, lines)
            else:
                log.begin_at(after)
            while True:
                was_over, block = await bound.run(self._look, log, request.run_id)
                if block is not None:
                    yield pb.LogPart(end=block.end, data=block.data)
                elif was_over or not request.follow:
                    return
                else:
                    await asyncio.sleep(_LOOK_EVERY_S)

    def _look(self, log: RedactedLog, run_id: str) -> tuple[bool, LogBlock | None]:
        # Asked before reading: what was written before the end is read after it.
        was_over = bool(run_id) and is_over(self._trainer, run_id)
        return was_over, log.read(is_over=was_over)
