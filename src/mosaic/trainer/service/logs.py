"""StreamLogs: what a worker printed, or the daemon's own log."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mosaic.contract.errors import UserError
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import ThreadBound, in_thread
from mosaic.trainer.secrets.redaction import ByteRedactor
from mosaic.trainer.service.errors import UnsafeFileError
from mosaic.trainer.service.following import is_over
from mosaic.trainer.service.partial_servicer import Context, ServicePart, existing_run
from mosaic.trainer.service.request_checks import LARGEST_CURSOR, checked_whole

_BLOCK_BYTES = 64 << 10
_FARTHEST_BACK_BYTES = 16 << 20


class LogBlock(NamedTuple):
    """Some of a log, and where the next part begins."""

    end: int
    data: bytes


class LogFollower:
    """Reads a file that others append to. One user at a time; any thread."""

    def __init__(self, path: Path, unsafe: UserError) -> None:
        """`unsafe` is raised when somebody put something else than an ordinary file there."""
        self._path = path
        self._unsafe = unsafe
        self._file: BinaryIO | None = None
        self._offset = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def begin_at(self, offset: int) -> None:
        self._offset = offset

    def begin_before_end(self, lines: int) -> None:
        """So many lines before the end as it is now."""
        file = self._opened()
        self._offset = _start_of_last_lines(file, lines) if file else 0

    def read(self) -> LogBlock | None:
        """The next part; None at the end. A file that was cut or replaced begins anew."""
        file = self._opened()
        if file is None:
            return None
        if os.fstat(file.fileno()).st_size < self._offset:
            self._offset = 0
        data = os.pread(file.fileno(), _BLOCK_BYTES, self._offset)
        if not data and self._was_replaced(file):
            self.close()
            self._offset = 0
            return self.read()
        self._offset += len(data)
        return LogBlock(self._offset, data) if data else None

    def bytes_before(self, offset: int, count: int) -> bytes:
        """What lies before `offset` in the file that was read last, `count` bytes at most."""
        file = self._opened()
        start = max(0, offset - count)
        return os.pread(file.fileno(), offset - start, start) if file and start < offset else b""

    def _opened(self) -> BinaryIO | None:
        if self._file is None:
            try:
                # Not through links, and without waiting should it be a pipe.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                descriptor = os.open(self._path, flags)
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENXIO):
                    raise self._unsafe from error
                raise
            self._file = os.fdopen(descriptor, "rb", buffering=0)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                self.close()
                raise self._unsafe
        return self._file

    def _was_replaced(self, file: BinaryIO) -> bool:
        """Whether another file has the name now; one that is merely gone may come back."""
        try:
            now = self._path.lstat()
        except FileNotFoundError:
            return False
        return not os.path.samestat(now, os.fstat(file.fileno()))


def _start_of_last_lines(file: BinaryIO, lines: int) -> int:
    """Where the last `lines` lines begin, looking back no further than a few megabytes."""
    size = os.fstat(file.fileno()).st_size
    start = size
    wanted = lines
    while start > max(0, size - _FARTHEST_BACK_BYTES):
        length = min(_BLOCK_BYTES, start)
        block = os.pread(file.fileno(), length, start - length)
        if start == size and block.endswith(b"\n"):
            wanted += 1  # the last newline ends the last line, it does not begin another
        found = block.count(b"\n")
        if found >= wanted:
            at = len(block)
            for _ in range(wanted):
                at = block.rindex(b"\n", 0, at)
            return start - length + at + 1
        wanted -= found
        start -= length
    return start


class RedactedLog:
    """Follows a log. No part ends inside a secret, so that none passes in two halves."""

    def __init__(self, log: LogFollower, spellings: Callable[[], Mapping[str, str]]) -> None:
        """`spellings` gives the same object again for as long as the secrets are the same."""
        self._log = log
        self._ask_spellings = spellings
        self._spellings = spellings()
        self._redactor = ByteRedactor(self._spellings)
        self._held = b""
        """Read already; the first `_shown` bytes of it need not be shown."""
        self._shown = 0
        self._end: int | None = None
        """Where in the file what was read ends; None before the first part."""

    def close(self) -> None:
        self._log.close()

    def begin_at(self, offset: int) -> None:
        self._log.begin_at(offset)

    def begin_before_end(self, lines: int) -> None:
        self._log.begin_before_end(lines)

    def read(self, *, is_over: bool) -> LogBlock | None:
        """The next part; None at the end. `is_over`: nobody writes to the log any more.

        A last piece with which a secret may begin comes only with what follows it.
        """
        self._follow_secrets()
        while (block := self._log.read()) is not None:
            self._take(block)
            if (part := self._settle(is_all=False)) is not None:
                return part
        return self._settle(is_all=True) if is_over else None

    def _follow_secrets(self) -> None:
        now = self._ask_spellings()
        if now is not self._spellings:
            self._spellings, self._redactor = now, ByteRedactor(now)

    def _take(self, block: LogBlock) -> None:
        start = block.end - len(block.data)
        if start != self._end:  # the first part, or that of another file
            self._held = self._log.bytes_before(start, self._redactor.reach)
            self._shown = len(self._held)
        self._held += block.data
        self._end = block.end

    def _settle(self, *, is_all: bool) -> LogBlock | None:
        if self._end is None or len(self._held) == self._shown:
            return None
        shown, end = self._redactor.redact(self._held, self._shown, is_all=is_all)
        place = self._end - len(self._held) + max(end, self._shown)
        self._held, self._shown = self._held[end:], max(0, self._shown - end)
        return LogBlock(place, shown) if shown else None


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
