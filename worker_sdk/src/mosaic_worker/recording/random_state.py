"""The state of an environment's random numbers: captured before a reset, set for a replay.

It is written as numpy has it in its memory, 40 bytes in hexadecimal: `has_uint32` and `uinteger` of
32 bits each, `state` and `inc` of 128 bits each, the smaller end first. Never as a number of JSON:
readers turn 128 bits into a float, silently wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.generator_memory import (
    FLAGS_BYTES,
    NUMBERS_BYTES,
    memory_reader,
    packed,
    without_gap,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_PCG64 = "PCG64"


def state_reader(unwrapped: Any) -> Callable[[], bytes | None]:
    """A function for the moment before a reset: the state of `np_random` as it is then.

    It returns bytes for `state_text`, or None when there are no such random numbers.
    """
    known: Any = None
    read_memory: Callable[[], bytes] | None = None

    def read() -> bytes | None:
        nonlocal known, read_memory
        try:
            # Where gymnasium keeps it; `np_random` is a property, and makes one when there is none.
            generator = unwrapped._np_random  # noqa: SLF001 - an episode may last 80 microseconds
        except AttributeError:
            generator = None
        if read_memory is not None and generator is known:
            return read_memory()
        try:
            known = unwrapped.np_random
            read_memory = memory_reader(known)
            return asked_state(known) if read_memory is None else read_memory()
        except (AttributeError, TypeError, KeyError):
            return None

    return read


def asked_state(generator: Any) -> bytes | None:
    """The state as numpy says it; None when it is no PCG64."""
    state = generator.bit_generator.state
    return packed(state) if state["bit_generator"] == _PCG64 else None


def state_text(read: bytes) -> str:
    """What a reader has read, as it is written."""
    return without_gap(read).hex()


def set_state(unwrapped: Any, text: str) -> None:
    """Let `np_random` go on from a state that was written down."""
    try:
        memory = bytes.fromhex(text)
    except ValueError:
        memory = b""
    if len(memory) != FLAGS_BYTES + NUMBERS_BYTES:
        raise WorkerError(
            "The recorded state of the random numbers cannot be read.",
            remedy="The record is damaged; look at its telemetry instead.",
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
