"""State encodings, and environments that do not fit a table."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from workers.spade_bdi_rl_worker.tests.learning_run import LearningRun

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError
from spade_bdi_rl_worker.learning.state_encoding import HashedStates, make_state_encoding

if TYPE_CHECKING:
    from pathlib import Path


def test_blackjack_hands_have_distinct_indices() -> None:
    """Each hand has its own index, and all indices are in the table."""
    encoding = make_state_encoding(make_environment("Blackjack-v1"))
    hands = [
        (player, dealer, ace) for player in range(32) for dealer in range(11) for ace in (0, 1)
    ]
    indices = {encoding.index(hand) for hand in hands}
    assert indices == set(range(encoding.states))


def test_minigrid_states_depend_on_the_complete_grid() -> None:
    """On position and direction of the agent, carried objects and door states."""
    pytest.importorskip("minigrid")
    env = make_environment("MiniGrid-DoorKey-5x5-v0")
    observation, _ = env.reset(seed=1)
    encoding = make_state_encoding(env)
    assert isinstance(encoding, HashedStates)
    first = encoding.index(observation)
    turned = encoding.index(env.step(0)[0])
    back = encoding.index(env.step(1)[0])

    assert (first, turned, back) == (0, 1, 0)
    assert encoding.known_index() == 0
    key = next(cell for cell in env.unwrapped.grid.grid if cell and cell.type == "key")
    env.unwrapped.carrying = key
    assert encoding.known_index() is None
    env.close()


@pytest.mark.parametrize(
    ("env_id", "message"),
    [("CartPole-v1", "needs discrete states"), ("Pendulum-v1", "no discrete action space")],
)
def test_unsupported_environments_are_rejected(tmp_path: Path, env_id: str, message: str) -> None:
    """The remedy names supported ones."""
    run = LearningRun(tmp_path, {"env_id": env_id})
    with closing(run), pytest.raises(WorkerError, match=message) as caught:
        run.learner()
    assert "FrozenLake" in caught.value.remedy
