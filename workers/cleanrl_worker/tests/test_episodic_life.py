"""EpisodicLife: a lost life ends an episode for the learner, but not the game."""

from __future__ import annotations

import unittest
from typing import Any

import gymnasium as gym
import numpy as np
from workers.cleanrl_worker.tests.hand_made_environments import ThreeLives

from cleanrl_worker.environments.atari import EpisodicLife, FireOnLifeLoss
from cleanrl_worker.environments.same_step_vector import SameStepVector


def three_lives() -> Any:
    made = gym.wrappers.OrderEnforcing(ThreeLives())
    return EpisodicLife(gym.wrappers.RecordEpisodeStatistics(made))


class LivesTest(unittest.TestCase):
    def test_the_game_continues_after_a_lost_life(self) -> None:
        """A reset does not start a new game, and only a complete game is reported."""
        envs = SameStepVector([three_lives()], reports_every_end=False)
        envs.reset(seed=1)
        logged: list[int] = []
        ends = 0
        while not logged:
            _, _, terminated, _, infos = envs.step(np.zeros(1, np.int64))
            ends += int(terminated[0])
            if infos:
                episode = infos["final_info"]["episode"]
                logged += [episode["l"][0]] if episode["_r"][0] else []

        self.assertGreater(ends, 1)
        self.assertEqual(logged, [6])

    def test_a_game_is_restored_with_its_lives(self) -> None:
        """Resets that did not reach the game are repeated, too."""
        first = SameStepVector([three_lives()], reports_every_end=False)
        first.reset(seed=1)
        for _ in range(3):
            first.step(np.zeros(1, np.int64))
        positions = first.positions()
        expected = [first.step(np.zeros(1, np.int64))[0].tolist() for _ in range(8)]

        second = SameStepVector([three_lives()], reports_every_end=False)

        self.assertTrue(second.restore(positions))
        observations = [second.step(np.zeros(1, np.int64))[0].tolist() for _ in range(8)]
        self.assertEqual(observations, expected)

    def test_fire_is_pressed_after_each_lost_life(self) -> None:
        """As in training, where the policy does not learn to press it."""
        pressed = []

        class RecordingActions(ThreeLives):
            def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
                pressed.append(action)
                return super().step(action)

        env = FireOnLifeLoss(RecordingActions())
        env.reset(seed=1)
        terminated = False
        while not terminated:
            *_, terminated, _, _ = env.step(0)

        self.assertEqual(pressed.count(1), 2)


if __name__ == "__main__":
    unittest.main()
