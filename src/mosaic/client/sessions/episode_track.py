"""EpisodeTrack: which episode is being played, put together from two streams.

Steps and all other lines come by streams of their own, so either may be behind the other: the last
steps of an episode may come after the line that begins the next one. Used by `FollowedRun`.
"""

from collections import deque
from dataclasses import replace

from mosaic.client.sessions.session_state import EpisodeNow
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord

_MOST_PAST = 1000


class EpisodeTrack:
    """Never goes back to an episode after which another one was seen."""

    def __init__(self) -> None:
        self.now: EpisodeNow | None = None
        self.finished = 0
        self._past: deque[str] = deque(maxlen=_MOST_PAST)

    def take_start(self, event: EpisodeStart) -> None:
        episode = self._turned_to(event.episode_id)
        if episode is not None:
            self.now = replace(episode, ordinal=event.episode, seed=event.seed)

    def take_step(self, step: StepRecord) -> None:
        episode = self._turned_to(step.episode_id)
        if episode is not None:
            is_newer = not episode.is_over and step.step >= episode.steps
            self.now = replace(episode, steps=step.step + 1) if is_newer else episode

    def take_end(self, event: EpisodeEnd) -> None:
        self.finished += 1
        episode = self._turned_to(event.episode_id)
        if episode is not None:
            self.now = replace(
                episode,
                ordinal=episode.ordinal if event.episode is None else event.episode,
                seed=episode.seed if event.seed is None else event.seed,
                steps=event.steps,
                total_return=event.total_return,
                is_over=True,
            )

    def _turned_to(self, episode_id: str) -> EpisodeNow | None:
        """The episode of that id as it is known; None when it is past."""
        if self.now is not None and self.now.episode_id == episode_id:
            return self.now
        if episode_id in self._past:
            return None
        if self.now is not None:
            self._past.append(self.now.episode_id)
        return EpisodeNow(episode_id)
