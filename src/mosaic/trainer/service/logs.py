"""StreamLogs: a worker's log or the daemon's own, followed by byte offset and without secrets."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mosaic.contract.errors import UserError
from mosaic.contract.regular_files import NotRegularFileError, open_regular
from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.trainer.concurrency import ThreadBound, run_in_thread
from mosaic.trainer.secrets.redaction import ByteRedactor
from mosaic.trainer.service.errors import unsafe_file
from mosaic.trainer.service.partial_servicer import Context, PartialServicer, existing_run
from mosaic.trainer.service.request_checks import MAX_CURSOR, checked_integer
from mosaic.trainer.service.store_view import is_finished

_BLOCK_BYTES = 64 << 10
_MAX_TAIL_BYTES = 16 << 20


class LogBlock(NamedTuple):
    """A part of a log, and the offset of the next one."""

    end: int
    data: bytes


class LogFollower:
    """Reads a file that others append to, through truncation, replacement and rotation.

    One user at a time, on any thread.
    """

    def __init__(self, path: Path, unsafe: UserError) -> None:
        """`unsafe` is raised when `path` is not a regular file."""
        self._path = path
        self._unsafe = unsafe
        self._file: BinaryIO | None = None
        self._offset = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def seek(self, offset: int) -> None:
        self._offset = offset

    def seek_to_last_lines(self, lines: int) -> None:
        """Continue at the last `lines` lines of the current content."""
        file = self._opened()
        self._offset = _start_of_last_lines(file, lines) if file else 0

    def read(self) -> LogBlock | None:
        """The next part; None at the end. A truncated or replaced file is read from its start."""
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
        """At most `count` bytes before `offset` in the file that was read last."""
        file = self._opened()
        start = max(0, offset - count)
        return os.pread(file.fileno(), offset - start, start) if file and start < offset else b""

    def _opened(self) -> BinaryIO | None:
        if self._file is None:
            try:
                descriptor = open_regular(self._path)
            except FileNotFoundError:
                return None
            except NotRegularFileError as error:
                raise self._unsafe from error
            self._file = os.fdopen(descriptor, "rb", buffering=0)
        return self._file

    def _was_replaced(self, file: BinaryIO) -> bool:
        """Whether another file has the name now; a missing one may come back."""
        try:
            now = self._path.lstat()
        except FileNotFoundError:
            return False
        return not os.path.samestat(now, os.fstat(file.fileno()))


def _start_of_last_lines(file: BinaryIO, lines: int) -> int:
    """Where the last `lines` lines start, at most a few megabytes before the end."""
    size = os.fstat(file.fileno()).st_size
    start = size
    lines_left = lines
    while start > max(0, size - _MAX_TAIL_BYTES):
        length = min(_BLOCK_BYTES, start)
        block = os.pread(file.fileno(), length, start - length)
        if start == size and block.endswith(b"\n"):
            lines_left += 1  # the last newline ends the last line, it does not start another
        found = block.count(b"\n")
        if found >= lines_left:
            at = len(block)
            for _ in range(lines_left):
                at = block.rindex(b"\n", 0, at)
            return start - length + at + 1
        lines_left -= found
        start -= length
    return start


class RedactedLog:
    """A log without its secrets. No part ends inside a secret. Offsets are those of the file."""

    def __init__(self, log: LogFollower, spellings: Callable[[], Mapping[str, str]]) -> None:
        """`spellings` returns the same object until the secrets change."""
        self._log = log
        self._get_spellings = spellings
        self._spellings = spellings()
        self._redactor = ByteRedactor(self._spellings)
        self._held = b""
        """Read, but not sent completely; the first `_sent` bytes were sent."""
        self._sent = 0
        self._end: int | None = None
        """The offset up to which the file was read; None before the first part."""

    def close(self) -> None:
        self._log.close()

    def seek(self, offset: int) -> None:
        self._log.seek(offset)

    def seek_to_last_lines(self, lines: int) -> None:
        self._log.seek_to_last_lines(lines)

    def read(self, *, is_finished: bool) -> LogBlock | None:
        """The next part; None at the end. `is_finished`: the log does not grow any more.

        The start of a possible secret at the end is returned only with what follows it.
        """
        self._update_redactor()
        while (block := self._log.read()) is not None:
            self._append(block)
            if (part := self._redact_held(is_final=False)) is not None:
                return part
        return self._redact_held(is_final=True) if is_finished else None

    def _update_redactor(self) -> None:
        now = self._get_spellings()
        if now is not self._spellings:
            self._spellings, self._redactor = now, ByteRedactor(now)

    def _append(self, block: LogBlock) -> None:
        start = block.end - len(block.data)
        if start != self._end:  # the first part, or a part of another file
            self._held = self._log.bytes_before(start, self._redactor.overlap)
            self._sent = len(self._held)
        self._held += block.data
        self._end = block.end

    def _redact_held(self, *, is_final: bool) -> LogBlock | None:
        if self._end is None or len(self._held) == self._sent:
            return None
        data, end = self._redactor.redact(self._held, self._sent, is_final=is_final)
        offset = self._end - len(self._held) + max(end, self._sent)
        self._held, self._sent = self._held[end:], max(0, self._sent - end)
        return LogBlock(offset, data) if data else None


_POLL_S = 0.2
_MAX_LINES = 100_000
DAEMON_LOG = "daemon.log"


class LogServicer(PartialServicer):
    """No signal reports that a log has grown, so followers poll a few times a second."""

    async def StreamLogs(
        self, request: pb.StreamLogsRequest, _: Context
    ) -> AsyncIterator[pb.LogPart]:
        after = checked_integer("after", request.after, 0, MAX_CURSOR)
        lines = checked_integer("tail_lines", request.tail_lines, 0, _MAX_LINES)
        if request.run_id:
            path = (await existing_run(self._trainer, request.run_id)).worker_log
        else:
            path = self._trainer.home.logs / DAEMON_LOG
        file = LogFollower(path, unsafe_file(request.run_id or "(none)", path.name))
        log = await run_in_thread(RedactedLog, file, self._trainer.secrets.spellings)
        async with ThreadBound(log, log.close) as bound:
            if lines:
                await bound.run(log.seek_to_last_lines, lines)
            else:
                log.seek(after)
            while True:
                was_finished, block = await bound.run(self._read_next, log, request.run_id)
                if block is not None:
                    yield pb.LogPart(end=block.end, data=block.data)
                elif was_finished or not request.follow:
                    return
                else:
                    await asyncio.sleep(_POLL_S)

    def _read_next(self, log: RedactedLog, run_id: str) -> tuple[bool, LogBlock | None]:
        # Checked before reading: what was written before the end is read after it.
        was_finished = bool(run_id) and is_finished(self._trainer, run_id)
        return was_finished, log.read(is_finished=was_finished)
