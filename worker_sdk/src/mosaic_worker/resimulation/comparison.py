"""Comparison: whether an episode that is played again comes out as it was recorded."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.resimulation.episode_record import EpisodeRecord

_DOUBLE = struct.Struct("<d")


class Comparison:
    """Compares step by step and remembers the first difference. Steps are counted from 0."""

    def __init__(self, record: EpisodeRecord) -> None:
        self._record = record
        self.steps = 0
        """So many steps from the start have been compared."""
        self.first_difference: int | None = None
        self.difference = ""

    @property
    def is_over(self) -> bool:
        return self.first_difference is not None or self.steps == self._record.steps

    def compare(self, step: int, reward: float, terminated: bool, truncated: bool) -> None:
        """What came of a step now, against the record. A step is compared when it is first made."""
        if self.is_over or step < self.steps:
            return
        self.steps = step + 1
        difference = self._reward(step, reward) or self._end(step, terminated, truncated)
        if difference:
            self.first_difference = step
            self.difference = f"step {step}: {difference}"

    def _reward(self, step: int, reward: float) -> str:
        recorded = self._record.rewards[step]
        are_nan = math.isnan(recorded) and math.isnan(reward)
        if are_nan or _DOUBLE.pack(recorded) == _DOUBLE.pack(reward):
            return ""
        return f"reward {recorded!r} recorded, {reward!r} now"

    def _end(self, step: int, terminated: bool, truncated: bool) -> str:
        is_last = step == self._record.steps - 1
        if is_last and not self._record.is_over:
            return ""  # it was cut off before it could say whether this was its end
        was_terminated = is_last and self._record.terminated
        was_truncated = is_last and self._record.truncated
        if (was_terminated, was_truncated) == (terminated, truncated):
            return ""
        was, now = _in_words(was_terminated, was_truncated), _in_words(terminated, truncated)
        return f"the episode {was} in the record, it {now} now"


def _in_words(terminated: bool, truncated: bool) -> str:
    if terminated and truncated:
        return "is terminated and truncated"
    if terminated or truncated:
        return "is terminated" if terminated else "is truncated"
    return "goes on"
