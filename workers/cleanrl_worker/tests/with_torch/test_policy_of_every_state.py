"""The policy of a checkpoint for every state of a discrete space."""

from __future__ import annotations

import unittest
from typing import Any

import gymnasium as gym
import numpy as np
from learner_checks import train_to_checkpoint

from cleanrl_worker.learners import c51, dqn, ppo, pqn, rainbow, sac
from cleanrl_worker.playing import PolicyActor, list_observations

LAKE = "FrozenLake-v1"
OFF_POLICY = {"buffer_size": 100, "learning_starts": 50, "batch_size": 8}
LEARNERS: tuple[tuple[Any, dict[str, Any], bool], ...] = (
    (dqn, OFF_POLICY, True),
    (c51, OFF_POLICY, True),
    (rainbow, OFF_POLICY, True),
    (pqn, {"num_envs": 1, "num_steps": 16, "num_minibatches": 1}, True),
    (ppo, {"num_envs": 1, "num_steps": 16, "num_minibatches": 1}, False),
    (sac, OFF_POLICY, False),
)


class PolicyOfEveryStateTest(unittest.TestCase):
    """In FrozenLake, which has sixteen states."""

    def test_the_policy_of_every_state_is_listed(self) -> None:
        """The greedy action of each state, and its values if there are any."""
        for learner, settings, has_values in LEARNERS:
            with self.subTest(learner.__name__):
                args = learner.Args(env_id=LAKE, total_timesteps=64, **settings)
                checkpoint, _ = train_to_checkpoint(learner, args)
                env = learner.wrap_for_playing(gym.make(LAKE))
                rows = list_observations(env)
                actor = PolicyActor(learner.load_policy(checkpoint), 0, rows)
                logged = actor.policy()
                assert logged is not None
                acted = [actor.act(row, {}) for row in rows]
                self.assertEqual(list(logged["actions"]), acted)
                self.assertEqual("q_values" in logged, has_values)
                if has_values:
                    self.assertEqual(logged["q_values"].shape, (16, 4))

    def test_listed_observations_match_the_environment(self) -> None:
        """The row of a state is the observation that the learner gets there."""
        env = dqn.wrap_for_playing(gym.make(LAKE))
        rows = list_observations(env)
        seen, _ = env.reset(seed=1)
        np.testing.assert_array_equal(rows[env.unwrapped.s], seen)

    def test_other_spaces_are_not_listed(self) -> None:
        """Continuous spaces have no table."""
        env = dqn.wrap_for_playing(gym.make("CartPole-v1"))
        self.assertIsNone(list_observations(env))
        self.assertIsNone(PolicyActor(object(), 0, None).policy())  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
