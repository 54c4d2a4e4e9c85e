"""EpisodeTracker: the current episode of a run, combined from two streams.

Steps arrive by one stream, all other lines by another. Either stream may lag behind the other: the
last steps of an episode may arrive after the start line of the next one. The tracker never returns
to an episode that was followed by another one.
"""

from collections import deque
from dataclasses import dataclass, replace

from mosaic.client.former_names import FormerName
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord

_MAX_PAST_EPISODES = 1000

EpisodeLine = EpisodeStart | StepRecord | EpisodeEnd


@dataclass(frozen=True, slots=True)
class CurrentEpisode:
    """The current episode, as far as the newest events describe it."""

    episode_id: str
    ordinal: int | None = None
    """Counts from 0, as in the protocol."""
    seed: int | None = None
    steps: int = 0
    total_return: float | None = None
    """None until the episode has ended, if steps were skipped."""
    terminated: bool = False
    truncated: bool = False
    is_finished: bool = False
    """The line that ends the episode has arrived."""
    is_over = FormerName("is_finished")


class PastEpisodes:
    """The ids of the last episodes that were followed by another one."""

    def __init__(self) -> None:
        self._ids: deque[str] = deque(maxlen=_MAX_PAST_EPISODES)

    def __contains__(self, episode_id: str) -> bool:
        return episode_id in self._ids

    def add(self, episode_id: str) -> None:
        self._ids.append(episode_id)


class EpisodeTracker:
    """Tracks the episodes of one run; call `add` with every line in order of arrival."""

    def __init__(self) -> None:
        self.current: CurrentEpisode | None = None
        self.finished = 0
        """Number of finished episodes."""
        self.best_return: float | None = None
        self._past = PastEpisodes()

    def add(self, line: EpisodeLine) -> None:
        if isinstance(line, EpisodeEnd):
            self.finished += 1
            is_best = self.best_return is None or line.total_return > self.best_return
            self.best_return = line.total_return if is_best else self.best_return
        episode = self._select(line.episode_id)
        if episode is None:
            return
        if isinstance(line, EpisodeStart):
            self.current = replace(episode, ordinal=line.episode, seed=line.seed)
        elif isinstance(line, StepRecord):
            self.current = _add_step(episode, line)
        else:
            self.current = _add_end(episode, line)

    def _select(self, episode_id: str) -> CurrentEpisode | None:
        """Return the episode with that id as far as it is known; None if it is past."""
        if self.current is not None and self.current.episode_id == episode_id:
            return self.current
        if episode_id in self._past:
            return None
        if self.current is not None:
            self._past.add(self.current.episode_id)
        return CurrentEpisode(episode_id)


def _add_step(episode: CurrentEpisode, step: StepRecord) -> CurrentEpisode:
    if episode.is_finished or step.step < episode.steps:
        return episode
    is_next = step.step == episode.steps and (
        episode.steps == 0 or episode.total_return is not None
    )
    return replace(
        episode,
        steps=step.step + 1,
        total_return=(episode.total_return or 0.0) + step.reward if is_next else None,
        terminated=step.terminated,
        truncated=step.truncated,
    )


def _add_end(episode: CurrentEpisode, end: EpisodeEnd) -> CurrentEpisode:
    return replace(
        episode,
        ordinal=episode.ordinal if end.episode is None else end.episode,
        seed=episode.seed if end.seed is None else end.seed,
        steps=end.steps,
        total_return=end.total_return,
        terminated=episode.terminated if end.terminated is None else end.terminated,
        truncated=episode.truncated if end.truncated is None else end.truncated,
        is_finished=True,
    )
