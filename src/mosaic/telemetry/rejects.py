"""`rejects.jsonl`: every line that is no event, kept with its place in the spool.

The file is not part of the store's transaction. The store remembers how long the file was at the
last commit, and whatever an interrupted transaction left beyond that is cut off, so that each
rejected line stands there exactly once.
"""

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mosaic.contract.decode import RejectKind
from mosaic.contract.type_info import work_out
from mosaic.telemetry.ordinary_files import open_ordinary


class RejectRecord(msgspec.Struct, omit_defaults=True):
    """One line of the file. The line itself is `text`, or `base64` when it is not UTF-8."""

    offset: int
    bytes: int
    kind: str
    reason: str
    text: str | None = None
    base64: str | None = None


class RejectsWriter:
    """Appends to the file; `length` is what the store has to remember."""

    def __init__(self, path: Path, length: int) -> None:
        self._path = path
        self._fd = -1
        self._pending: list[bytes] = []
        self.length = length

    def add(self, offset: int, kind: RejectKind, reason: str, line: bytes) -> None:
        """Keep a line that fits into memory."""
        record = RejectRecord(offset, len(line), kind, reason)
        try:
            record.text = line.decode("utf-8")
        except UnicodeDecodeError:
            record.base64 = base64.b64encode(line).decode("ascii")
        self._pending.append(msgspec.json.encode(record) + b"\n")

    def add_oversize(self, offset: int, size: int, reason: str, pieces: Iterator[bytes]) -> None:
        """Keep a line of any length, a piece at a time."""
        self.flush()
        head = msgspec.json.encode(RejectRecord(offset, size, RejectKind.TOO_LONG, reason))
        self._write(head[:-1] + b',"base64":"')
        rest = b""
        for piece in pieces:
            rest += piece
            whole = len(rest) - len(rest) % 3
            self._write(base64.b64encode(rest[:whole]))
            rest = rest[whole:]
        self._write(base64.b64encode(rest) + b'"}\n')

    def flush(self) -> None:
        """Bring what was added to the file, before the store commits `length`."""
        if self._pending:
            self._write(b"".join(self._pending))
            self._pending.clear()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _write(self, data: bytes) -> None:
        if self._fd < 0:
            self._fd = open_ordinary(self._path, os.O_WRONLY | os.O_CREAT)
            self._cut_to_committed()
        view = memoryview(data)
        while view:
            written = os.pwrite(self._fd, view, self.length)
            self.length += written
            view = view[written:]

    def _cut_to_committed(self) -> None:
        size = os.fstat(self._fd).st_size
        if size < self.length:  # a power cut took committed lines: start on a fresh one
            self.length = size + os.pwrite(self._fd, b"\n", size)
        elif size > self.length:
            os.ftruncate(self._fd, self.length)


def read_rejects(path: Path, length: int) -> Iterator[RejectRecord]:
    """The rejected lines within the first `length` bytes, which are the committed ones."""
    if not length:
        return
    try:
        fd = open_ordinary(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    with open(fd, "rb") as file:  # noqa: PTH123 - opened by descriptor
        position = 0
        for line in file:
            position += len(line)
            if position > length:
                return
            try:
                yield msgspec.json.decode(line, type=RejectRecord)
            except msgspec.DecodeError:
                continue  # half a line that a power cut left behind


work_out(RejectRecord)
