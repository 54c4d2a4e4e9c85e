"""RewardTrack: rewards, returns and actors of episodes of any length."""

import math
import random
from array import array

from gym_gui.replay.feed.replays import EpisodeChunk
from gym_gui.replay.model.reward_track import RewardTrack


def filled(
    rewards: list[float], per_chunk: int, actors: tuple[tuple[int, str], ...] = ()
) -> RewardTrack:
    track = RewardTrack()
    for first in range(0, len(rewards), per_chunk):
        chunk = array("d", rewards[first : first + per_chunk])
        chunk_actors = tuple(actor for actor in actors if first <= actor[0] < first + per_chunk)
        track.extend(EpisodeChunk(first=first, rewards=chunk, actors=chunk_actors, steps=()))
    return track


def test_the_extent_of_any_range_is_that_of_its_rewards() -> None:
    """No spike is lost, and zero is always included."""
    chance = random.Random(1)
    rewards = [chance.gauss(0, 1) for _ in range(3_000)]
    rewards[1_234], rewards[77] = 500.0, math.nan
    track = filled(rewards, 700)
    for _ in range(200):
        first, end = sorted(chance.sample(range(3_001), 2))
        known = [value for value in rewards[first:end] if not math.isnan(value)]
        assert track.extent(first, end) == (min(0.0, *known), max(0.0, *known))
    assert track.highest == 500.0


def test_returns_skip_steps_that_were_not_stored() -> None:
    """A missing step has no reward and does not change the return."""
    track = filled([1.0, math.nan, 2.5], 2)
    assert [track.return_after(steps) for steps in range(5)] == [0.0, 1.0, 1.0, 3.5, None]
    assert [track.reward(step) for step in range(4)] == [1.0, None, 2.5, None]


def test_actor_spans_cross_chunks() -> None:
    """A takeover gives three spans of two actors."""
    actors = ((0, "dqn"), (100, "dqn"), (150, "human"), (200, "human"), (220, "dqn"))
    track = filled([0.0] * 300, 100, actors)
    assert track.actor_spans == (
        (range(150), "dqn"),
        (range(150, 220), "human"),
        (range(220, 300), "dqn"),
    )
    assert track.all_actors == ("dqn", "human")
    assert (track.actor(149), track.actor(150), track.actor(300)) == ("dqn", "human", None)


def test_one_outlier_does_not_hide_other_rewards() -> None:
    """The usual size ignores the largest rewards."""
    track = filled([0.5, -0.4] * 50 + [-100.0], 40)
    assert track.usual_size == 0.5
