"""ReplayStatus: how far a replay matches the recorded episode, as text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gym_gui.replay.feed.replays import ReplayState
from mosaic.contract.episodes import EpisodeDetails

Tone = Literal["plain", "good", "warning", "bad"]


@dataclass(frozen=True, slots=True)
class ReplayStatus:
    """`headline` is one or two words; `text` and `detail` explain it."""

    headline: str
    text: str = ""
    detail: str = ""
    tone: Tone = "plain"
    can_retry: bool = False


def replay_status(
    details: EpisodeDetails, state: ReplayState, packages: Mapping[str, Any] | None
) -> ReplayStatus:
    """The current status; it changes while the simulation runs."""
    if details.not_replayable:
        return ReplayStatus(
            "not replayable",
            details.not_replayable,
            "Recorded data is shown instead.",
            "warning",
        )
    if state.error is not None:
        return ReplayStatus(
            "stopped", state.error.message, state.error.remedy, "bad", can_retry=True
        )
    if not state.is_open:
        return ReplayStatus("opening", "recreating the environment")
    if state.first_difference is not None:
        return ReplayStatus(
            f"differs from step {state.first_difference}",
            state.difference,
            _provenance(state, packages),
            "bad",
        )
    if state.is_checked:
        text = f"{state.checked_steps:,} of {state.steps:,} rewards identical"
        tone: Tone = "warning" if state.warnings else "good"
        return ReplayStatus("exact", text, _provenance(state, packages), tone)
    return ReplayStatus(
        "checking", f"{state.checked_steps:,} of {state.steps:,} rewards identical so far"
    )


def _provenance(state: ReplayState, packages: Mapping[str, Any] | None) -> str:
    if state.warnings:
        return " ".join(state.warnings)
    version = (packages or {}).get("gymnasium")
    made_with = f"re-simulated with gymnasium {version}" if version else "re-simulated"
    return f"{made_with}, no video needed"
