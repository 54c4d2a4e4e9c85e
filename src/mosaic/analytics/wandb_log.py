"""The frames of W&B's `.wandb` files: records in LevelDB's log format, read as they are written.

After a header of 7 bytes a file is a row of blocks of 32 KiB. A record lies in one or more parts,
none of which crosses the end of a block; each has a checksum, a length and a kind.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from mosaic.contract.errors import UserError

HEADER = b":W&B\xe1\xbe\x00"
BLOCK_BYTES = 32 * 1024
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
PART = struct.Struct("<IHB")
"""What stands before each part: checksum, length, kind."""
_KINDS = (FULL, FIRST, MIDDLE, LAST)
_MOST_AT_ONCE = 4 << 20
_LARGEST_RECORD = 64 << 20


class NotAWandbFileError(UserError):
    """A file of that name holds something else."""


class WandbLog:
    """One file, read further with each call. A record that is still being written is waited for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unreadable = 0
        """Records, or parts of some, that are damaged and were left out."""
        self.size_bytes = 0
        self._at = 0
        self._parts: list[bytes] = []

    @property
    def read_bytes(self) -> int:
        """What follows is still to be read, or a record that was cut off."""
        return self._at

    def read_more(self) -> tuple[bytes, ...]:
        """The next whole records, of a few megabytes at most; empty when there are none yet.

        Raises `OSError`, and `NotAWandbFileError` for a file of another kind.
        """
        with self.path.open("rb") as file:
            self.size_bytes = file.seek(0, 2)
            file.seek(self._at)
            data = file.read(_MOST_AT_ONCE)
        begin = self._at
        if begin == 0:
            if len(data) < len(HEADER):
                return ()
            if data[: len(HEADER)] != HEADER:
                raise NotAWandbFileError(
                    f"{self.path.name} is no file of Weights & Biases.",
                    remedy="It may be damaged; W&B cannot upload it either.",
                    code="C248",
                )
            self._at = len(HEADER)
        return tuple(self._records(data, begin))

    def _records(self, data: bytes, begin: int) -> Iterator[bytes]:
        """`begin` is the place of `data` in the file."""
        while True:
            left = BLOCK_BYTES - self._at % BLOCK_BYTES
            if left < PART.size:  # too little for a part: filled up with zeros
                self._at += left
                left = BLOCK_BYTES
            place = self._at - begin
            if place + PART.size > len(data):
                return
            checksum, length, kind = PART.unpack_from(data, place)
            end = place + PART.size + length
            if PART.size + length > left or kind not in _KINDS:
                if place + left > len(data):
                    return  # the rest of the block is not there yet, or never comes
                self._damaged(left, is_padding=kind == 0 and length == 0)
                continue
            if end > len(data):
                return
            part = data[place + PART.size : end]
            if zlib.crc32(part, zlib.crc32(bytes((kind,)))) != checksum:
                self._damaged(PART.size + length)
                continue
            self._at = begin + end
            yield from self._whole(kind, part)

    def _damaged(self, skipped: int, *, is_padding: bool = False) -> None:
        self._at += skipped
        if not is_padding:
            self.unreadable += 1
            self._parts.clear()

    def _whole(self, kind: int, part: bytes) -> Iterator[bytes]:
        """The record that ends with this part, if one does."""
        begins = kind in (FULL, FIRST)
        if begins and self._parts:  # the end of the one before is missing
            self._parts.clear()
            self.unreadable += 1
        if not begins and not self._parts:
            # The rest of a record whose beginning was damaged, which is counted already.
            return
        self._parts.append(part)
        if kind in (FULL, LAST):
            yield b"".join(self._parts)
            self._parts.clear()
        elif sum(map(len, self._parts)) > _LARGEST_RECORD:
            self._damaged(0)
