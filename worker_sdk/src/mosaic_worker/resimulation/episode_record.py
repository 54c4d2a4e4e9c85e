"""EpisodeRecord: the recording file that the daemon writes, as the simulation needs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path


class EpisodeRecord(NamedTuple):
    """How the episode began, what was done in it, and what came of it."""

    env_id: str
    env_kwargs: dict[str, Any]
    max_episode_steps: int | None
    seed: int | None
    start: dict[str, Any] | None
    options: dict[str, Any] | None
    action_dtype: str | None
    actions: list[Any]
    rewards: list[float]
    terminated: bool
    truncated: bool
    is_over: bool
    packages: dict[str, Any]

    @property
    def steps(self) -> int:
        return len(self.actions)


def read_record(path: Path) -> EpisodeRecord:
    """The record in the file. Raises `WorkerError` when there is none."""
    try:
        fields = json.loads(path.read_bytes())
        rewards = [float(reward) for reward in fields["rewards"]]  # "NaN" and "Infinity" too
        record = EpisodeRecord(
            env_id=fields["env_id"],
            env_kwargs=fields.get("env_kwargs") or {},
            max_episode_steps=fields.get("max_episode_steps"),
            seed=fields.get("seed"),
            start=fields.get("start"),
            options=fields.get("options"),
            action_dtype=fields.get("action_dtype"),
            actions=fields["actions"],
            rewards=rewards,
            terminated=fields["terminated"],
            truncated=fields["truncated"],
            is_over=fields["is_over"],
            packages=fields.get("packages") or {},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorkerError(
            f"The recording {path} cannot be read: {type(error).__name__}: {error}.",
            remedy="It is written by the trainer daemon; replay the episode again.",
        ) from error
    if len(record.actions) != len(record.rewards):
        raise WorkerError(
            f"The recording has {len(record.actions)} actions and {len(record.rewards)} rewards.",
            remedy="Its telemetry can still be looked at.",
        )
    return record
