"""The training session: checkpoints, resuming, and ends of a training."""

from __future__ import annotations

import dataclasses
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from quiet_session import RecordingSink, quiet_session

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.learners import ppo
from cleanrl_worker.session.checkpoint import read_checkpoint
from cleanrl_worker.session.torch_runtime import choose_device
from cleanrl_worker.session.training_session import TrainingSession
from mosaic_worker.errors import WorkerError


class SessionCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def train(
        self, env_id: str = "CartPole-v1", total: int = 400, **flags: Any
    ) -> tuple[list[Any], RecordingSink]:
        """A loop with random actions; returns every observation."""
        names = {field.name for field in dataclasses.fields(SharedArgs)} - {"resume"}
        args = SharedArgs(
            env_id=env_id,
            num_envs=2,
            total_timesteps=total,
            **{name: flags.pop(name) for name in list(flags) if name in names},
        )
        session, sink = quiet_session("ppo", args, self.folder, **flags)
        envs = session.make_envs()
        network = torch.nn.Linear(2, 2)

        def state() -> dict[str, Any]:
            return {"policy": network.state_dict()}

        session.initial_observations(envs)
        history, step = [], session.first_step
        while step < total:
            low, high = -1.0, 1.0
            actions = (
                np.random.randint(envs.single_action_space.n, size=2)
                if hasattr(envs.single_action_space, "n")
                else np.random.uniform(low, high, (2, *envs.single_action_space.shape))
            )
            observations, _, terminated, truncated, infos = envs.step(actions)
            step += 2
            history.append(observations.tolist())
            session.log_episodes(infos, terminated, truncated, step)
            if not session.on_iteration(step, state):
                break
        session.finish(step, state)
        session.close()
        return history, sink


class CheckpointTest(SessionCase):
    def test_schedule_best_and_last(self) -> None:
        """Scheduled checkpoints, of which the newest are kept, and the best and last ones."""
        self.train(checkpoint_every=100, keep_checkpoints=2)

        names = sorted(path.name for path in (self.folder / "checkpoints").iterdir())
        self.assertEqual(names, ["best.pt", "last.pt", "step-300.pt", "step-400.pt"])

    def test_a_checkpoint_is_sufficient_to_act(self) -> None:
        """Spaces, arguments and step, without code, so that it is safe to load."""
        self.train()

        checkpoint = read_checkpoint(self.folder / "checkpoints" / "last.pt")
        self.assertEqual((checkpoint.algo, checkpoint.global_step), ("ppo", 400))
        self.assertEqual(checkpoint.observation_space["shape"], [4])
        self.assertEqual(checkpoint.action_space["n"], 2)
        self.assertEqual(checkpoint.args["env_id"], "CartPole-v1")

    def test_a_damaged_checkpoint_is_an_error(self) -> None:
        """With a remedy."""
        path = self.folder / "broken.pt"
        for content in (b"", b"not a checkpoint", b"PK\x03\x04 half of one"):
            path.write_bytes(content)
            with self.assertRaises(WorkerError):
                read_checkpoint(path)

    def test_an_incomplete_checkpoint_is_an_error(self) -> None:
        """Also one of an unknown algorithm, and resuming from a published one."""
        self.train()
        path = self.folder / "checkpoints" / "last.pt"
        document = torch.load(path, weights_only=True)
        for change in ({"policy": None}, {"algo": "unknown_algorithm"}):
            changed = {**document, **change}
            torch.save({name: value for name, value in changed.items() if value is not None}, path)
            with self.assertRaises(WorkerError):
                read_checkpoint(path)
        torch.save({**document, "random": {}}, path)
        with self.assertRaises(WorkerError) as caught:
            quiet_session("ppo", SharedArgs(), self.folder, resume=path)
        self.assertIn("--warm-start", caught.exception.remedy)

    def test_a_resumed_training_equals_the_uninterrupted_one(self) -> None:
        """In every family: equal random numbers and environments."""
        for env_id in ("CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "Pendulum-v1"):
            with self.subTest(env_id):
                full, _ = self.train(env_id, checkpoint_every=100, keep_checkpoints=9)
                middle = self.folder / "checkpoints" / "step-200.pt"
                resumed, sink = self.train(env_id, resume=middle)
                self.assertEqual(resumed, full[-len(resumed) :])
                self.assertEqual(len(resumed), 100)
                self.assertNotIn("warning", [level for level, _ in sink.messages])

    def test_networks_with_nan_are_not_saved(self) -> None:
        """The last good checkpoint stays the last one, and the error names it."""
        args = SharedArgs(checkpoint_every=10)
        session, _ = quiet_session("ppo", args, self.folder)
        envs = session.make_envs()
        session.initial_observations(envs)
        session.save(10, lambda: {"policy": {"w": torch.ones(1)}})

        with self.assertRaises(WorkerError) as caught:
            session.save(20, lambda: {"policy": {"w": torch.tensor([float("nan")])}})
        session.close()

        self.assertIn("step-10.pt", caught.exception.remedy)
        self.assertEqual(read_checkpoint(self.folder / "checkpoints" / "last.pt").global_step, 10)

    def test_a_resumed_training_must_have_the_same_flags(self) -> None:
        """Another number of environments, or no steps left, is rejected with a remedy."""
        self.train(checkpoint_every=100, keep_checkpoints=9)
        path = self.folder / "checkpoints" / "step-200.pt"
        for flags, text in (
            ({"num_envs": 3}, "num_envs"),
            ({"env_id": "Acrobot-v1"}, "env_id"),
            ({"total_timesteps": 150}, "--total-timesteps"),
        ):
            changed: dict[str, Any] = {"num_envs": 2, "total_timesteps": 400, **flags}
            with self.assertRaises(WorkerError) as caught:
                quiet_session("ppo", SharedArgs(**changed), self.folder, resume=path)
            self.assertIn(text, str(caught.exception))

    def test_the_best_return_survives_a_resume(self) -> None:
        """A single good episode after it is not the best."""
        args = SharedArgs(total_timesteps=10_000)

        def save(session: TrainingSession, step: int, returns: list[float]) -> None:
            session.initial_observations(session.make_envs())
            session._returns.extend(returns)
            session.save(step, lambda: {"policy": {"w": torch.ones(1)}})
            session.close()

        first, _ = quiet_session("ppo", args, self.folder)
        save(first, 10, [50.0] * 20)
        last = self.folder / "checkpoints" / "last.pt"
        second, _ = quiet_session("ppo", args, self.folder, resume=last)
        save(second, 20, [10.0] * 90 + [99.0])

        self.assertEqual(read_checkpoint(self.folder / "checkpoints" / "best.pt").global_step, 10)
        self.assertEqual(read_checkpoint(last).best_return, 50.0)


class RolloutSizeTest(SessionCase):
    def test_a_short_training_has_short_rollouts(self) -> None:
        """It does not exceed its steps by a rollout."""
        args = ppo.Args(total_timesteps=100, num_envs=4, num_steps=128)
        session, sink = quiet_session("ppo", args, self.folder)
        ppo.train(args, session)
        session.close()

        self.assertEqual(sink.newest_step, 100)

    def test_minibatches_without_steps_are_rejected(self) -> None:
        """With the three numbers that do not match."""
        args = ppo.Args(num_envs=1, num_steps=4, num_minibatches=4)
        session, _ = quiet_session("ppo", args, self.folder)
        with self.assertRaises(WorkerError) as caught:
            ppo.train(args, session)
        session.close()
        self.assertIn("num_minibatches", caught.exception.remedy)


class EndsTest(SessionCase):
    def test_a_stop_request_saves_a_checkpoint(self) -> None:
        """Long before the last step."""
        _, sink = self.train(total=100_000, stop_at_step=200, save_model=False)

        self.assertLess(sink.newest_step, 50_000)
        self.assertTrue((self.folder / "checkpoints" / "last.pt").is_file())

    def test_max_episodes_ends_the_training(self) -> None:
        """Before total_timesteps is reached."""
        _, sink = self.train(total=100_000, max_episodes=5)

        self.assertIn(len(sink.finished), (5, 6))  # two environments may end at once

    def test_a_loss_of_nan_is_an_error(self) -> None:
        """It ends the training, with the step and the value."""
        session, _ = quiet_session("ppo", SharedArgs(), self.folder)
        with self.assertRaises(WorkerError) as caught:
            session.log_scalars({"losses/value_loss": float("nan")}, 77)
        session.close()

        self.assertIn("step 77", caught.exception.message)
        self.assertIn("losses/value_loss", caught.exception.message)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU here")
    def test_a_reserved_gpu_that_torch_does_not_find(self) -> None:
        """It is an error; there is no fallback to the CPU."""
        with self.assertRaises(WorkerError) as caught:
            choose_device(SharedArgs(), gpus=1)
        self.assertIn("--gpus 0", caught.exception.remedy)
        self.assertEqual(choose_device(SharedArgs(), gpus=0).type, "cpu")


if __name__ == "__main__":
    unittest.main()
