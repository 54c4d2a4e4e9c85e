"""The newest step and the score of its episode, from frames and stored lines.

A frame carries the line of its step and arrives before the step is stored; steps without a frame
come from the store only. Steps and other lines use separate streams, so either may be ahead. Owned
by `PlayModel`.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Any

from mosaic.contract.decode import decode
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord

_MAX_SUPERSEDED = 1000


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """Score of the newest episode."""

    episode_id: str = ""
    ordinal: int | None = None
    """Counts from 0, as the protocol does."""
    seed: int | None = None
    steps: int = 0
    total_return: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def is_finished(self) -> bool:
        return self.terminated or self.truncated


class SupersededEpisodes:
    """Ids of episodes that a newer episode has replaced; their late lines are ignored."""

    def __init__(self) -> None:
        self._ids: deque[str] = deque(maxlen=_MAX_SUPERSEDED)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._ids

    def add(self, episode_id: str) -> None:
        if episode_id:
            self._ids.append(episode_id)


class PlayScore:
    """Episode scores of one run, from its lines in any order between streams."""

    def __init__(self) -> None:
        self.now = EpisodeScore()
        self.finished = 0
        self.best_return: float | None = None
        self._past = SupersededEpisodes()

    def apply(self, line: EpisodeStart | StepRecord | EpisodeEnd) -> None:
        """Apply a line in the order of arrival."""
        if line.episode_id != self.now.episode_id:
            if line.episode_id in self._past:
                return
            self._past.add(self.now.episode_id)
            self.now = EpisodeScore(line.episode_id)
        if isinstance(line, EpisodeStart):
            self.now = replace(self.now, ordinal=line.episode, seed=line.seed)
        elif isinstance(line, StepRecord):
            self._apply_step(line)
        else:
            self._apply_end(line)

    def _apply_step(self, step: StepRecord) -> None:
        if step.step < self.now.steps:
            return
        self.now = replace(
            self.now,
            steps=step.step + 1,
            total_return=self.now.total_return + step.reward,
            terminated=step.terminated,
            truncated=step.truncated,
        )

    def _apply_end(self, end: EpisodeEnd) -> None:
        self.finished += 1
        best = self.best_return
        self.best_return = end.total_return if best is None else max(best, end.total_return)
        self.now = replace(
            self.now,
            ordinal=self.now.ordinal if end.episode is None else end.episode,
            seed=self.now.seed if end.seed is None else end.seed,
            steps=end.steps,
            total_return=end.total_return,
            terminated=self.now.terminated if end.terminated is None else end.terminated,
            truncated=self.now.truncated if end.truncated is None else end.truncated,
        )


BEFORE_FIRST_STEP = -1


@dataclass(frozen=True, slots=True)
class StepView:
    """State of the environment after a step, or before the first step."""

    episode_id: str = ""
    step: int = BEFORE_FIRST_STEP
    observation: Any = None
    info: Any = None
    render: Any = None
    record: StepRecord | None = None
    """The step record; None before the first step."""

    @property
    def action(self) -> Any:
        return self.record.action if self.record else None

    @property
    def is_finished(self) -> bool:
        return self.record is not None and (self.record.terminated or self.record.truncated)


class NewestStepView:
    """The newest step of one run; older lines are ignored."""

    def __init__(self) -> None:
        self.now = StepView()
        self._past = SupersededEpisodes()

    def apply_json(self, line: bytes) -> bool:
        """Apply the step line of a frame. Return whether it is newer."""
        if not line:
            return False
        try:
            event = decode(line)
        except ValueError:  # written by a worker, not validated
            return False
        return isinstance(event, EpisodeStart | StepRecord) and self.apply(event)

    def apply(self, line: EpisodeStart | StepRecord) -> bool:
        """Apply a line. Return whether it is newer."""
        step = line.step if isinstance(line, StepRecord) else BEFORE_FIRST_STEP
        if line.episode_id == self.now.episode_id:
            if step <= self.now.step:
                return False
        elif line.episode_id in self._past:
            return False
        else:
            self._past.add(self.now.episode_id)
        record = line if isinstance(line, StepRecord) else None
        self.now = StepView(line.episode_id, step, line.obs, line.info, line.render, record)
        return True
