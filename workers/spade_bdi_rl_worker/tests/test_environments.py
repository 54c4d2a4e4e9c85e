"""States as numbers, and environments that a table is not for."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, encoding_of

if TYPE_CHECKING:
    from pathlib import Path


def test_the_parts_of_a_blackjack_hand_make_one_number() -> None:
    """Each hand has its own, and all fit the table."""
    encoding = encoding_of(make_environment("Blackjack-v1"))
    hands = [(own, dealer, ace) for own in range(32) for dealer in range(11) for ace in (0, 1)]
    numbers = {encoding.index(hand) for hand in hands}
    assert numbers == set(range(encoding.states))


def test_states_of_a_minigrid_are_told_apart_by_all_that_is_in_it() -> None:
    """Where the agent stands, where it looks, and what it carries or has opened."""
    pytest.importorskip("minigrid")
    env = make_environment("MiniGrid-DoorKey-5x5-v0")
    observation, _ = env.reset(seed=1)
    encoding = encoding_of(env)
    assert isinstance(encoding, HashedStates)
    begun = encoding.index(observation)
    turned = encoding.index(env.step(0)[0])
    back = encoding.index(env.step(1)[0])

    assert (begun, turned, back) == (0, 1, 0)
    assert encoding.known() == 0
    key = next(thing for thing in env.unwrapped.grid.grid if thing and thing.type == "key")
    env.unwrapped.carrying = key
    assert encoding.known() is None
    env.close()


@pytest.mark.parametrize(
    ("env_id", "words"),
    [("CartPole-v1", "states that can be counted"), ("Pendulum-v1", "no discrete actions")],
)
def test_what_a_table_is_not_for_is_said(tmp_path: Path, env_id: str, words: str) -> None:
    """With what to choose instead."""
    run = LearningRun(tmp_path, {"env_id": env_id})
    with closing(run), pytest.raises(WorkerError, match=words) as caught:
        run.learner()
    assert "FrozenLake" in caught.value.remedy
