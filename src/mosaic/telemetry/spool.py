"""Reading whole lines from a spool that somebody else is still writing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mosaic.contract.events import MAX_LINE_BYTES
from mosaic.telemetry.ordinary_files import open_ordinary

_BLOCK_BYTES = MAX_LINE_BYTES + 1  # a line of the greatest length and its newline


class Block(NamedTuple):
    """Whole lines, newline included, that lie at `start` in the spool."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class OversizeLine(NamedTuple):
    """Where a line lies that is too long to be read into memory; `end` is past its newline."""

    start: int
    end: int
    newline: int = 1

    @property
    def content_end(self) -> int:
        return self.end - self.newline


class ChangedSpoolError(Exception):
    """What was read from the spool before is not there any more."""

    def __init__(self, size: int, offset: int) -> None:
        super().__init__(
            f"telemetry.jsonl has {size} bytes, and no line ends at {offset}, where reading stopped"
        )


class SpoolReader:
    """Reads from `offset` on. Holds no more than one block; a partial last line waits.

    A spool that does not exist yet is an empty one. Errors of the file system are raised as they
    are (`OSError`), and so is `NotOrdinaryError` when the spool is a link or a pipe.
    """

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path = path
        self._fd = -1
        self._offset = offset
        self._scanned = offset  # how far an oversize line has been searched for its end

    @property
    def offset(self) -> int:
        """Where the next unread line starts."""
        return self._offset

    def read(self) -> Block | OversizeLine | None:
        """What lies at the offset: whole lines, an oversize line, or nothing yet."""
        if not self._open():
            return None
        data = self._read_at_offset()
        end = data.rfind(b"\n") + 1
        if end:
            return Block(self._offset, data[:end])
        if len(data) == _BLOCK_BYTES:
            return self._find_oversize_end()
        if not data:
            self._let_go_when_replaced()
        return None

    def read_unterminated(self) -> Block | OversizeLine | None:
        """The last line when nobody will ever end it. For a spool whose writers are gone."""
        if not self._open():
            return None
        data = self._read_at_offset()
        if not data or b"\n" in data:
            return None
        if len(data) == _BLOCK_BYTES:
            return OversizeLine(self._offset, os.fstat(self._fd).st_size, newline=0)
        return Block(self._offset, data)

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from `start` to `end`, a block at a time."""
        for at in range(start, end, _BLOCK_BYTES):
            yield os.pread(self._fd, min(_BLOCK_BYTES, end - at), at)

    def advance(self, offset: int) -> None:
        """Everything before `offset` has been dealt with."""
        self._offset = self._scanned = offset

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> bool:
        if self._fd < 0:
            try:
                self._fd = open_ordinary(self._path, os.O_RDONLY)
            except FileNotFoundError:
                return False
        return True

    def _read_at_offset(self) -> bytes:
        """A block from the offset on, after making sure that a line ends before it."""
        if not self._offset:
            return os.pread(self._fd, _BLOCK_BYTES, 0)
        data = os.pread(self._fd, _BLOCK_BYTES + 1, self._offset - 1)
        if not data or (len(data) > 1 and data[:1] != b"\n"):
            raise ChangedSpoolError(os.fstat(self._fd).st_size, self._offset)
        return data[1:]

    def _let_go_when_replaced(self) -> None:
        """Another file may have been put in its place; the next read opens that one."""
        try:
            is_ours = os.path.samestat(os.fstat(self._fd), self._path.lstat())
        except FileNotFoundError:
            is_ours = False
        if not is_ours:
            self.close()

    def _find_oversize_end(self) -> OversizeLine | None:
        while piece := os.pread(self._fd, _BLOCK_BYTES, self._scanned):
            newline = piece.find(b"\n")
            if newline >= 0:
                return OversizeLine(self._offset, self._scanned + newline + 1)
            self._scanned += len(piece)
        return None
