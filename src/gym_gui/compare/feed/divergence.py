"""The first step at which two recorded episodes are no longer the same. Waits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mosaic.contract.events import StepRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

Difference = Literal["start", "action", "reward", "observation", "end", "unrecorded"]
Place = tuple[str, int]
"""A run and the number of an episode."""
_PER_CALL = 500


@dataclass(frozen=True, slots=True)
class Divergence:
    """`step` is the number of the first step that differs; `end`: only one of them has it;
    `unrecorded`: of one of them no step was recorded, so nothing can be said."""

    step: int
    what: Difference
    left: Any = None
    right: Any = None


def find_divergence(
    client: "TrainerClient", left: Place, right: Place, is_wanted: Callable[[], bool]
) -> Divergence | None:
    """None where they are the same to the end, or nobody wants to know any more."""
    first = 0
    while is_wanted():
        ours, theirs = (client.episode_steps(*each, first, _PER_CALL) for each in (left, right))
        for one, other in zip(ours, theirs, strict=False):
            found = difference(one, other)
            if found is not None:
                return found
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
    """What sets two steps apart; what was not recorded of one of them does not."""
    if one.action != other.action:
        return Divergence(one.step, "action", one.action, other.action)
    if one.reward != other.reward:
        return Divergence(one.step, "reward", one.reward, other.reward)
    if one.obs is not None and other.obs is not None and one.obs != other.obs:
        return Divergence(one.step, "observation")
    if (one.terminated, one.truncated) != (other.terminated, other.truncated):
        return Divergence(one.step, "end")
    return None
