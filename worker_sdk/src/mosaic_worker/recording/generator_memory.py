"""Reads the state of numpy's PCG64 from its memory, in a fiftieth of the time that asking takes.

An episode of FrozenLake lasts 80 microseconds, and asking for the state takes four of them. Where
it lies in memory is numpy's own business: it is found out once, with a generator made for that, and
believed only if the bytes say what numpy says. Otherwise nothing is read this way.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FLAGS_BYTES = 8
"""Whether half of a number is left over, and that half: 32 bits each."""
NUMBERS_BYTES = 32
"""State and increment: 128 bits each."""

_FLAGS_OFFSET = 8  # from the address that numpy tells, where a pointer to the numbers is
_NUMBERS_OFFSETS = range(16, 65, 8)


def memory_reader(generator: Any) -> Callable[[], bytes] | None:
    """A function that copies the state as it is then; None when it cannot be read this way.

    The bytes begin with the flags and end with the numbers; the function may be called as long as
    `generator` is there.
    """
    kind = type(generator.bit_generator)
    if (kind.__name__, kind.__module__) != ("PCG64", "numpy.random._pcg64"):
        return None
    numbers_offset = _numbers_offset()
    return _reader(generator.bit_generator, numbers_offset) if numbers_offset else None


def packed(state: Any) -> bytes:
    """What numpy says of a PCG64, as it is in its memory: the smaller end first."""
    inner = state["state"]
    return b"".join(
        (
            state["has_uint32"].to_bytes(4, "little"),
            state["uinteger"].to_bytes(4, "little"),
            inner["state"].to_bytes(16, "little"),
            inner["inc"].to_bytes(16, "little"),
        )
    )


def without_gap(memory: bytes) -> bytes:
    """Flags and numbers, without what may lie between them."""
    return memory[:FLAGS_BYTES] + memory[-NUMBERS_BYTES:]


def _reader(bit_generator: Any, numbers_offset: int) -> Callable[[], bytes]:
    import ctypes  # noqa: PLC0415 - start-up counts

    start = bit_generator.ctypes.state_address + _FLAGS_OFFSET
    length = numbers_offset + NUMBERS_BYTES - _FLAGS_OFFSET
    return memoryview((ctypes.c_char * length).from_address(start)).tobytes


@lru_cache(maxsize=None)
def _numbers_offset() -> int:
    """Where the numbers are, proven; 0 when the bytes are not what they are expected to be."""
    try:
        return _proven_offset()
    except (ImportError, AttributeError, TypeError, ValueError):
        return 0


def _proven_offset() -> int:
    import ctypes  # noqa: PLC0415 - start-up counts

    import numpy as np  # noqa: PLC0415 - optional, and start-up counts

    generator = np.random.Generator(np.random.PCG64(0x5EED))
    bit_generator: Any = generator.bit_generator
    address = int(bit_generator.ctypes.state_address)
    offset = (ctypes.c_void_p.from_address(address).value or 0) - address
    if offset not in _NUMBERS_OFFSETS:
        return 0
    read = _reader(bit_generator, offset)
    for left_over in (1, 0, 1):
        generator.integers(0, 1 << 20, dtype=np.uint32)  # uses half of a number, then the other
        said = bit_generator.state
        if said["has_uint32"] != left_over or without_gap(read()) != packed(said):
            return 0
    return offset
