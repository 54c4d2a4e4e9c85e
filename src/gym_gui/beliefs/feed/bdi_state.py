"""BdiState: beliefs, goals and intentions of one agent, folded from its reported changes.

Beliefs accumulate; all other fields hold the last reported value. Used by `bdi_stream` on its
thread, and by `beliefs.model.bdi_history`.
"""

from typing import NamedTuple

from mosaic.contract.bdi import BdiChange, Intention

__all__ = ["BdiChange", "BdiEntry", "BdiState", "Intention", "StepPosition"]


class StepPosition(NamedTuple):
    """An episode and a step in it. A change at a position applies from this step on."""

    episode: int
    step: int


class BdiEntry(NamedTuple):
    """One reported change."""

    seq: int
    """Sequence number of its line; increases from change to change."""
    agent: str
    """Empty if the run has a single unnamed agent."""
    position: StepPosition
    t: float | None
    """Unix time in seconds, or seconds since the start of the run."""
    change: BdiChange
    text: str
    """Lower-case text for searching."""
    is_after: bool = False
    """Reported after the last step of its episode. Replaces the entry with the same `seq`,
    which was sent before the end of the episode was known."""


class BdiState:
    """State after a change. Mutable: `copy` before sharing it."""

    __slots__ = ("beliefs", "confidence", "goals", "intentions", "plan")

    def __init__(self) -> None:
        self.beliefs: dict[str, int] = {}
        """Each belief with the `seq` of the change that added it."""
        self.goals: tuple[str, ...] = ()
        self.intentions: tuple[Intention, ...] = ()
        self.plan = ""
        """The last plan that fired."""
        self.confidence: float | None = None

    def apply(self, change: BdiChange, seq: int) -> None:
        """Apply removals before additions: a belief in both stays."""
        for belief in change.removed:
            self.beliefs.pop(belief, None)
        for belief in change.added:
            self.beliefs[belief] = seq
        self.goals, self.intentions = change.goals, change.intentions
        self.plan = change.plan or self.plan
        self.confidence = change.confidence

    def copy(self) -> "BdiState":
        clone = BdiState()
        clone.beliefs = dict(self.beliefs)
        clone.goals, clone.intentions = self.goals, self.intentions
        clone.plan, clone.confidence = self.plan, self.confidence
        return clone


def fold(states: dict[str, BdiState], entry: BdiEntry) -> None:
    """Apply the entry to the state of its agent; a new agent starts with an empty state."""
    bdi_state = states.get(entry.agent)
    if bdi_state is None:
        bdi_state = states[entry.agent] = BdiState()
    bdi_state.apply(entry.change, entry.seq)
