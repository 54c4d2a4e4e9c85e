"""Position: what the simulation is doing, in a file that outlives it.

A crash in native code and a hang leave no time for messages; the daemon reads from here in which
step it was. Written through a mapping, because it is written twice a step.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAKING, STARTING, STEPPING, DRAWING, WAITING = range(5)
"""The environment is made, is brought to its start, takes step n, is drawn after n steps; or
nothing is asked of it, after n steps."""

_LAYOUT = struct.Struct("<qq")


class Position:
    """Two numbers: one of the phases above, and n."""

    def __init__(self, path: Path | None) -> None:
        self._memory: mmap.mmap | bytearray = (
            bytearray(_LAYOUT.size) if path is None else _mapped(path)
        )

    def note(self, phase: int, number: int) -> None:
        _LAYOUT.pack_into(self._memory, 0, phase, number)


def _mapped(path: Path) -> mmap.mmap:
    descriptor = os.open(str(path), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.ftruncate(descriptor, _LAYOUT.size)
        return mmap.mmap(descriptor, _LAYOUT.size)
    finally:
        os.close(descriptor)
