"""Episodes as the store holds them and clients see them: statistics, pages and recordings.

The messages `TelemetryCounts`, `Episode`, `EpisodePage` and `EpisodeDetails` in
`proto/trainer.proto` have the same fields.
"""

from typing import Any, Literal

import msgspec

from mosaic.contract.events import EpisodeOrigin
from mosaic.contract.numbers import Real

EpisodeOrder = Literal["episode", "return", "steps"]
EpisodeStatus = Literal["", "over", "terminated", "truncated", "open"]
"""Empty: any. `over`: finished in any way; `open`: still running or cut off."""


class TelemetryStats(msgspec.Struct, kw_only=True, frozen=True):
    """What is stored of a run, and how many lines were rejected."""

    steps: int
    episodes: int
    metrics: int
    lines: int
    blank: int
    normalised: int
    duplicate_steps: int
    out_of_order_steps: int
    rejects: int
    rejects_by_kind: dict[str, int]
    types: dict[str, int]
    unknown_types: dict[str, int]
    spool_bytes: int
    committed_bytes: int


class EpisodeRollup(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """Statistics of one episode. `steps` counts stored steps; the worker reported `reported_*`."""

    episode: int
    episode_id: str
    revision: int
    agent_id: str | None = None
    steps: int
    total_return: float
    is_over: bool
    terminated: bool
    truncated: bool
    duplicate_steps: int = 0
    out_of_order_steps: int = 0
    reported_steps: int | None = None
    reported_return: float | None = None


class EpisodeQuery(msgspec.Struct, kw_only=True, frozen=True):
    """Filter and order of a list of episodes, with the fields of `QueryEpisodesRequest`.

    An empty field does not filter.
    """

    order: EpisodeOrder = "episode"
    descending: bool = False
    ended: EpisodeStatus = ""
    min_return: float | None = None
    max_return: float | None = None


class EpisodePage(msgspec.Struct, kw_only=True, frozen=True):
    """A page of the episodes that match a query, in its order."""

    episodes: tuple[EpisodeRollup, ...]
    total: int = 0
    """Number of matching episodes on all pages."""


class EpisodeRecording(msgspec.Struct, kw_only=True, frozen=True):
    """Everything needed to re-simulate one episode and to verify the result.

    The daemon builds it from the store and sends it as JSON to the simulation that runs in the
    bundle of the run.
    """

    env_id: str
    env_kwargs: dict[str, Any] = {}
    max_episode_steps: int | None = None
    seed: int | None = None
    start: EpisodeOrigin | None = None
    options: Any = None
    action_dtype: str | None = None
    """Of the recorded actions, where it differs from the action space."""
    actions: list[Any]
    rewards: list[Real]
    terminated: bool
    truncated: bool
    is_over: bool
    """False for an episode that was still running, was cut off, or did not report how it ended:
    its end cannot be compared."""
    packages: dict[str, Any] = {}


class EpisodeDetails(msgspec.Struct, kw_only=True, frozen=True):
    """One episode with the stored lines of its start, its end and its environment."""

    episode: EpisodeRollup
    start_json: bytes | None = None
    end_json: bytes | None = None
    environment_json: bytes | None = None
    not_replayable: str = ""
    """Why it cannot be replayed; empty when it can."""
