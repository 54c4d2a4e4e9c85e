"""EventFile: scalars and texts as TensorBoard reads them, written with the standard library alone.

A record is a protobuf message `Event`, of which a few fields are enough: wall time (1), step (2),
the version of the format (3), and a summary (5) of values (1). A value has a tag (1), and a number
(2), or a tensor (8) with the name of the plugin that shows it (9).
"""

from __future__ import annotations

import math
import os
import socket
import struct
import time
from typing import TYPE_CHECKING

from mosaic_worker.tracking.record_file import RecordFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FORMAT = b"brain.Event:2"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT_BYTES = 4
_STRING_TYPE = 7  # of a tensor


class EventFile:
    """One file in `folder`; scalars as TensorBoard shows them, and texts as Markdown."""

    def __init__(self, folder: Path) -> None:
        # Readers look at the first two words, and take files in the order of their names.
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self._file = RecordFile(folder / f"{name}.0")
        self._heads: dict[str, bytes] = {}
        """Of a curve's values, which differ in their last four bytes only."""
        self._write(_bytes(3, _FORMAT))

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        heads = self._heads
        parts: list[bytes] = []
        for name, value in values.items():
            head = heads.get(name)
            if head is None:
                head = heads[name] = _scalar_head(name)
            parts += (head, _float32(value))
        self._add(b"".join(parts), step)

    def text(self, tag: str, text: str) -> None:
        """Shown beside the curves, at step 0."""
        shape = _bytes(2, _whole(1, 1))
        tensor = _whole(1, _STRING_TYPE) + _bytes(2, shape) + _bytes(8, text.encode())
        plugin = _bytes(1, _bytes(1, b"text"))
        tagged = _bytes(1, f"{tag}/text_summary".encode())
        self._add(_bytes(1, tagged + _bytes(8, tensor) + _bytes(9, plugin)), 0)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _add(self, summary: bytes, step: int) -> None:
        self._write(_whole(2, step) + _bytes(5, summary))

    def _write(self, fields: bytes) -> None:
        self._file.write(_key(1, _FIXED64) + struct.pack("<d", time.time()) + fields)


def _scalar_head(name: str) -> bytes:
    """A whole value but for its number."""
    tagged = _bytes(1, name.encode()) + _key(2, _FIXED32)
    return _key(1, _BYTES) + _varint(len(tagged) + _FLOAT_BYTES) + tagged


def _key(field: int, kind: int) -> bytes:
    return bytes((field << 3 | kind,))


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _whole(field: int, number: int) -> bytes:
    return _key(field, _VARINT) + _varint(number & 0xFFFFFFFFFFFFFFFF)


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _float32(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:  # too large for the format, which has infinity for it
        return struct.pack("<f", math.copysign(math.inf, value))
