"""What is said of two episodes side by side: how they began, and where they part."""

from collections.abc import Sequence
from typing import Any

from gym_gui.compare.feed.compare_pairs import EpisodePair
from gym_gui.compare.model.side_by_side_model import SideBySideModel
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.number_text import significant

_LONGEST_VALUE = 24


def pair_words(pair: EpisodePair) -> str:
    """`seed 3 · # 0 and # 0 · return 10 and 9`."""
    words = [pair.origin.words, f"# {pair.left:,} and # {pair.right:,}"]
    if pair.left_return is not None and pair.right_return is not None:
        words.append(f"return {significant(pair.left_return)} and {significant(pair.right_return)}")
    return " · ".join(words)


def start_words(replays: SideBySideModel, pairs: Sequence[EpisodePair] | None) -> tuple[str, Tone]:
    """Whether both began alike; nothing while it is not known."""
    if not replays.is_ready:
        return ("looking for the same seed", "plain") if pairs is None else ("", "plain")
    environments = {side.opening.run.run.env_id for side in replays.sides if side.opening}
    if len(environments) > 1:
        return "different environments", "warning"
    left, right = replays.origins
    if left is None or right is None:
        return "starts not recorded", "warning"
    if left == right:
        return (left.words if left.seed is None else f"same {left.words}"), "good"
    if left.seed is not None and right.seed is not None:
        return f"seeds differ: {left.seed} and {right.seed}", "warning"
    return "starts differ", "warning"


def parting_words(replays: SideBySideModel) -> str:
    """Where the two are no longer the same."""
    if not replays.is_ready:
        return ""
    if not replays.is_searched:
        return "Looking for the first step that differs"
    parting = replays.parting
    if parting is None:
        return "The same from the first step to the last"
    place = f"They part at step {parting.step:,}:"
    match parting.what:
        case "start":
            return "They differ from the start"
        case "unrecorded":
            return "No steps were recorded of one of them, so they cannot be compared"
        case "action":
            return f"{place} other actions, {_short(parting.left)} and {_short(parting.right)}"
        case "reward":
            told = f"{significant(parting.left)} and {significant(parting.right)}"
            return f"{place} other rewards, {told}"
        case "observation":
            return f"{place} other observations"
    return f"{place} one of them ends there"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
