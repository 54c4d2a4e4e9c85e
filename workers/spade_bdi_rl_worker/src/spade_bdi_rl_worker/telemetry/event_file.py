"""EventFile: scalars as TensorBoard reads them, written with the standard library alone.

A file is a row of records, each with its length and two checksums; a record is a protobuf message
`Event` of which only a few fields are needed: wall time (1), step (2), the version of the format
(3), and a summary (5) of values (1), each with a tag (1) and a number (2).
"""

from __future__ import annotations

import os
import socket
import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FORMAT = b"brain.Event:2"
_FLUSH_S = 1.0
_POLYNOMIAL = 0x82F63B78  # of CRC-32C, its bits in reverse
_MASK_DELTA = 0xA282EAD8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class EventFile:
    """One file in `folder`. What is written can be read within a second or two."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # Readers look at the first words, and take files in the order of their names.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file = (folder / f"{name}.0").open("ab")
        self._flush_at = 0.0
        self._write(_bytes(3, _FORMAT))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        summary = b"".join(
            _bytes(1, _bytes(1, name.encode()) + _key(2, _FIXED32) + struct.pack("<f", value))
            for name, value in values.items()
        )
        self._write(_key(2, _VARINT) + _varint(step) + _bytes(5, summary))

    def close(self) -> None:
        self._file.close()

    def _write(self, fields: bytes) -> None:
        now = time.time()
        event = _key(1, _FIXED64) + struct.pack("<d", now) + fields
        size = struct.pack("<Q", len(event))
        self._file.write(b"".join((size, _checksum(size), event, _checksum(event))))
        if now >= self._flush_at:
            self._flush_at = now + _FLUSH_S
            self._file.flush()


def _key(field: int, kind: int) -> bytes:
    return bytes((field << 3 | kind,))


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _after_byte(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


_TABLE = [_after_byte(value) for value in range(256)]


def _checksum(data: bytes) -> bytes:
    """CRC-32C, turned and shifted as the format wants it."""
    table, crc = _TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF)
