"""DQN for Atari: frames as input, lost lives are not reported, and it resumes exactly."""

from __future__ import annotations

import dataclasses
import importlib.util
import tempfile
import unittest
from pathlib import Path

from learner_checks import assert_acts, assert_resumes_exactly, train_learner, train_to_checkpoint

from cleanrl_worker.learners import dqn_atari
from cleanrl_worker.session.checkpoint import read_checkpoint, write_checkpoint
from mosaic_worker.environments.factory import make_environment

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

    def test_resumes_exactly(self) -> None:
        """From a checkpoint within a game, after the buffer has wrapped around."""
        assert_resumes_exactly(self, dqn_atari, QUICK, 170)

    def test_games_that_cannot_be_restored_are_dropped(self) -> None:
        """Frames of a new game do not follow those of an old one."""
        with tempfile.TemporaryDirectory() as directory:
            changed = Path(directory) / "changed.pt"
            saved, _ = train_to_checkpoint(dqn_atari, QUICK)
            for position in saved.environments:
                position["observation"] = 255 - position["observation"]
            write_checkpoint(saved, changed)
            args = dataclasses.replace(QUICK, total_timesteps=QUICK.total_timesteps + 1)
            sink = train_learner(dqn_atari, args, Path(directory), resume=changed)
            resumed = read_checkpoint(Path(directory) / "checkpoints" / "last.pt")
        self.assertIn("could not be restored", sink.messages[-1][1])
        before, after = (checkpoint.training["buffer"] for checkpoint in (saved, resumed))
        self.assertFalse(before["is_beginning"].any())
        # The first frame of the new game, and the next one.
        self.assertGreater(int(after["written"] - before["written"]), 1)

    def test_a_warm_start_acts_with_the_trained_policy(self) -> None:
        """A deterministic policy acts from the first step on."""
        checkpoint, _ = train_to_checkpoint(dqn_atari, QUICK)
        checkpoint.policy["network.10.bias"][2] = 1_000.0
        args = dataclasses.replace(QUICK, end_e=0.0, total_timesteps=40)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "deterministic.pt"
            write_checkpoint(checkpoint, path)
            train_learner(dqn_atari, args, Path(directory), warm_start=path)
            saved = read_checkpoint(Path(directory) / "checkpoints" / "last.pt")
        buffer = saved.training["buffer"]
        self.assertEqual(set(buffer["actions"][buffer["is_drawable"]].tolist()), {2})

    def test_policy_acts(self) -> None:
        """From a checkpoint alone."""
        checkpoint, _ = train_to_checkpoint(dqn_atari, QUICK)
        assert_acts(self, dqn_atari, checkpoint, dqn_atari.wrap_for_playing(make_environment(GAME)))


if __name__ == "__main__":
    unittest.main()
