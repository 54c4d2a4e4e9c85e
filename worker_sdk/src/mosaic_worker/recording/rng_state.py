"""The state of an environment's random generator: captured before a reset, set for a replay.

It is written as numpy stores it, 40 bytes in hexadecimal: `has_uint32` and `uinteger` of 32 bits
each, `state` and `inc` of 128 bits each, little-endian. JSON numbers would lose precision.

The state of PCG64 is read from memory, which takes a fiftieth of the time of numpy's property (4 of
the 80 microseconds of a FrozenLake episode). The memory layout is private to numpy: it is detected
once with a separate generator, and used only if the bytes match what numpy reports.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable

_PCG64 = "PCG64"
FLAGS_BYTES = 8
"""`has_uint32` and `uinteger`: 32 bits each."""
NUMBERS_BYTES = 32
"""`state` and `inc`: 128 bits each."""

_FLAGS_OFFSET = 8  # from the address that numpy reports, which holds a pointer to the numbers
_NUMBERS_OFFSETS = range(16, 65, 8)


def make_state_reader(unwrapped: Any) -> Callable[[], bytes | None]:
    """A function that reads the state of `np_random`; call it before a reset.

    It returns bytes for `format_state`, or None if the generator is not supported.
    """
    known: Any = None
    read_memory: Callable[[], bytes] | None = None

    def read() -> bytes | None:
        nonlocal known, read_memory
        try:
            # The attribute behind the property `np_random`, which would create a generator.
            generator = unwrapped._np_random  # noqa: SLF001 - faster
        except AttributeError:
            generator = None
        if read_memory is not None and generator is known:
            return read_memory()
        try:
            known = unwrapped.np_random
            read_memory = make_memory_reader(known)
            return query_state(known) if read_memory is None else read_memory()
        except (AttributeError, TypeError, KeyError):
            return None

    return read


def query_state(generator: Any) -> bytes | None:
    """The state as numpy reports it; None if it is not a PCG64."""
    state = generator.bit_generator.state
    return pack_state(state) if state["bit_generator"] == _PCG64 else None


def format_state(read: bytes) -> str:
    """The result of a reader, as it is written in the `episode_start` line."""
    return remove_padding(read).hex()


def set_state(unwrapped: Any, text: str) -> None:
    """Set the state of `np_random` from its recorded text."""
    try:
        memory = bytes.fromhex(text)
    except ValueError:
        memory = b""
    if len(memory) != FLAGS_BYTES + NUMBERS_BYTES:
        raise WorkerError(
            "The recorded state of the random generator cannot be read.",
            remedy="The record is damaged; its telemetry can still be viewed.",
        )
    unwrapped.np_random.bit_generator.state = {
        "bit_generator": _PCG64,
        "state": {
            "state": int.from_bytes(memory[8:24], "little"),
            "inc": int.from_bytes(memory[24:], "little"),
        },
        "has_uint32": int.from_bytes(memory[:4], "little"),
        "uinteger": int.from_bytes(memory[4:8], "little"),
    }


def make_memory_reader(generator: Any) -> Callable[[], bytes] | None:
    """A function that copies the current state from memory; None if that is not possible.

    The bytes start with the flags and end with the numbers. Keep a reference to `generator` while
    the function is used.
    """
    kind = type(generator.bit_generator)
    if (kind.__name__, kind.__module__) != ("PCG64", "numpy.random._pcg64"):
        return None
    numbers_offset = _numbers_offset()
    return _make_reader(generator.bit_generator, numbers_offset) if numbers_offset else None


def pack_state(state: Any) -> bytes:
    """The state that numpy reports for a PCG64, in its memory layout (little-endian)."""
    inner = state["state"]
    return b"".join(
        (
            state["has_uint32"].to_bytes(4, "little"),
            state["uinteger"].to_bytes(4, "little"),
            inner["state"].to_bytes(16, "little"),
            inner["inc"].to_bytes(16, "little"),
        )
    )


def remove_padding(memory: bytes) -> bytes:
    """Flags and numbers without the padding between them."""
    return memory[:FLAGS_BYTES] + memory[-NUMBERS_BYTES:]


def _make_reader(bit_generator: Any, numbers_offset: int) -> Callable[[], bytes]:
    import ctypes  # noqa: PLC0415 - slow to import

    start = bit_generator.ctypes.state_address + _FLAGS_OFFSET
    length = numbers_offset + NUMBERS_BYTES - _FLAGS_OFFSET
    return memoryview((ctypes.c_char * length).from_address(start)).tobytes


@lru_cache(maxsize=None)
def _numbers_offset() -> int:
    """The verified offset of the numbers; 0 if the bytes do not match."""
    try:
        return _detect_offset()
    except (ImportError, AttributeError, TypeError, ValueError):
        return 0


def _detect_offset() -> int:
    import ctypes  # noqa: PLC0415 - slow to import

    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    generator = np.random.Generator(np.random.PCG64(0x5EED))
    bit_generator: Any = generator.bit_generator
    address = int(bit_generator.ctypes.state_address)
    offset = (ctypes.c_void_p.from_address(address).value or 0) - address
    if offset not in _NUMBERS_OFFSETS:
        return 0
    read = _make_reader(bit_generator, offset)
    for has_uint32 in (1, 0, 1):
        # Uses one half of a 64-bit number, then the other.
        generator.integers(0, 1 << 20, dtype=np.uint32)
        state = bit_generator.state
        if state["has_uint32"] != has_uint32 or remove_padding(read()) != pack_state(state):
            return 0
    return offset
