"""LiveAgents: the agents of a run, the selected one, and their newest policies.

Owned by `LiveModel`.
"""

from collections.abc import Iterable, Mapping, Sequence

from gym_gui.live.feed.live_feed import LiveFeed
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import PolicyEvent, StepRecord


class LiveAgents:
    """The agents of one run. Selects the first one that has reported a policy."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        """Empty if the run does not name its agents."""
        self.selected = ""
        self._policies: dict[str, PolicyEvent] = {}
        """By agent; the key is empty if the run does not name its agents."""

    def select(self, name: str) -> bool:
        """Return whether the selection changed."""
        is_changed = name != self.selected and name in self.names
        self.selected = name if is_changed else self.selected
        return is_changed

    def add_policies(self, policies: Mapping[str, PolicyEvent]) -> None:
        self._policies.update(policies)

    def policy_of(self, step: StepRecord) -> PolicyEvent | None:
        """Return the policy of the agent of a step. A policy without a name is of all agents."""
        policy = self._policies.get(step.agent_id or "") or self._policies.get("")
        if policy is None and step.agent_id is None:
            policy = next(iter(self._policies.values()), None)
        return policy

    def newest_step(self, feed: LiveFeed, *, is_finished: bool) -> StepRecord | None:
        """Return the newest step of the selected agent.

        With `is_finished` there is only the last step of the run, so its agent is selected.
        """
        step = feed.newest_step("" if is_finished else self.selected)
        self._add_names(feed.agents)
        if is_finished and step is not None and step.agent_id:
            self.select(step.agent_id)
        is_selected = step is not None and step.agent_id in (None, self.selected)
        return step if is_selected else None

    def newest_episode(self, episodes: Sequence[EpisodeRollup]) -> EpisodeRollup:
        """Return the first episode of the selected agent, or else the first one."""
        self._add_names(episode.agent_id for episode in episodes if episode.agent_id)
        own = (episode for episode in episodes if episode.agent_id in (None, self.selected))
        return next(own, episodes[0])

    def _add_names(self, names: Iterable[str]) -> None:
        self.names = tuple(sorted({*self.names, *names}))
        if not self.selected and self.names:
            learners = (name for name in self._policies if name in self.names)
            self.selected = next(learners, self.names[0])
