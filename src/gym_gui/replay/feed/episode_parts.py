"""EpisodeParts: the steps of one episode, a page at a time, prepared for a timeline.

Iterated by a `StreamThread`; what costs time per step is done here, so that the UI thread only
joins arrays.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mosaic.contract.events import StepRecord

_PER_CALL = 1_000
ReadSteps = Callable[[int, int], list[StepRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodePart:
    """Some steps in a row. `rewards[i]` is that of step `first + i`; NaN where none is stored."""

    first: int
    rewards: "array[float]"
    actors: tuple[tuple[int, str], ...]
    """From that step on, this one acted; "" where nobody was named."""
    steps: tuple[StepRecord, ...]


class EpisodeParts:
    """From step 0 to before `end`, in order and without overlap."""

    def __init__(self, read: ReadSteps, end: int) -> None:
        """`read(first, count)` waits for the daemon."""
        self._read = read
        self._end = end
        self._is_closed = False

    def close(self) -> None:
        """Nothing more is asked for; any thread may call it."""
        self._is_closed = True

    def __iter__(self) -> Iterator[EpisodePart]:
        first = 0
        while first < self._end and not self._is_closed:
            wanted_end = min(self._end, first + _PER_CALL)
            steps = [
                step
                for step in self._read(first, wanted_end - first)
                if first <= step.step < self._end
            ]
            # An answer is also cut by its size; what is missing within it was never stored.
            end = steps[-1].step + 1 if steps else wanted_end
            yield part_of(first, end, steps)
            first = end


def part_of(first: int, end: int, steps: list[StepRecord]) -> EpisodePart:
    """`steps` as one part from `first` to before `end`."""
    rewards = array("d", [math.nan]) * (end - first)
    actors: list[tuple[int, str]] = []
    for step in steps:
        rewards[step.step - first] = step.reward
        actor = step.actor or ""
        if not actors or actors[-1][1] != actor:
            actors.append((step.step, actor))
    return EpisodePart(first=first, rewards=rewards, actors=tuple(actors), steps=tuple(steps))
