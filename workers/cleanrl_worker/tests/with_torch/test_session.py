"""What surrounds a learner: checkpoints, resuming, and what ends a training."""

from __future__ import annotations

import dataclasses
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy as np
import torch
from quiet_session import QuietOutlet, quiet_session

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.session.checkpoint_file import read_checkpoint
from cleanrl_worker.session.device import choose_device
from mosaic_worker.errors import WorkerError


class SessionCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def train(
        self, env_id: str = "CartPole-v1", total: int = 400, **given: Any
    ) -> tuple[list[Any], QuietOutlet]:
        """A loop that acts by chance; returns every observation."""
        names = {field.name for field in dataclasses.fields(SharedArgs)} - {"resume"}
        args = SharedArgs(
            env_id=env_id,
            num_envs=2,
            total_timesteps=total,
            **{name: given.pop(name) for name in list(given) if name in names},
        )
        session, outlet = quiet_session("chance", args, self.folder, **given)
        envs = session.make_envs()
        network = torch.nn.Linear(2, 2)

        def state() -> dict[str, Any]:
            return {"policy": network.state_dict()}

        session.first_observations(envs)
        seen, step = [], session.first_step
        while step < total:
            low, high = -1.0, 1.0
            chosen = (
                np.random.randint(envs.single_action_space.n, size=2)
                if hasattr(envs.single_action_space, "n")
                else np.random.uniform(low, high, (2, *envs.single_action_space.shape))
            )
            observations, _, terminated, truncated, infos = envs.step(chosen)
            step += 2
            seen.append(observations.tolist())
            session.episodes(infos, terminated, truncated, step)
            if not session.go_on(step, state):
                break
        session.finish(step, state)
        session.close()
        return seen, outlet


class CheckpointTest(SessionCase):
    def test_schedule_best_and_last(self) -> None:
        """Every so many steps, of which the newest stay; the best and the last have names."""
        self.train(checkpoint_every=100, keep_checkpoints=2)

        names = sorted(path.name for path in (self.folder / "checkpoints").iterdir())
        self.assertEqual(names, ["best.pt", "last.pt", "step-300.pt", "step-400.pt"])

    def test_it_holds_what_acting_needs(self) -> None:
        """Spaces, arguments and the step; and no code, so that anybody may load it."""
        self.train()

        checkpoint = read_checkpoint(self.folder / "checkpoints" / "last.pt")
        self.assertEqual((checkpoint.algo, checkpoint.global_step), ("chance", 400))
        self.assertEqual(checkpoint.observation_space["shape"], [4])
        self.assertEqual(checkpoint.action_space["n"], 2)
        self.assertEqual(checkpoint.args["env_id"], "CartPole-v1")

    def test_a_damaged_one_is_told(self) -> None:
        """As something that a person can do something about."""
        path = self.folder / "broken.pt"
        for content in (b"", b"not a checkpoint", b"PK\x03\x04 half of one"):
            path.write_bytes(content)
            with self.assertRaises(WorkerError):
                read_checkpoint(path)

    def test_a_resumed_training_is_the_uninterrupted_one(self) -> None:
        """In every family: the same random numbers, the same environments."""
        for env_id in ("CartPole-v1", "LunarLander-v3", "BipedalWalker-v3", "Pendulum-v1"):
            with self.subTest(env_id):
                whole, _ = self.train(env_id, checkpoint_every=100, keep_checkpoints=9)
                middle = self.folder / "checkpoints" / "step-200.pt"
                resumed, outlet = self.train(env_id, resume=middle)
                self.assertEqual(resumed, whole[-len(resumed) :])
                self.assertEqual(len(resumed), 100)
                self.assertNotIn("warning", [level for level, _ in outlet.words])

    def test_networks_with_nan_are_not_saved(self) -> None:
        """The last good checkpoint stays the last one, and is named."""
        args = SharedArgs(checkpoint_every=10)
        session, _ = quiet_session("chance", args, self.folder)
        envs = session.make_envs()
        session.first_observations(envs)
        session.save(10, lambda: {"policy": {"w": torch.ones(1)}})

        with self.assertRaises(WorkerError) as caught:
            session.save(20, lambda: {"policy": {"w": torch.tensor([float("nan")])}})
        session.close()

        self.assertIn("step-10.pt", caught.exception.remedy)
        self.assertEqual(read_checkpoint(self.folder / "checkpoints" / "last.pt").global_step, 10)


class EndsTest(SessionCase):
    def test_it_stops_when_told_to_with_a_checkpoint(self) -> None:
        """Long before its last step."""
        _, outlet = self.train(total=100_000, stop_at_step=200, save_model=False)

        self.assertLess(outlet.newest_step, 50_000)
        self.assertTrue((self.folder / "checkpoints" / "last.pt").is_file())

    def test_so_many_episodes_are_enough(self) -> None:
        """Whichever comes first ends it."""
        _, outlet = self.train(total=100_000, max_episodes=5)

        self.assertLess(len(outlet.finished), 2_000)
        self.assertGreaterEqual(len(outlet.finished), 5)

    def test_a_loss_that_is_no_number(self) -> None:
        """Ends the training, and names step and number."""
        session, _ = quiet_session("chance", SharedArgs(), self.folder)
        with self.assertRaises(WorkerError) as caught:
            session.scalars({"losses/value_loss": float("nan")}, 77)
        session.close()

        self.assertIn("step 77", caught.exception.message)
        self.assertIn("losses/value_loss", caught.exception.message)

    @unittest.skipIf(torch.cuda.is_available(), "there is a GPU here")
    def test_a_reserved_gpu_that_torch_does_not_see(self) -> None:
        """Is told; nothing is computed on the processor instead."""
        with self.assertRaises(WorkerError) as caught:
            choose_device(SharedArgs(), gpus=1)
        self.assertIn("--gpus 0", caught.exception.remedy)
        self.assertEqual(choose_device(SharedArgs(), gpus=0).type, "cpu")


if __name__ == "__main__":
    unittest.main()
