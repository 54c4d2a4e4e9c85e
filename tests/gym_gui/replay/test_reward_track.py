"""RewardTrack: rewards, returns and actors of episodes of any length."""

import math
import random
from array import array

from gym_gui.replay.feed.replays import EpisodePart
from gym_gui.replay.model.reward_track import RewardTrack


def filled(
    rewards: list[float], per_part: int, actors: tuple[tuple[int, str], ...] = ()
) -> RewardTrack:
    track = RewardTrack()
    for first in range(0, len(rewards), per_part):
        part = array("d", rewards[first : first + per_part])
        here = tuple(each for each in actors if first <= each[0] < first + per_part)
        track.extend(EpisodePart(first=first, rewards=part, actors=here, steps=()))
    return track


def test_the_extent_of_any_stretch_is_that_of_its_rewards() -> None:
    """However long the stretch is, no spike is lost, and zero is always within."""
    chance = random.Random(1)
    rewards = [chance.gauss(0, 1) for _ in range(3_000)]
    rewards[1_234], rewards[77] = 500.0, math.nan
    track = filled(rewards, 700)
    for _ in range(200):
        first, end = sorted(chance.sample(range(3_001), 2))
        known = [value for value in rewards[first:end] if not math.isnan(value)]
        assert track.extent(first, end) == (min(0.0, *known), max(0.0, *known))
    assert track.highest == 500.0


def test_returns_add_up_and_leave_out_what_was_not_stored() -> None:
    """A step that is missing has no reward and changes no return."""
    track = filled([1.0, math.nan, 2.5], 2)
    assert [track.return_after(steps) for steps in range(5)] == [0.0, 1.0, 1.0, 3.5, None]
    assert [track.reward(step) for step in range(4)] == [1.0, None, 2.5, None]


def test_who_acted_is_told_in_spans_across_parts() -> None:
    """A takeover in the middle makes three spans of two actors."""
    actors = ((0, "dqn"), (100, "dqn"), (150, "human"), (200, "human"), (220, "dqn"))
    track = filled([0.0] * 300, 100, actors)
    assert track.actor_spans == (
        (range(150), "dqn"),
        (range(150, 220), "human"),
        (range(220, 300), "dqn"),
    )
    assert track.everyone == ("dqn", "human")
    assert (track.actor(149), track.actor(150), track.actor(300)) == ("dqn", "human", None)


def test_one_crash_does_not_hide_all_other_rewards() -> None:
    """The usual size is that of nearly all rewards, not of the largest."""
    track = filled([0.5, -0.4] * 50 + [-100.0], 40)
    assert track.usual_size == 0.5
