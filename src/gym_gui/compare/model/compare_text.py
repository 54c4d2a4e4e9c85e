"""Texts about two episodes side by side: their starts and their first difference."""

from collections.abc import Sequence
from typing import Any

from gym_gui.compare.feed.compare_pairs import EpisodePair
from gym_gui.compare.model.side_by_side_model import SideBySideModel
from gym_gui.runtime.models.formatting import format_significant
from gym_gui.runtime.models.notices import Tone

_MAX_VALUE_CHARACTERS = 24


def pair_text(pair: EpisodePair) -> str:
    """`seed 3 · # 0 and # 0 · return 10 and 9`."""
    parts = [pair.origin.text, f"# {pair.left:,} and # {pair.right:,}"]
    if pair.left_return is not None and pair.right_return is not None:
        left, right = format_significant(pair.left_return), format_significant(pair.right_return)
        parts.append(f"return {left} and {right}")
    return " · ".join(parts)


def start_text(replays: SideBySideModel, pairs: Sequence[EpisodePair] | None) -> tuple[str, Tone]:
    """Whether both have the same start; empty while that is not known."""
    if not replays.is_ready:
        return ("searching for the same seed", "plain") if pairs is None else ("", "plain")
    environments = {side.opening.run.run.env_id for side in replays.sides if side.opening}
    if len(environments) > 1:
        return "different environments", "warning"
    left, right = replays.origins
    if left is None or right is None:
        return "starts not recorded", "warning"
    if left == right:
        return (left.text if left.seed is None else f"same {left.text}"), "good"
    if left.seed is not None and right.seed is not None:
        return f"seeds differ: {left.seed} and {right.seed}", "warning"
    return "starts differ", "warning"


def divergence_text(replays: SideBySideModel) -> str:
    """The first difference of the two episodes."""
    if not replays.is_ready:
        return ""
    if not replays.is_searched:
        return "Searching for the first difference"
    divergence = replays.divergence
    if divergence is None:
        return "Both episodes are identical"
    prefix = f"First difference at step {divergence.step:,}:"
    match divergence.what:
        case "start":
            return "The starts differ"
        case "unrecorded":
            return "One episode has no recorded steps"
        case "action":
            values = f"{_short(divergence.left)} and {_short(divergence.right)}"
            return f"{prefix} different actions, {values}"
        case "reward":
            values = (
                f"{format_significant(divergence.left)} and {format_significant(divergence.right)}"
            )
            return f"{prefix} different rewards, {values}"
        case "observation":
            return f"{prefix} different observations"
    return f"{prefix} one episode ends"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else f"{text[: _MAX_VALUE_CHARACTERS - 1]}…"
