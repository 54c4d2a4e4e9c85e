"""The selected agent of a run with several agents, and their policies."""

from gym_gui.live.model.live_agents import LiveAgents
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import PolicyEvent, StepRecord


def _episode(number: int, agent: str | None) -> EpisodeRollup:
    return EpisodeRollup(
        episode=number,
        episode_id=f"ep{number}",
        revision=1,
        agent_id=agent,
        steps=3,
        total_return=0.0,
        is_over=True,
        terminated=True,
        truncated=False,
    )


def _step(agent: str | None) -> StepRecord:
    return StepRecord(
        episode_id="ep1",
        step=0,
        action=1,
        reward=0.0,
        terminated=False,
        truncated=False,
        obs=4,
        agent_id=agent,
    )


def test_agent_with_a_policy_is_selected_first() -> None:
    """It stays selected until the user selects another; the newest episode is its own."""
    agents = LiveAgents()
    assert agents.newest_episode([_episode(7, None)]).episode == 7
    assert not agents.selected
    agents.add_policies({"b": PolicyEvent(actions=[1] * 16, agent_id="b")})
    episodes = [_episode(9, "a"), _episode(8, "b"), _episode(7, "a")]
    assert agents.newest_episode(episodes).episode == 8
    assert (agents.names, agents.selected) == (("a", "b"), "b")
    assert not agents.select("unknown")
    assert agents.select("a")
    assert agents.newest_episode(episodes).episode == 9


def test_policy_is_that_of_the_agent_of_the_step() -> None:
    """The policy of one agent is not used for the steps of another."""
    agents = LiveAgents()
    policy = PolicyEvent(actions=[1] * 16, agent_id="a")
    agents.add_policies({"a": policy})
    assert agents.policy_of(_step("a")) is policy
    assert agents.policy_of(_step("b")) is None
    assert agents.policy_of(_step(None)) is policy
