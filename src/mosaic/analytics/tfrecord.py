"""TFRecord framing, which TensorBoard's event files use: length, its CRC, data, its CRC.

The one codec of this package: `event_files` reads and writes with it. `mosaic_worker.tracking` and
the CleanRL worker have their own, smaller one: the SDK runs in the workers' environments with the
standard library only, and neither side may import the other.
"""

import struct
from collections import defaultdict
from collections.abc import Sequence
from itertools import compress
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CHECKSUM.size
_MAX_RECORD_BYTES = 256 << 20
_POLYNOMIAL = 0x82F63B78  # CRC-32C, bits reversed
_ALL_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8
_MIN_NUMPY_COUNT = 200
_MAX_NUMPY_BYTES = 4096
"""Longer records are rare, and vectorising across few of them gains nothing."""


class DecodedRecords(NamedTuple):
    """The complete records at the start of some bytes."""

    records: list[bytes]
    consumed_bytes: int
    damaged: int
    """Number of records whose data does not match its checksum; they are skipped."""
    is_broken: bool
    """The next header is invalid, so no further record can be found."""


def encode_record(data: bytes) -> bytes:
    """Return `data` with its length and checksums."""
    length = _LENGTH.pack(len(data))
    return b"".join(
        (
            length,
            _CHECKSUM.pack(masked_crc32c(length)),
            data,
            _CHECKSUM.pack(masked_crc32c(data)),
        )
    )


def decode_records(data: bytes) -> DecodedRecords:
    """Decode the records at the start of `data`, up to an incomplete one."""
    records: list[bytes] = []
    checksums: list[int] = []
    known_lengths: dict[bytes, int] = {}  # most records share a few lengths
    at = 0
    is_broken = False
    while at + _HEADER_BYTES <= len(data):
        packed = data[at : at + _LENGTH.size]
        expected = known_lengths.get(packed)
        if expected is None:
            expected = known_lengths[packed] = masked_crc32c(packed)
        (length,) = _LENGTH.unpack(packed)
        (checksum,) = _CHECKSUM.unpack_from(data, at + _LENGTH.size)
        if checksum != expected or length > _MAX_RECORD_BYTES:
            is_broken = True
            break
        end = at + _HEADER_BYTES + length
        if end + _CHECKSUM.size > len(data):
            break
        records.append(data[at + _HEADER_BYTES : end])
        checksums.append(_CHECKSUM.unpack_from(data, end)[0])
        at = end + _CHECKSUM.size
    are_valid = map(eq, masked_crc32c_of_many(records), checksums)
    valid = list(compress(records, are_valid))
    return DecodedRecords(valid, at, len(records) - len(valid), is_broken)


def masked_crc32c(data: bytes) -> int:
    """Return the masked CRC-32C that TensorFlow stores: rotated, plus a constant."""
    table = _TABLE
    crc = _ALL_ONES
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return _mask(crc ^ _ALL_ONES)


def masked_crc32c_of_many(chunks: Sequence[bytes]) -> list[int]:
    """Return the masked CRC-32C of each chunk; with NumPy, ten times as fast."""
    if len(chunks) < _MIN_NUMPY_COUNT:
        return [masked_crc32c(chunk) for chunk in chunks]
    try:
        import numpy  # noqa: F401, ICN001, PLC0415 - the window has NumPy, the command line may not
    except ImportError:
        return [masked_crc32c(chunk) for chunk in chunks]
    indices_by_length: dict[int, list[int]] = defaultdict(list)
    for index, chunk in enumerate(chunks):
        indices_by_length[len(chunk)].append(index)
    checksums = [0] * len(chunks)
    for length, indices in indices_by_length.items():
        if len(indices) < _MIN_NUMPY_COUNT or not 0 < length <= _MAX_NUMPY_BYTES:
            for index in indices:
                checksums[index] = masked_crc32c(chunks[index])
            continue
        crcs = _crc32c_of_equal_lengths(b"".join(chunks[index] for index in indices), length)
        for index, crc in zip(indices, crcs.tolist(), strict=True):
            checksums[index] = _mask(crc)
    return checksums


def _crc32c_of_equal_lengths(joined: bytes, length: int) -> "NDArray[Any]":
    """Process one byte of all chunks at a time: one chunk per row, one column per step."""
    import numpy as np  # noqa: PLC0415 - as above

    table = np.array(_TABLE, dtype=np.uint32)
    rows = np.frombuffer(joined, dtype=np.uint8).reshape(-1, length)
    crcs = np.full(len(rows), _ALL_ONES, dtype=np.uint32)
    for column in np.ascontiguousarray(rows.T):
        crcs = table[(crcs ^ column) & 0xFF] ^ (crcs >> np.uint32(8))
    return crcs ^ np.uint32(_ALL_ONES)


def _mask(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _ALL_ONES


def _table_entry(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


_TABLE = [_table_entry(value) for value in range(256)]
