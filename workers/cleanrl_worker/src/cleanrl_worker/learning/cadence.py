"""How often something is due that happens every so many steps of all environments together."""

from __future__ import annotations


def times_due(step: int, taken: int, every: int) -> int:
    """How many multiples of `every` lie within the last `taken` steps, `step` included."""
    return step // every - (step - taken) // every
