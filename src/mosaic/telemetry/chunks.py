"""Lines in order of arrival, in zstd-compressed chunks of a few hundred.

The last chunk is the tail: it is rewritten with more lines at every commit until it is full, and
never changes after that. `seq` numbers the lines of one table from 0.
"""

import sqlite3
from bisect import bisect_left
from itertools import accumulate, islice
from typing import NamedTuple

import zstandard

from mosaic.contract.compression import decompress

CHUNK_LINES = 512
CHUNK_BYTES = 1 << 18
_LEVEL = 3
MAX_DECOMPRESSED = 1 << 22  # CHUNK_BYTES and one block of the spool, with a margin


class StoredChunk(NamedTuple):
    """A chunk as stored, which streams send without re-encoding."""

    first_seq: int
    lines: int
    data: bytes

    def split(self) -> list[bytes]:
        return decompress_lines(self.data)


def decompress_lines(data: bytes) -> list[bytes]:
    """Return the lines of a chunk."""
    return decompress(data, MAX_DECOMPRESSED).split(b"\n")


class ChunkWriter:
    """Appends lines to one chunk table. Readers see nothing before `flush` and a commit."""

    def __init__(self, connection: sqlite3.Connection, table: str) -> None:
        self._connection = connection
        self._insert = f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)"  # noqa: S608 - our table
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        self.first_seq = 0
        self.tail: list[bytes] = []
        self._tail_bytes = 0
        self._written = 0
        row = connection.execute(
            f"SELECT * FROM {table} ORDER BY first_seq DESC LIMIT 1"  # noqa: S608 - our table
        ).fetchone()
        if row:
            self._resume(StoredChunk(*row))

    @property
    def next_seq(self) -> int:
        return self.first_seq + len(self.tail)

    @property
    def free_lines(self) -> int:
        """Number of lines that may be added at once."""
        return CHUNK_LINES - len(self.tail)

    def count_fitting(self, lines: list[bytes], start: int) -> int:
        """Return how many lines from `start` fit before the chunk is full; at least 1."""
        sizes = (len(line) + 1 for line in islice(lines, start, start + self.free_lines))
        until_full = bisect_left(list(accumulate(sizes, initial=self._tail_bytes)), CHUNK_BYTES)
        return min(until_full, self.free_lines)

    def extend(self, lines: list[bytes]) -> int | None:
        """Add at most `free_lines` lines; returns the chunk's `first_seq` if it is now full."""
        self.tail += lines
        self._tail_bytes += sum(map(len, lines)) + len(lines)
        if len(self.tail) < CHUNK_LINES and self._tail_bytes < CHUNK_BYTES:
            return None
        self.flush()
        sealed = self.first_seq
        self._start_chunk(self.next_seq)
        return sealed

    def flush(self) -> None:
        """Write the tail."""
        if len(self.tail) > self._written:
            data = self._compressor.compress(b"\n".join(self.tail))
            self._connection.execute(self._insert, (self.first_seq, len(self.tail), data))
            self._written = len(self.tail)

    def _start_chunk(self, first_seq: int) -> None:
        self.first_seq = first_seq
        self.tail = []
        self._tail_bytes = 0
        self._written = 0

    def _resume(self, chunk: StoredChunk) -> None:
        lines = chunk.split()
        size = sum(map(len, lines)) + len(lines)
        if len(lines) >= CHUNK_LINES or size >= CHUNK_BYTES:
            self._start_chunk(chunk.first_seq + chunk.lines)
            return
        self.first_seq = chunk.first_seq
        self.tail = lines
        self._tail_bytes = size
        self._written = len(lines)
