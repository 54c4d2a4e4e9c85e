"""EpisodeRecord: the recording file that the daemon writes; RecordComparison: replay against it."""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.errors import WorkerError

if TYPE_CHECKING:
    from pathlib import Path

_DOUBLE = struct.Struct("<d")


class EpisodeRecord(NamedTuple):
    """The start of the episode, its actions and their results."""

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
    is_finished: bool
    packages: dict[str, Any]

    @property
    def steps(self) -> int:
        return len(self.actions)


def read_record(path: Path) -> EpisodeRecord:
    """Read the recording file. Raises `WorkerError`."""
    try:
        fields = json.loads(path.read_bytes())
        # Also parses "NaN" and "Infinity".
        rewards = [float(reward) for reward in fields["rewards"]]
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
            is_finished=fields["is_over"],
            packages=fields.get("packages") or {},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WorkerError(
            f"The recording {path} cannot be read: {type(error).__name__}: {error}.",
            remedy="The trainer daemon writes it; replay the episode again.",
        ) from error
    if len(record.actions) != len(record.rewards):
        raise WorkerError(
            f"The recording has {len(record.actions)} actions and {len(record.rewards)} rewards.",
            remedy="Its telemetry can still be viewed.",
        )
    return record


class RecordComparison:
    """Compares rewards and end flags step by step; stops at the first difference."""

    def __init__(self, record: EpisodeRecord) -> None:
        self._record = record
        self.steps = 0
        """Number of compared steps."""
        self.first_difference: int | None = None
        self.difference = ""

    @property
    def is_finished(self) -> bool:
        return self.first_difference is not None or self.steps == self._record.steps

    def compare(self, step: int, reward: float, terminated: bool, truncated: bool) -> None:
        """Compare the result of step `step` (from 0). Repeated steps are ignored."""
        if self.is_finished or step < self.steps:
            return
        self.steps = step + 1
        difference = self._compare_reward(step, reward) or self._compare_end(
            step, terminated, truncated
        )
        if difference:
            self.first_difference = step
            self.difference = f"step {step}: {difference}"

    def _compare_reward(self, step: int, reward: float) -> str:
        recorded = self._record.rewards[step]
        are_nan = math.isnan(recorded) and math.isnan(reward)
        if are_nan or _DOUBLE.pack(recorded) == _DOUBLE.pack(reward):
            return ""
        return f"reward {recorded!r} in the record, {reward!r} in the replay"

    def _compare_end(self, step: int, terminated: bool, truncated: bool) -> str:
        is_last = step == self._record.steps - 1
        if is_last and not self._record.is_finished:
            return ""  # the recording stopped before it could contain an end
        was_terminated = is_last and self._record.terminated
        was_truncated = is_last and self._record.truncated
        if (was_terminated, was_truncated) == (terminated, truncated):
            return ""
        recorded, replayed = (
            _end_text(was_terminated, was_truncated),
            _end_text(terminated, truncated),
        )
        return f"the episode {recorded} in the record, but {replayed} in the replay"


def _end_text(terminated: bool, truncated: bool) -> str:
    if terminated and truncated:
        return "is terminated and truncated"
    if terminated or truncated:
        return "is terminated" if terminated else "is truncated"
    return "continues"
