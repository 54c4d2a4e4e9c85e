"""Whose steps are shown where several agents learn side by side, and what they have learnt."""

from gym_gui.live.model.live_agents import LiveAgents
from gym_gui.live.model.live_scene import LiveScene
from mosaic.contract.episodes import EpisodeRollup
from mosaic.contract.events import EnvironmentEvent, PolicyEvent, StepRecord


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


def test_one_agent_is_shown_until_a_person_chooses_another() -> None:
    """The one that tells what it has learnt; the newest episode is its own."""
    agents = LiveAgents()
    assert agents.newest_of([_episode(7, None)], ()).episode == 7
    assert not agents.chosen
    episodes = [_episode(9, "a"), _episode(8, "b"), _episode(7, "a")]
    assert agents.newest_of(episodes, ("b",)).episode == 8
    assert (agents.names, agents.chosen) == (("a", "b"), "b")
    assert not agents.choose("nobody")
    assert agents.choose("a")
    assert agents.newest_of(episodes, ("b",)).episode == 9


def test_arrows_are_those_of_the_agent_of_the_step() -> None:
    """What one has learnt is not drawn over the steps of another."""
    drawn = LiveScene()
    lake = EnvironmentEvent(env_id="FrozenLake-v1", env_kwargs={"map_name": "4x4"})
    drawn.take_policies({"a": PolicyEvent(actions=[1] * 16, agent_id="a")})
    drawn.draw("FrozenLake-v1", _step("a"), lake)
    assert drawn.policy.arrows
    drawn.draw("FrozenLake-v1", _step("b"), lake)
    assert not drawn.policy.arrows
    drawn.draw("FrozenLake-v1", _step(None), lake)
    assert drawn.policy.arrows
