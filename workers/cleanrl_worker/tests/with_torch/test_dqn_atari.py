"""DQN for Atari: pictures go in, lives end episodes but are not told, and it goes on exactly."""

from __future__ import annotations

import importlib.util
import unittest

from learner_checks import assert_acts, assert_resumes_exactly, trained_checkpoint

from cleanrl_worker.learners import dqn_atari
from mosaic_worker.environments.making import make_environment

GAME = "BreakoutNoFrameskip-v4"
QUICK = dqn_atari.Args(
    env_id=GAME,
    torch_threads=1,
    total_timesteps=260,
    buffer_size=100,
    learning_starts=60,
    train_frequency=5,
    target_network_frequency=40,
    batch_size=4,
)


@unittest.skipUnless(importlib.util.find_spec("ale_py"), "Atari games are not installed")
class DqnAtariTest(unittest.TestCase):
    """A few steps of a game."""

    def test_goes_on_exactly(self) -> None:
        """From a checkpoint in the middle of a game, with the buffer's ring gone round."""
        assert_resumes_exactly(self, dqn_atari, QUICK, 170)

    def test_policy_acts(self) -> None:
        """A checkpoint is all that it takes to play."""
        checkpoint, _ = trained_checkpoint(dqn_atari, QUICK)
        assert_acts(self, dqn_atari, checkpoint, dqn_atari.wrap_for_playing(make_environment(GAME)))


if __name__ == "__main__":
    unittest.main()
