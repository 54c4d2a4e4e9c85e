"""Reads the records of W&B's `.wandb` files, which use LevelDB's log format, while they grow.

After a header of 7 bytes a file consists of blocks of 32 KiB. A record consists of one or more
fragments, each within one block and with a checksum, a length and a kind.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from mosaic.contract.errors import UserError
from mosaic.contract.regular_files import open_regular

HEADER = b":W&B\xe1\xbe\x00"
BLOCK_BYTES = 32 * 1024
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
FRAGMENT_HEADER = struct.Struct("<IHB")
"""Checksum, length and kind of a fragment."""
_KINDS = (FULL, FIRST, MIDDLE, LAST)
_READ_BYTES = 4 << 20
_MAX_RECORD_BYTES = 64 << 20


class NotAWandbFileError(UserError):
    """The file is not a W&B file."""


class WandbLog:
    """One file, read incrementally. An incomplete record is read again later."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable = 0
        """Number of damaged records or fragments that were skipped."""
        self.size_bytes = 0
        self._offset = 0
        self._fragments: list[bytes] = []

    @property
    def read_bytes(self) -> int:
        """Number of bytes that were read; the rest is new or an incomplete record."""
        return self._offset

    def read_more(self) -> tuple[bytes, ...]:
        """Return the next complete records, a few megabytes at most; empty if there are none yet.

        Raises `OSError`, and `NotAWandbFileError` for another kind of file.
        """
        descriptor = open_regular(self.path, follow_links=True)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - opened by descriptor
            self.size_bytes = file.seek(0, 2)
            file.seek(self._offset)
            data = file.read(_READ_BYTES)
        start = self._offset
        if start == 0:
            if len(data) < len(HEADER):
                return ()
            if data[: len(HEADER)] != HEADER:
                raise NotAWandbFileError(
                    f"{self.path.name} is not a Weights & Biases file.",
                    remedy="It may be damaged; W&B cannot upload it either.",
                    code="C248",
                )
            self._offset = len(HEADER)
        return tuple(self._decode(data, start))

    def _decode(self, data: bytes, start: int) -> Iterator[bytes]:
        """Decode `data`, which starts at offset `start` of the file."""
        while True:
            block_rest = BLOCK_BYTES - self._offset % BLOCK_BYTES
            if block_rest < FRAGMENT_HEADER.size:  # too short for a fragment: padded with zeros
                self._offset += block_rest
                block_rest = BLOCK_BYTES
            position = self._offset - start
            if position + FRAGMENT_HEADER.size > len(data):
                return
            checksum, length, kind = FRAGMENT_HEADER.unpack_from(data, position)
            end = position + FRAGMENT_HEADER.size + length
            if FRAGMENT_HEADER.size + length > block_rest or kind not in _KINDS:
                if position + block_rest > len(data):
                    return  # the rest of the block is not written yet, or never will be
                self._skip(block_rest, is_padding=kind == 0 and length == 0)
                continue
            if end > len(data):
                return
            fragment = data[position + FRAGMENT_HEADER.size : end]
            if zlib.crc32(fragment, zlib.crc32(bytes((kind,)))) != checksum:
                self._skip(FRAGMENT_HEADER.size + length)
                continue
            self._offset = start + end
            yield from self._add_fragment(kind, fragment)

    def _skip(self, size_bytes: int, *, is_padding: bool = False) -> None:
        self._offset += size_bytes
        if not is_padding:
            self.unreadable += 1
            self._fragments.clear()

    def _add_fragment(self, kind: int, fragment: bytes) -> Iterator[bytes]:
        """Yield the record that ends with this fragment, if any."""
        is_start = kind in (FULL, FIRST)
        if is_start and self._fragments:  # the end of the previous record is missing
            self._fragments.clear()
            self.unreadable += 1
        if not is_start and not self._fragments:
            # The rest of a record whose start was damaged and already counted.
            return
        self._fragments.append(fragment)
        if kind in (FULL, LAST):
            yield b"".join(self._fragments)
            self._fragments.clear()
        elif sum(map(len, self._fragments)) > _MAX_RECORD_BYTES:
            self._skip(0)
