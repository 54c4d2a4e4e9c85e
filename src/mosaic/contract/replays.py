"""What an exact replay depends on: how an episode began, what was done in it, and what came of it.

The daemon makes an `EpisodeRecording` from the store and hands it, as JSON, to the simulation that
runs in the bundle of the run.
"""

from typing import Any

import msgspec

from mosaic.contract.events import EpisodeOrigin
from mosaic.contract.numbers import Real
from mosaic.contract.rollups import EpisodeRollup


class EpisodeRecording(msgspec.Struct, kw_only=True, frozen=True):
    """All that is needed to play one episode again, and to prove that it came out the same."""

    env_id: str
    env_kwargs: dict[str, Any] = {}
    max_episode_steps: int | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    options: Any = None
    action_dtype: str | None = None
    """Of its actions, where it was not that of the action space."""
    actions: list[Any]
    rewards: list[Real]
    terminated: bool
    truncated: bool
    is_over: bool
    """False for an episode that was still running, was cut off, or did not say how it ended: it has
    no end to compare."""
    packages: dict[str, Any] = {}


class EpisodeDetails(msgspec.Struct, kw_only=True, frozen=True):
    """One episode, with the lines that say how it began and ended. A message has the same name."""

    episode: EpisodeRollup
    start_json: bytes | None = None
    end_json: bytes | None = None
    environment_json: bytes | None = None
    not_replayable: str = ""
    """Why it cannot be replayed; empty when it can."""
