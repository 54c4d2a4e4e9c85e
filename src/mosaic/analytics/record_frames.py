"""The frames of TensorFlow's record files: length, its checksum, content, its checksum.

Event files are made of these. `event_files.py` reads them, `event_file_writer.py` writes them.
"""

import struct
from itertools import compress
from operator import eq
from typing import NamedTuple

from mosaic.analytics.checksums import masked_crc32c, masked_crc32c_of_many

_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
_HEADER_BYTES = _LENGTH.size + _CHECKSUM.size
_MOST_BYTES = 256 << 20


class Frames(NamedTuple):
    """What the beginning of some bytes has."""

    contents: list[bytes]
    taken: int
    """Bytes that the whole frames take."""
    damaged: int
    """Frames among them whose content does not match its checksum; they are left out."""
    is_broken: bool
    """What follows is no frame, so nothing after it can be found either."""


def frame(content: bytes) -> bytes:
    """`content` as it stands in a file."""
    length = _LENGTH.pack(len(content))
    return b"".join(
        (
            length,
            _CHECKSUM.pack(masked_crc32c(length)),
            content,
            _CHECKSUM.pack(masked_crc32c(content)),
        )
    )


def split_frames(data: bytes) -> Frames:
    """The frames at the beginning of `data`, up to one that is not all there yet."""
    contents: list[bytes] = []
    checksums: list[int] = []
    known_lengths: dict[bytes, int] = {}  # most frames are as long as some other
    at = 0
    is_broken = False
    while at + _HEADER_BYTES <= len(data):
        packed = data[at : at + _LENGTH.size]
        expected = known_lengths.get(packed)
        if expected is None:
            expected = known_lengths[packed] = masked_crc32c(packed)
        (length,) = _LENGTH.unpack(packed)
        (checksum,) = _CHECKSUM.unpack_from(data, at + _LENGTH.size)
        if checksum != expected or length > _MOST_BYTES:
            is_broken = True
            break
        end = at + _HEADER_BYTES + length
        if end + _CHECKSUM.size > len(data):
            break
        contents.append(data[at + _HEADER_BYTES : end])
        checksums.append(_CHECKSUM.unpack_from(data, end)[0])
        at = end + _CHECKSUM.size
    are_whole = map(eq, masked_crc32c_of_many(contents), checksums)
    whole = list(compress(contents, are_whole))
    return Frames(whole, at, len(contents) - len(whole), is_broken)
