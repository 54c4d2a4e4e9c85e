"""Follows the TensorBoard event files of a run while they are written.

TensorBoard's writer flushes every two minutes, so points arrive in batches. The format is
TensorFlow's record file (length, its checksum, content, its checksum) around protocol buffers. This
reader has no dependencies, and stops at a record that is only partially written.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.tracking.event_file import masked_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME_PART = ".tfevents."
_SKIPPED_FOLDERS = frozenset({"wandb", "videos", "checkpoints", "reports"})
_CHUNK_BYTES = 4 << 20
_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CHECKSUM.size
_MAX_RECORD_BYTES = 64 << 20

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class EventPoint(NamedTuple):
    """A scalar summary."""

    tag: str
    step: int
    wall_time: float
    value: float


class EventText(NamedTuple):
    """A text summary, such as the table of hyperparameters."""

    tag: str
    text: str


class BrokenRecordError(ValueError):
    """The bytes are not a record of an event file."""


class EventFiles:
    """All event files below a run's directory, each read from its last offset."""

    def __init__(self, directory: Path) -> None:
        self.broken = ""
        """Why a file cannot be read; empty if all can."""
        self._directory = directory
        self._offsets: dict[Path, int] = {}
        self._failed: set[Path] = set()

    @property
    def paths(self) -> list[Path]:
        """The event files in the order of their discovery."""
        return list(self._offsets)

    def find_new(self) -> None:
        """Search for new files."""
        for folder, subfolders, names in os.walk(self._directory):
            subfolders[:] = [name for name in subfolders if name not in _SKIPPED_FOLDERS]
            for name in names:
                if _NAME_PART in name:
                    self._offsets.setdefault(Path(folder) / name, 0)

    def read_new(self) -> Iterator[EventPoint | EventText]:
        """Yield what was written since the last call."""
        for path in self.paths:
            if path not in self._failed:
                yield from self._read_file(path)

    def _read_file(self, path: Path) -> Iterator[EventPoint | EventText]:
        size = _CHUNK_BYTES
        while True:
            try:
                with path.open("rb") as file:
                    file.seek(self._offsets[path])
                    data = file.read(size)
                records, consumed = split_records(data)
                self._offsets[path] += consumed
                for record in records:
                    yield from read_event(record)
            except FileNotFoundError:
                return
            except (OSError, BrokenRecordError) as error:
                self._failed.add(path)
                self.broken = f"{path.name} cannot be read: {error}"
                return
            if not consumed and len(data) < size:
                return
            if not consumed:
                size *= 2  # a large record, such as an image


def split_records(data: bytes) -> tuple[list[bytes], int]:
    """Return the complete records at the start of `data`, and their size in bytes.

    Raises `BrokenRecordError` if `data` does not start with a record.
    """
    records: list[bytes] = []
    offset = 0
    while offset + _HEADER_BYTES <= len(data):
        (length,) = _LENGTH.unpack_from(data, offset)
        (checksum,) = _CHECKSUM.unpack_from(data, offset + _LENGTH.size)
        if length > _MAX_RECORD_BYTES or checksum != masked_crc32c(
            data[offset : offset + _LENGTH.size]
        ):
            if records:
                break
            raise BrokenRecordError("the length of a record does not match its checksum")
        end = offset + _HEADER_BYTES + length + _CHECKSUM.size
        if end > len(data):
            break
        records.append(data[offset + _HEADER_BYTES : end - _CHECKSUM.size])
        offset = end
    return records, offset


def read_event(record: bytes) -> list[EventPoint | EventText]:
    """Return the points and texts of an event. Raises `BrokenRecordError`."""
    wall_time, step, messages = 0.0, 0, []
    for field, kind, value in _fields(record):
        if field == 1 and kind == _FIXED64:
            (wall_time,) = struct.unpack("<d", value)
        elif field == 2 and kind == _VARINT:
            step = _signed(value)
        elif field == 5 and kind == _BYTES:
            messages += [message for number, _, message in _fields(value) if number == 1]
    values = (_read_value(message, step, wall_time) for message in messages)
    return [value for value in values if value is not None]


def _read_value(data: bytes, step: int, wall_time: float) -> EventPoint | EventText | None:
    tag, number, tensor = "", None, None
    for field, kind, value in _fields(data):
        if field == 1 and kind == _BYTES:
            tag = value.decode("utf-8", "replace")
        elif field == 2 and kind == _FIXED32:
            (number,) = struct.unpack("<f", value)
        elif field == 8 and kind == _BYTES:
            tensor = value
    if number is None and tensor is not None:
        content = _read_tensor(tensor)
        if isinstance(content, str):
            return EventText(tag.removesuffix("/text_summary"), content)
        number = content
    return None if number is None else EventPoint(tag, step, wall_time, number)


_DOUBLE, _FLOAT = 2, 1
_FORMATS = {_FLOAT: "<f", _DOUBLE: "<d"}


def _read_tensor(data: bytes) -> float | str | None:
    """Return a single number or a text; None for anything else (images, histograms)."""
    dtype, content, numbers, texts = 0, b"", [], []
    for field, kind, value in _fields(data):
        if field == 1 and kind == _VARINT:
            dtype = value
        elif field == 4 and kind == _BYTES:
            content = value
        elif field in (5, 6) and kind == _BYTES:
            numbers.append((value, "<f" if field == 5 else "<d"))
        elif field == 8 and kind == _BYTES:
            texts.append(value.decode("utf-8", "replace"))
    if texts:
        return "\n".join(texts)
    if not numbers and dtype in _FORMATS:
        numbers.append((content, _FORMATS[dtype]))
    packed, layout = numbers[0] if numbers else (b"", "<f")
    if len(packed) != struct.calcsize(layout):
        return None
    (number,) = struct.unpack(layout, packed)
    return float(number)


def _fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield field number, wire type and content of each field of a message."""
    offset = 0
    try:
        while offset < len(data):
            key, offset = _varint(data, offset)
            field, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, offset = _varint(data, offset)
                yield field, kind, value
                continue
            size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
            if kind == _BYTES:
                size, offset = _varint(data, offset)
            if size is None or offset + size > len(data):
                raise BrokenRecordError(f"a field of type {kind} does not fit")
            yield field, kind, data[offset : offset + size]
            offset += size
    except IndexError:
        raise BrokenRecordError("a number is truncated") from None


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
