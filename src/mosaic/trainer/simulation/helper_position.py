"""Where a helper process is, or was when it crashed, from the file that it notes it in."""

import struct
from pathlib import Path

# The numbers of `mosaic_worker.resimulation.messages`.
_WORDS = {
    0: "while the environment was made",
    1: "while the environment was reset",
    2: "in step {}",
    3: "while frame {} was drawn",
    4: "after {} steps, while nothing was asked of it",
}
_LAYOUT = struct.Struct("<qq")


def position_of(path: Path) -> tuple[int, int] | None:
    """What it is doing, and at which step; None before it has noted anything."""
    try:
        with path.open("rb") as file:
            phase, number = _LAYOUT.unpack(file.read(_LAYOUT.size))
    except (OSError, struct.error):
        return None
    return phase, number


def position_in_words(path: Path) -> str:
    """Such as "in step 17"."""
    position = position_of(path)
    if position is None:
        return "before the environment was made"
    phase, number = position
    return _WORDS.get(phase, "at an unknown step").format(number)
