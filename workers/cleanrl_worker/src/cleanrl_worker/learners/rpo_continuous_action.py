"""RPO: PPO for continuous actions whose policy is learnt as if its means had been shaken.

While learning, a random number is added to each mean, so that the policy cannot become too sure of
itself and goes on trying. Everything else is that of `ppo_continuous_action`.

Rahman and Xue, "Robust Policy Optimization in Deep Reinforcement Learning", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from cleanrl_worker.learners import ppo_continuous_action
from cleanrl_worker.learners.ppo_continuous_action import Args as PpoArgs
from cleanrl_worker.learners.ppo_continuous_action import load_policy, wrap, wrap_for_playing
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.session.session import Session

__all__ = ["Args", "load_policy", "train", "wrap", "wrap_for_playing"]

LABEL = "RPO, continuous actions"
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
    """steps of the experiment, over all environments"""
    rpo_alpha: float = 0.5
    """the most that is added to a mean, or taken from it"""


def train(args: Args, session: Session) -> None:
    def shaken(means: torch.Tensor) -> torch.Tensor:
        return means + torch.empty_like(means).uniform_(-args.rpo_alpha, args.rpo_alpha)

    ppo_continuous_action.train(args, session, shaken)


if __name__ == "__main__":
    run_script(Args, train)
