"""Following a log file by byte offset, through truncation, replacement and rotation."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mosaic.contract.errors import UserError

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
