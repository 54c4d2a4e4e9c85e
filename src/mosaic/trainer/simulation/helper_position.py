"""Where a helper process was when it crashed or hung, from the file that it notes it in."""

import struct
from pathlib import Path

# The numbers of `mosaic_worker.resimulation.position`.
_WORDS = {
    0: "while the environment was made",
    1: "while the environment was reset",
    2: "in step {}",
    3: "while frame {} was drawn",
    4: "after {} steps, while nothing was asked of it",
}
_LAYOUT = struct.Struct("<qq")


def position_in_words(path: Path) -> str:
    """Such as "in step 17"."""
    try:
        phase, number = _LAYOUT.unpack(path.read_bytes())
    except (OSError, struct.error):
        return "before the environment was made"
    return _WORDS.get(phase, "at an unknown step").format(number)
