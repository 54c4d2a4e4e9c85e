"""Reads the records of a TensorBoard event file: its framing, and the few fields that matter.

The format is TensorFlow's record file (length, its checksum, content, its checksum) around
protocol buffers. Reading it here needs no package, and can stop at a record that is half written.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.tracking.event_file import masked_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CHECKSUM.size
_MOST_BYTES = 64 << 20

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class EventPoint(NamedTuple):
    """One number of a curve."""

    tag: str
    step: int
    wall_time: float
    value: float


class EventText(NamedTuple):
    """A text, such as the table of hyperparameters."""

    tag: str
    text: str


class BrokenRecordError(ValueError):
    """The bytes are no record of an event file."""


def split_records(data: bytes) -> tuple[list[bytes], int]:
    """The whole records at the beginning of `data`, and how many bytes they take.

    BrokenRecordError when it does not begin with one.
    """
    records: list[bytes] = []
    at = 0
    while at + _HEADER_BYTES <= len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        (checksum,) = _CHECKSUM.unpack_from(data, at + _LENGTH.size)
        if length > _MOST_BYTES or checksum != masked_crc32c(data[at : at + _LENGTH.size]):
            if records:
                break
            raise BrokenRecordError("the length of a record does not match its checksum")
        end = at + _HEADER_BYTES + length + _CHECKSUM.size
        if end > len(data):
            break
        records.append(data[at + _HEADER_BYTES : end - _CHECKSUM.size])
        at = end
    return records, at


def read_event(record: bytes) -> list[EventPoint | EventText]:
    """What an event says; BrokenRecordError when it is none."""
    wall_time, step, found = 0.0, 0, []
    for field, kind, value in _fields(record):
        if field == 1 and kind == _FIXED64:
            (wall_time,) = struct.unpack("<d", value)
        elif field == 2 and kind == _VARINT:
            step = _signed(value)
        elif field == 5 and kind == _BYTES:
            found += [each for number, _, each in _fields(value) if number == 1]
    said = (_read_value(each, step, wall_time) for each in found)
    return [each for each in said if each is not None]


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
    """A single number or a text; None for what is neither (images, histograms)."""
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
    """Field number, wire type and content of each field of a message."""
    at = 0
    try:
        while at < len(data):
            key, at = _varint(data, at)
            field, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, at = _varint(data, at)
                yield field, kind, value
                continue
            size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
            if kind == _BYTES:
                size, at = _varint(data, at)
            if size is None or at + size > len(data):
                raise BrokenRecordError(f"a field of type {kind} does not fit")
            yield field, kind, data[at : at + size]
            at += size
    except IndexError:
        raise BrokenRecordError("a number is cut short") from None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
