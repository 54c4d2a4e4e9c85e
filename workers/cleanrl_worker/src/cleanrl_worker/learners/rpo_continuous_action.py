"""RPO: PPO for continuous actions with uniform noise on the action means in updates.

The noise keeps the entropy of the policy high, so that it continues to explore. The rest of the
algorithm is that of `ppo_continuous_action.py`.

Rahman and Xue, "Robust Policy Optimization in Deep Reinforcement Learning", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from cleanrl_worker.learners import ppo_continuous_action
from cleanrl_worker.learners.ppo_continuous_action import Args as PpoArgs
from cleanrl_worker.learners.ppo_continuous_action import load_policy, wrap, wrap_for_playing
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.session.training_session import TrainingSession

__all__ = ["Args", "load_policy", "train", "wrap", "wrap_for_playing"]

LABEL = "RPO"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {
        "total_timesteps": 300_000,
        "num_envs": 4,
        "num_steps": 1024,
        "learning_rate": 1e-3,
        "gamma": 0.9,
    },
    "box2d": {"total_timesteps": 2_000_000, "num_envs": 4, "num_steps": 1024},
    "mujoco": {"total_timesteps": 8_000_000, "num_envs": 1, "num_steps": 2048, "rpo_alpha": 0.5},
}


@dataclass
class Args(PpoArgs):
    """Flags of RPO."""

    total_timesteps: int = 8_000_000
    """Total timesteps of the experiment, over all environments."""
    rpo_alpha: float = 0.5
    """Bound of the uniform noise on the action mean."""


def train(args: Args, session: TrainingSession) -> None:
    def perturb_mean(mean: torch.Tensor) -> torch.Tensor:
        return mean + torch.empty_like(mean).uniform_(-args.rpo_alpha, args.rpo_alpha)

    ppo_continuous_action.train(args, session, perturb_mean)


if __name__ == "__main__":
    run_as_script(Args, train)
