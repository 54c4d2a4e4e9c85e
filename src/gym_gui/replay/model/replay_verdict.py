"""ReplayVerdict: how far a replay is proven to be what happened, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gym_gui.replay.feed.replays import ReplayState
from mosaic.contract.episodes import EpisodeDetails

Tone = Literal["plain", "good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class ReplayVerdict:
    """`headline` is a word or two; `text` and `detail` say the rest."""

    headline: str
    text: str = ""
    detail: str = ""
    tone: Tone = "plain"
    can_retry: bool = False


def verdict_of(
    details: EpisodeDetails, state: ReplayState, packages: Mapping[str, Any] | None
) -> ReplayVerdict:
    """What can be said now; it becomes more while the simulation runs."""
    if details.not_replayable:
        return ReplayVerdict(
            "not replayable",
            details.not_replayable,
            "What was recorded is shown instead.",
            "warning",
        )
    if state.error is not None:
        return ReplayVerdict(
            "stopped", state.error.message, state.error.remedy, "bad", can_retry=True
        )
    if not state.is_open:
        return ReplayVerdict("opening", "making the environment again")
    if state.first_difference is not None:
        return ReplayVerdict(
            f"differs from step {state.first_difference}",
            state.difference,
            _beside(state, packages),
            "bad",
        )
    if state.is_checked:
        text = f"{state.checked_steps:,} of {state.steps:,} rewards identical"
        tone: Tone = "warning" if state.warnings else "good"
        return ReplayVerdict("exact", text, _beside(state, packages), tone)
    return ReplayVerdict(
        "checking", f"{state.checked_steps:,} of {state.steps:,} rewards identical so far"
    )


def _beside(state: ReplayState, packages: Mapping[str, Any] | None) -> str:
    if state.warnings:
        return " ".join(state.warnings)
    version = (packages or {}).get("gymnasium")
    made_with = f"re-simulated with gymnasium {version}" if version else "re-simulated"
    return f"{made_with}, no video needed"
