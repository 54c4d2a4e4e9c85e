"""CRC-32C as TensorFlow's record files have it, of one piece of bytes or of many at once."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

_POLYNOMIAL = 0x82F63B78  # its bits in reverse
_ALL_ONES = 0xFFFFFFFF
_MASK = 0xA282EAD8
_WORTH_NUMPY = 200
_MOST_AT_ONCE = 4096
"""Bytes of a piece: larger ones are few, and would make long columns of little."""


def masked_crc32c(data: bytes) -> int:
    """Turned and shifted, because a checksum of checksums says little."""
    table = _TABLE
    crc = _ALL_ONES
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return _masked(crc ^ _ALL_ONES)


def masked_crc32c_of_many(pieces: Sequence[bytes]) -> list[int]:
    """The same for each; with NumPy, where it is, at a tenth of the price."""
    if len(pieces) < _WORTH_NUMPY:
        return [masked_crc32c(piece) for piece in pieces]
    try:
        import numpy  # noqa: F401, ICN001, PLC0415 - the window has it, the command line need not
    except ImportError:
        return [masked_crc32c(piece) for piece in pieces]
    places: dict[int, list[int]] = defaultdict(list)
    for place, piece in enumerate(pieces):
        places[len(piece)].append(place)
    found = [0] * len(pieces)
    for length, alike in places.items():
        if len(alike) < _WORTH_NUMPY or not 0 < length <= _MOST_AT_ONCE:
            for place in alike:
                found[place] = masked_crc32c(pieces[place])
            continue
        crcs = _side_by_side(b"".join(pieces[place] for place in alike), length)
        for place, crc in zip(alike, crcs.tolist(), strict=True):
            found[place] = _masked(crc)
    return found


def _side_by_side(joined: bytes, length: int) -> "NDArray[Any]":
    """Pieces of one length stand below each other, and each column is taken at once."""
    import numpy as np  # noqa: PLC0415 - as above

    table = np.array(_TABLE, dtype=np.uint32)
    rows = np.frombuffer(joined, dtype=np.uint8).reshape(-1, length)
    crcs = np.full(len(rows), _ALL_ONES, dtype=np.uint32)
    for column in np.ascontiguousarray(rows.T):
        crcs = table[(crcs ^ column) & 0xFF] ^ (crcs >> np.uint32(8))
    return crcs ^ np.uint32(_ALL_ONES)


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _MASK) & _ALL_ONES


def _after_byte(crc: int) -> int:
    for _ in range(8):
        crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc


_TABLE = [_after_byte(value) for value in range(256)]
