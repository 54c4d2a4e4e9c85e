"""RandomStream: draws random numbers in blocks, and computes the generator's state at each draw.

Drawing one number takes half a microsecond, reading the state four. Here numbers are drawn in
blocks, in the order in which the environment would draw them, and the state at any of them is
computed as PCG64 does: one multiplication and one addition.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 4096
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK = (1 << 128) - 1
_PCG64 = "PCG64"
_CHECK_DRAWS = 3


@lru_cache(maxsize=1)
def _jumps() -> tuple[list[int], list[int]]:
    """Return factor and addend (in increments) that advance a state by N draws."""
    factors, addends = [1], [0]
    for _ in range(BLOCK):
        factors.append(factors[-1] * _MULTIPLIER & _MASK)
        addends.append((addends[-1] * _MULTIPLIER + 1) & _MASK)
    return factors, addends


class RandomStream:
    """Uniform numbers of a `numpy.random.Generator`, used exclusively until `sync_generator`.

    `draw()` returns the next number; `state()` returns the generator's state before it, in the
    SDK's format of 40 bytes.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator
        self._factors, self._addends = _jumps()
        self._remaining: Any = iter(())
        self._is_synced = True
        self.draw = self._generate().__next__

    def state(self) -> bytes:
        """Return the state before the next draw."""
        if self._is_synced:
            self._start_block()
        state = self._current_state().to_bytes(16, "little")
        return b"".join((self._flags, state, self._increment_bytes))

    def sync_generator(self) -> None:
        """Set the generator to this stream's position, as if each number had been drawn singly.

        Others may then draw from it; this stream continues after them.
        """
        if self._is_synced:
            return
        self._block_state["state"]["state"] = self._current_state()
        self._generator.bit_generator.state = self._block_state
        for _ in self._remaining:
            pass  # `draw` starts a new block when this one is exhausted
        self._is_synced = True

    def _current_state(self) -> int:
        drawn = BLOCK - self._remaining.__length_hint__()
        state: int = self._first * self._factors[drawn] + self._increment * self._addends[drawn]
        return state & _MASK

    def _start_block(self) -> None:
        state = self._block_state = self._generator.bit_generator.state
        self._first: int = state["state"]["state"]
        self._increment: int = state["state"]["inc"]
        self._increment_bytes = self._increment.to_bytes(16, "little")
        flags = (state["has_uint32"], state["uinteger"])
        self._flags = b"".join(flag.to_bytes(4, "little") for flag in flags)
        self._remaining = iter(self._generator.random(BLOCK).tolist())
        self._is_synced = False

    def _generate(self) -> Iterator[float]:
        while True:
            yield from self._remaining
            if not self._remaining.__length_hint__():  # `state` may have started the next one
                self._start_block()


def is_supported_generator(generator: Any) -> bool:
    """Whether the generator is a PCG64 with the expected arithmetic, checked on a fresh one."""
    bit_generator: Any = getattr(generator, "bit_generator", None)
    if type(bit_generator).__name__ != _PCG64:
        return False
    streamed, plain = (type(generator)(type(bit_generator)(0x5EED)) for _ in range(2))
    stream = RandomStream(streamed)
    numbers = [stream.draw() for _ in range(_CHECK_DRAWS)]
    stream.sync_generator()
    same_numbers = numbers == [plain.random() for _ in range(_CHECK_DRAWS)]
    return bool(same_numbers and streamed.bit_generator.state == plain.bit_generator.state)
