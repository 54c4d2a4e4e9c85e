"""Writes TensorBoard event files by hand, for tests where TensorBoard is not installed."""

import struct

_POLYNOMIAL = 0x82F63B78


def scalar_record(tag: str, value: float, step: int, wall_time: float = 1.7e9) -> bytes:
    """A complete record with one number, as `SummaryWriter.add_scalar` writes it."""
    content = _bytes(1, tag.encode()) + b"\x15" + struct.pack("<f", value)
    return record(_event(step, wall_time, content))


def text_record(tag: str, text: str) -> bytes:
    """As `SummaryWriter.add_text` writes it: a tensor of one text."""
    tensor = b"\x08\x07" + _bytes(8, text.encode())
    content = _bytes(1, f"{tag}/text_summary".encode()) + _bytes(8, tensor)
    return record(_event(0, 1.7e9, content))


def record(content: bytes) -> bytes:
    length = struct.pack("<Q", len(content))
    return length + _masked(length) + content + _masked(content)


def _event(step: int, wall_time: float, value: bytes) -> bytes:
    return (
        b"\x09"
        + struct.pack("<d", wall_time)
        + b"\x10"
        + _varint(step)
        + _bytes(5, _bytes(1, value))
    )


def _bytes(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def _masked(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
