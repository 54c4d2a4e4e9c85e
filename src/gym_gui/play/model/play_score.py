"""PlayScore: the episode that is played, put together from every line of the run.

Steps and other lines come by streams of their own, so either may be ahead of the other. Owned by
`PlayModel`.
"""

from collections import deque
from dataclasses import dataclass, replace

from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord

_MOST_PAST = 1000


@dataclass(frozen=True, slots=True)
class EpisodeScore:
    """What is known of the newest episode."""

    episode_id: str = ""
    ordinal: int | None = None
    """Counts from 0, as the protocol does."""
    seed: int | None = None
    steps: int = 0
    total_return: float = 0.0
    terminated: bool = False
    truncated: bool = False

    @property
    def is_over(self) -> bool:
        return self.terminated or self.truncated


class PastEpisodes:
    """Those after which another one was seen: nothing leads back to them."""

    def __init__(self) -> None:
        self._ids: deque[str] = deque(maxlen=_MOST_PAST)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._ids

    def add(self, episode_id: str) -> None:
        if episode_id:
            self._ids.append(episode_id)


class PlayScore:
    """Of one run."""

    def __init__(self) -> None:
        self.now = EpisodeScore()
        self.finished = 0
        self.best_return: float | None = None
        self._past = PastEpisodes()

    def take(self, line: EpisodeStart | StepRecord | EpisodeEnd) -> None:
        """In the order in which lines come."""
        if line.episode_id != self.now.episode_id:
            if line.episode_id in self._past:
                return
            self._past.add(self.now.episode_id)
            self.now = EpisodeScore(line.episode_id)
        if isinstance(line, EpisodeStart):
            self.now = replace(self.now, ordinal=line.episode, seed=line.seed)
        elif isinstance(line, StepRecord):
            self._take_step(line)
        else:
            self._take_end(line)

    def _take_step(self, step: StepRecord) -> None:
        if step.step < self.now.steps:
            return
        self.now = replace(
            self.now,
            steps=step.step + 1,
            total_return=self.now.total_return + step.reward,
            terminated=step.terminated,
            truncated=step.truncated,
        )

    def _take_end(self, end: EpisodeEnd) -> None:
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
