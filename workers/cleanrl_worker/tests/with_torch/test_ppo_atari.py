"""PPO for Atari, with and without LSTM: exact resuming, acting, and LSTM states."""

from __future__ import annotations

import importlib.util
import tempfile
import unittest
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from learner_checks import assert_acts, assert_resumes_exactly, train_to_checkpoint
from quiet_session import quiet_session

from cleanrl_worker.environments.same_step_vector import SameStepVector
from cleanrl_worker.learners import ppo_atari, ppo_atari_lstm
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError

_GAME = "PongNoFrameskip-v4"
_BATCH = 16
_SMALL: dict[str, Any] = {
    "env_id": _GAME,
    "torch_threads": 1,
    "num_envs": 2,
    "num_steps": 8,
    "total_timesteps": 3 * _BATCH,
    "num_minibatches": 2,
    "update_epochs": 1,
}
_LEARNERS: tuple[Any, ...] = (ppo_atari, ppo_atari_lstm)


class _TruncatedNoise(gym.Env[Any, Any]):
    """Stacks of noise; an episode is truncated after three steps with reward 1 each."""

    observation_space = spaces.Box(0, 255, (4, 84, 84), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        return self._frames(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:  # noqa: ARG002
        self._steps += 1
        return self._frames(), 1.0, False, self._steps == 3, {}

    def _frames(self) -> Any:
        return self.np_random.integers(0, 256, (4, 84, 84), np.uint8)


class _FinalFrames(SameStepVector):
    """Keeps the final frames of an episode of the first environment."""

    final_frames: Any = None

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        result = super().step(actions)
        if result[-1]:
            self.final_frames = result[-1]["final_obs"][0]
        return result


@unittest.skipUnless(importlib.util.find_spec("ale_py"), "Atari games are not installed")
class Games(unittest.TestCase):
    def test_resumes_exactly(self) -> None:
        """Curves and network, with the LSTM state."""
        for learner in _LEARNERS:
            with self.subTest(learner.__name__):
                assert_resumes_exactly(self, learner, learner.Args(**_SMALL), _BATCH)

    def test_a_saved_policy_acts(self) -> None:
        """Greedy and sampled, on the observations of play."""
        for learner in _LEARNERS:
            args = learner.Args(**{**_SMALL, "total_timesteps": _BATCH})
            checkpoint, _ = train_to_checkpoint(learner, args)
            env = learner.wrap_for_playing(make_environment(_GAME))
            with self.subTest(learner.__name__):
                assert_acts(self, learner, checkpoint, env)


class LstmStateTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(2)
        self.agent = ppo_atari_lstm.Agent(3)

    def test_updates_reproduce_the_lstm_states_of_acting(self) -> None:
        """A rollout in one pass equals its single steps, across ends of episodes."""
        frames = np.random.default_rng(1).integers(0, 256, (6, 2, 1, 84, 84), np.uint8)
        starts = np.zeros((6, 2), np.bool_)
        starts[0], starts[2, 1], starts[3, 0], starts[5] = True, True, True, True
        lstm_state = self.agent.initial_lstm_state(2)
        with torch.no_grad():
            logits, values, last = self.agent(
                torch.from_numpy(frames), lstm_state, torch.from_numpy(starts)
            )
        for step in range(6):
            step_logits, step_values, lstm_state = self.agent.predict(
                frames[step], lstm_state, starts[step]
            )
            np.testing.assert_allclose(step_logits, logits[step].numpy(), rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(step_values, values[step].numpy(), rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(lstm_state, last)

    def test_a_truncated_episode_is_bootstrapped(self) -> None:
        """Its last reward includes the value of its final frame, with the episode's LSTM state."""
        args = ppo_atari_lstm.Args(**{**_SMALL, "num_envs": 1, "num_steps": 4, "gamma": 0.5})
        envs = _FinalFrames([_TruncatedNoise()])
        agent = ppo_atari_lstm.Agent(2)
        storage = ppo_atari_lstm.RecurrentRollout(args, envs, agent, 2)
        storage.rollout.observations[-1] = ppo_atari_lstm.last_frame(envs.reset(seed=3)[0])
        with tempfile.TemporaryDirectory() as directory:
            session, _ = quiet_session("ppo_atari_lstm", args, Path(directory))
            ppo_atari_lstm.collect(args, storage, agent, envs, session, 0)
            session.close()
        final_frame = ppo_atari_lstm.last_frame(envs.final_frames)[None]
        observations = np.concatenate([storage.rollout.observations[:3], final_frame[None]])
        starts = torch.tensor([[True], [False], [False], [False]])
        with torch.no_grad():
            values = agent(torch.from_numpy(observations), agent.initial_lstm_state(1), starts)[1]
        expected = [1.0, 1.0, 1.0 + 0.5 * float(values[3, 0]), 1.0]
        np.testing.assert_allclose(storage.rollout.rewards[:, 0], expected, rtol=1e-4)
        self.assertEqual(storage.starts[:, 0].tolist(), [True, False, False, True, False])

    def test_more_minibatches_than_environments_are_rejected(self) -> None:
        """With a remedy."""
        with self.assertRaisesRegex(WorkerError, "cannot be split"):
            train_to_checkpoint(
                ppo_atari_lstm, ppo_atari_lstm.Args(**{**_SMALL, "num_minibatches": 3})
            )


if __name__ == "__main__":
    unittest.main()
