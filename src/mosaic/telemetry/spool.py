"""Reads complete lines from a spool while the worker writes it."""

import os
from typing import NamedTuple

from mosaic.contract.errors import UserError
from mosaic.contract.events import MAX_LINE_BYTES
from mosaic.contract.layout import RunDirectory
from mosaic.contract.process_records import SpoolStamp, StartedRecord
from mosaic.contract.regular_files import open_regular, regular_size

_BLOCK_BYTES = MAX_LINE_BYTES + 1  # a line of the maximum length and its newline
MAX_BLOCK_LINES = 8192
"""So that a spool of tiny lines is not one long transaction."""
SCAN_BYTES = 64 << 20
"""How much of an oversize line one read searches for its end."""


class Block(NamedTuple):
    """Complete lines with their newlines, at offset `start` of the spool."""

    start: int
    data: bytes
    has_more: bool = False
    """Whether the next complete line was read too, but is left for the next block."""

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class OversizeLine(NamedTuple):
    """Position of a line that exceeds the limit; `end` is after its newline."""

    start: int
    end: int
    newline: int = 1

    @property
    def content_end(self) -> int:
        return self.end - self.newline


class ScannedPart(NamedTuple):
    """Part of an oversize line that was searched for its end. There is more to search."""

    start: int
    end: int


Piece = Block | OversizeLine | ScannedPart


class ChangedSpoolError(Exception):
    """The section of the spool that was already read has changed."""

    def __init__(self, size: int, offset: int) -> None:
        super().__init__(
            f"telemetry.jsonl has {size} bytes and no end of a line at offset {offset},"
            " where reading stopped"
        )


class SpoolReader:
    """Reads from `offset`, one block at a time; a partial last line is left for later.

    A spool that does not exist yet counts as empty. Raises `OSError`, and `NotRegularFileError`
    when the spool is a link or a pipe.
    A worker may remove or replace the file; its lines are then read from the file that its
    supervisor opened, and `is_displaced` is set.
    """

    def __init__(self, run: RunDirectory, offset: int = 0) -> None:
        self._run = run
        self._path = run.spool
        self._fd = -1
        self._is_original = False
        self.is_displaced = False
        """Whether the file at the path is not the one that the worker writes to."""
        self._offset = offset
        self._scanned = offset  # where the search for the end of an oversize line continues

    @property
    def offset(self) -> int:
        """Start of the next unread line."""
        return self._offset

    def read(self) -> Piece | None:
        """Read complete lines or an oversize line at the offset; None when there is none yet."""
        if not self._open():
            return None
        data = self._read_at_offset()
        end = _end_of_lines(data)
        if end:
            return Block(self._offset, data[:end], has_more=b"\n" in data[end:])
        if len(data) == _BLOCK_BYTES:
            return self._find_oversize_end()
        if not data:
            self._check_path()
        return None

    def read_unterminated(self) -> Block | OversizeLine | None:
        """Read a last line without newline. For a spool whose writers have exited."""
        if not self._open():
            return None
        data = self._read_at_offset()
        if not data or b"\n" in data:
            return None
        if len(data) == _BLOCK_BYTES:
            return OversizeLine(self._offset, os.fstat(self._fd).st_size, newline=0)
        return Block(self._offset, data)

    def beginning(self, line: OversizeLine) -> bytes:
        """Read as much of the line as a valid one may have."""
        return os.pread(self._fd, min(MAX_LINE_BYTES, line.content_end - line.start), line.start)

    def advance(self, offset: int) -> None:
        """Continue at `offset`; everything before it is committed."""
        self._offset = self._scanned = offset

    @property
    def size(self) -> int:
        """The current size of the file that is read."""
        return os.fstat(self._fd).st_size if self._fd >= 0 else regular_size(self._path)

    def sync(self) -> None:
        """Flush the file to disk."""
        if self._fd >= 0:
            os.fdatasync(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> bool:
        if self._fd < 0:
            stamp = self._read_stamp()
            self._fd = self._open_original(stamp) if stamp else -1
            self._is_original = self._fd >= 0
            if self._fd < 0:
                try:
                    self._fd = open_regular(self._path)
                except FileNotFoundError:
                    return False
        return True

    def _read_stamp(self) -> tuple[SpoolStamp, int] | None:
        """Return the identity of the worker's stdout, and its supervisor's pid."""
        try:
            started = StartedRecord.read(self._run.started)
        except UserError:
            return None
        return (started.spool, started.supervisor.pid) if started and started.spool else None

    def _open_original(self, stamp: tuple[SpoolStamp, int]) -> int:
        """Open the worker's stdout by its name, else through its supervisor; -1 if it is gone."""
        spool, supervisor_pid = stamp
        for path, is_descriptor in (
            (self._path, False),
            (f"/proc/{supervisor_pid}/fd/{spool.descriptor}", True),
        ):
            try:
                fd = open_regular(path, follow_links=is_descriptor)
            except OSError:
                continue
            status = os.fstat(fd)
            if (status.st_dev, status.st_ino) == (spool.device, spool.inode):
                self.is_displaced = self.is_displaced or is_descriptor
                return fd
            os.close(fd)
        return -1

    def _read_at_offset(self) -> bytes:
        """Read a block from the offset, after checking that a line ends before it."""
        if not self._offset:
            return os.pread(self._fd, _BLOCK_BYTES, 0)
        data = os.pread(self._fd, _BLOCK_BYTES + 1, self._offset - 1)
        if not data or (len(data) > 1 and data[:1] != b"\n"):
            raise ChangedSpoolError(os.fstat(self._fd).st_size, self._offset)
        return data[1:]

    def _check_path(self) -> None:
        """Close the file if the path now has another one, which the next read opens.

        The worker's stdout stays open, because the worker still writes to it.
        """
        try:
            is_same = os.path.samestat(os.fstat(self._fd), self._path.lstat())
        except FileNotFoundError:
            is_same = False
        if is_same:
            return
        if self._is_original:
            self.is_displaced = True
        else:
            self.close()

    def _find_oversize_end(self) -> OversizeLine | ScannedPart | None:
        start = self._scanned
        while piece := os.pread(self._fd, _BLOCK_BYTES, self._scanned):
            newline = piece.find(b"\n")
            if newline >= 0:
                return OversizeLine(self._offset, self._scanned + newline + 1)
            self._scanned += len(piece)
            if self._scanned - start >= SCAN_BYTES:
                return ScannedPart(start, self._scanned)
        return None


def _end_of_lines(data: bytes) -> int:
    """Return the end of the complete lines, at most `MAX_BLOCK_LINES` of them; 0 for none."""
    if data.count(b"\n") <= MAX_BLOCK_LINES:
        return data.rfind(b"\n") + 1
    return len(data) - len(data.split(b"\n", MAX_BLOCK_LINES)[-1])
