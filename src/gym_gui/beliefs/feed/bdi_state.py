"""Mind: what one agent believes, wants and is at, put together from the changes that it told.

Beliefs are folded, all else is what was told last. Used by `mind_feed` on its thread, and by
`beliefs.model.bdi_history`.
"""

from typing import NamedTuple

from mosaic.contract.bdi import BdiChange, Intention

__all__ = ["BdiChange", "Intention", "Mind", "MindEntry", "Place"]


class Place(NamedTuple):
    """An episode and a step of it: what was told there counts from this step on."""

    episode: int
    step: int


class MindEntry(NamedTuple):
    """One change, as it was told."""

    seq: int
    """Of its line: grows from change to change."""
    agent: str
    """Empty where there is only one."""
    place: Place
    t: float | None
    """In seconds of the epoch, or since the start of the run."""
    change: BdiChange
    words: str
    """In lower case, for searching."""
    is_after: bool = False
    """Told after the last step of its episode. It takes the place of the one with the same `seq`,
    which was told before anybody knew that no other step would follow."""


class Mind:
    """As it was after a change. `copy` before others may see it."""

    __slots__ = ("beliefs", "confidence", "goals", "intentions", "plan")

    def __init__(self) -> None:
        self.beliefs: dict[str, int] = {}
        """Each with the `seq` of the change that brought it."""
        self.goals: tuple[str, ...] = ()
        self.intentions: tuple[Intention, ...] = ()
        self.plan = ""
        """The last one that fired."""
        self.confidence: float | None = None

    def take(self, change: BdiChange, seq: int) -> None:
        """Gone before new: what is told as both was told anew."""
        for belief in change.removed:
            self.beliefs.pop(belief, None)
        for belief in change.added:
            self.beliefs[belief] = seq
        self.goals, self.intentions = change.goals, change.intentions
        self.plan = change.plan or self.plan
        self.confidence = change.confidence

    def copy(self) -> "Mind":
        twin = Mind()
        twin.beliefs = dict(self.beliefs)
        twin.goals, twin.intentions = self.goals, self.intentions
        twin.plan, twin.confidence = self.plan, self.confidence
        return twin


def fold(minds: dict[str, Mind], entry: MindEntry) -> None:
    """Into the mind of its agent; one that was not heard of before begins empty."""
    mind = minds.get(entry.agent)
    if mind is None:
        mind = minds[entry.agent] = Mind()
    mind.take(entry.change, entry.seq)
