"""LiveAgents: whose steps and episodes are shown where several agents learn side by side.

Owned by `LiveModel`.
"""

from collections.abc import Iterable, Sequence

from gym_gui.live.feed.live_feed import LiveFeed
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import StepRecord


class LiveAgents:
    """Of one run; another one has its own."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        """Empty where the run names nobody."""
        self.chosen = ""

    def _note(self, named: Iterable[str], learners: Sequence[str]) -> None:
        """The first that tells what it has learnt is shown first."""
        self.names = tuple(sorted({*self.names, *named}))
        if not self.chosen and self.names:
            told = [name for name in learners if name in self.names]
            self.chosen = next(iter(told), self.names[0])

    def choose(self, name: str) -> bool:
        """Whether another one is shown now."""
        is_other = name != self.chosen and name in self.names
        self.chosen = name if is_other else self.chosen
        return is_other

    def newest_step(
        self, feed: LiveFeed, learners: Sequence[str], *, is_past: bool
    ) -> StepRecord | None:
        """Of the one that is shown. `is_past`: there is only the last one, so that decides."""
        step = feed.newest_step("" if is_past else self.chosen)
        self._note(feed.agents, learners)
        if is_past and step is not None and step.agent_id:
            self.choose(step.agent_id)
        is_mine = step is not None and step.agent_id in (None, self.chosen)
        return step if is_mine else None

    def newest_of(
        self, episodes: Sequence[EpisodeRollup], learners: Sequence[str]
    ) -> EpisodeRollup:
        """Of the one that is shown, if it has one among these; the newest come first."""
        self._note((each.agent_id for each in episodes if each.agent_id), learners)
        mine = (each for each in episodes if each.agent_id in (None, self.chosen))
        return next(mine, episodes[0])
