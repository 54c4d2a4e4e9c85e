"""A run and its episodes in numbers, as the store has them and clients see them.

The messages `TelemetryCounts`, `Episode` and `EpisodePage` in `proto/trainer.proto` have the same
fields.
"""

from typing import Literal

import msgspec

EpisodeOrder = Literal["episode", "return", "steps"]
EpisodeEnding = Literal["", "over", "terminated", "truncated", "open"]
"""Empty: any. `over`: whatever its end; `open`: without one yet."""


class TelemetryStats(msgspec.Struct, kw_only=True, frozen=True):
    """What is in the store, and what could not be taken."""

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
    """One episode in numbers. `steps` are those stored, `reported_*` what the worker said."""

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


class EpisodeChoice(msgspec.Struct, kw_only=True, frozen=True):
    """Which episodes of a run, in which order. What is empty does not filter."""

    order: EpisodeOrder = "episode"
    descending: bool = False
    ended: EpisodeEnding = ""
    least_return: float | None = None
    most_return: float | None = None


class EpisodePage(msgspec.Struct, kw_only=True, frozen=True):
    """Some of the episodes that were chosen, in their order."""

    episodes: tuple[EpisodeRollup, ...]
    total: int = 0
    """How many there are in all."""
