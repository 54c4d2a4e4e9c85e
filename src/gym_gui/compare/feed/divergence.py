"""The first step at which two recorded episodes differ. Blocks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mosaic.contract.events import StepRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

Difference = Literal["start", "action", "reward", "observation", "end", "unrecorded"]
RunEpisode = tuple[str, int]
"""A run id and an episode number."""
_PER_CALL = 500


@dataclass(frozen=True, slots=True)
class Divergence:
    """`step` is the first step that differs. `end`: only one episode has it. `unrecorded`: one
    episode has no recorded steps."""

    step: int
    what: Difference
    left: Any = None
    right: Any = None


def find_divergence(
    client: "TrainerClient", left: RunEpisode, right: RunEpisode, is_current: Callable[[], bool]
) -> Divergence | None:
    """None if both are identical, or if `is_current` returns False."""
    first = 0
    while is_current():
        ours, theirs = (
            client.episode_steps(*episode, first, _PER_CALL) for episode in (left, right)
        )
        for one, other in zip(ours, theirs, strict=False):
            divergence = difference(one, other)
            if divergence is not None:
                return divergence
        if first == 0 and not (ours and theirs):
            return Divergence(0, "unrecorded")
        if len(ours) != len(theirs) and min(len(ours), len(theirs)) < _PER_CALL:
            same = min(len(ours), len(theirs))
            longer = ours if len(ours) > len(theirs) else theirs
            return Divergence(longer[same].step, "end")
        if not ours:
            return None
        first = ours[-1].step + 1
    return None


def difference(one: StepRecord, other: StepRecord) -> Divergence | None:
    """The first difference of two steps; ignores what was not recorded for both."""
    if one.action != other.action:
        return Divergence(one.step, "action", one.action, other.action)
    if one.reward != other.reward:
        return Divergence(one.step, "reward", one.reward, other.reward)
    if one.obs is not None and other.obs is not None and one.obs != other.obs:
        return Divergence(one.step, "observation")
    if (one.terminated, one.truncated) != (other.terminated, other.truncated):
        return Divergence(one.step, "end")
    return None
