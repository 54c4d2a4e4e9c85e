"""`rejects.jsonl`: every line that failed to parse, with its offset in the spool.

The file is not part of the store's transaction. The store records the length of the file at the
last commit. Data that an interrupted transaction wrote after that is truncated, so that each
rejected line is in the file exactly once.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from mosaic.contract.decode import RejectKind
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import open_regular

_MAX_RECORD_BYTES = 8 << 20
"""Longer than the record of a line of 1 MiB, of which each byte may be escaped by six."""


class RejectRecord(msgspec.Struct, omit_defaults=True):
    """One line of the file. The line itself is `text`, or `base64` when it is not UTF-8.

    Of a line that is too long, `base64` is the beginning.
    """

    offset: int
    bytes: int
    kind: str
    reason: str
    text: str | None = None
    base64: str | None = None


class RejectsWriter:
    """Appends to the file; the store must record `length`."""

    def __init__(self, path: Path, length: int) -> None:
        self._path = path
        self._fd = -1
        self._pending: list[bytes] = []
        self.length = length

    def add(self, offset: int, kind: RejectKind, reason: str, line: bytes) -> None:
        """Add a line."""
        record = RejectRecord(offset, len(line), kind, reason)
        try:
            record.text = line.decode("utf-8")
        except UnicodeDecodeError:
            record.base64 = base64.b64encode(line).decode("ascii")
        self._pending.append(msgspec.json.encode(record) + b"\n")

    def add_oversize(self, offset: int, size: int, reason: str, beginning: bytes) -> None:
        """Add the beginning of a line of any length. The rest is only in the spool."""
        record = RejectRecord(offset, size, RejectKind.TOO_LONG, reason)
        record.base64 = base64.b64encode(beginning).decode("ascii")
        self._pending.append(msgspec.json.encode(record) + b"\n")

    def flush(self) -> None:
        """Write added lines to the file, before the store commits `length`."""
        if self._pending:
            self._write(b"".join(self._pending))
            self._pending.clear()

    def sync(self) -> None:
        """Flush what this writer has added to disk."""
        if self._fd >= 0:
            os.fdatasync(self._fd)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, data: bytes) -> None:
        if self._fd < 0:
            self._fd = open_regular(self._path, os.O_RDWR | os.O_CREAT)
            self._truncate_to_committed()
        view = memoryview(data)
        while view:
            written = os.pwrite(self._fd, view, self.length)
            self.length += written
            view = view[written:]

    def _truncate_to_committed(self) -> None:
        size = os.fstat(self._fd).st_size
        if size > self.length:
            os.ftruncate(self._fd, self.length)
        self.length = min(size, self.length)
        # A power failure may have lost the end of committed lines, or have left zeros.
        if self.length and os.pread(self._fd, 1, self.length - 1) != b"\n":
            self.length += os.pwrite(self._fd, b"\n", self.length)


def read_rejects(path: Path, length: int) -> Iterator[RejectRecord]:
    """Iterate over the rejected lines in the first `length` bytes, which are committed."""
    if not length:
        return
    try:
        fd = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    with open(fd, "rb") as file:  # noqa: PTH123 - opened by descriptor
        position = 0
        while line := file.readline(_MAX_RECORD_BYTES):
            position += len(line)
            if len(line) == _MAX_RECORD_BYTES and not line.endswith(b"\n"):
                position += _skip_line(file)
                line = _without_content(line)
            if position > length:
                return
            try:
                yield msgspec.json.decode(line, type=RejectRecord)
            except msgspec.DecodeError:
                continue  # a partial line after a power failure


def _skip_line(file: BinaryIO) -> int:
    """Read the rest of a line that an earlier version wrote completely; returns its length."""
    size = 0
    while part := file.readline(_MAX_RECORD_BYTES):
        size += len(part)
        if part.endswith(b"\n"):
            break
    return size


def _without_content(beginning: bytes) -> bytes:
    """Return the record without its `base64`, from the beginning of its line."""
    header, _, _ = beginning.partition(b',"base64":')
    return header + b"}"


prebuild_decoders(RejectRecord)
