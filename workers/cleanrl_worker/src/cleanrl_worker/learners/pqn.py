"""PQN: Q-learning without a memory of past steps and without a target network.

Several environments are stepped together for a while; each action's target is its reward and a
blend of what followed and what the network expects to follow, Q(lambda). What keeps it stable is
that each layer's output is normalised. For discrete actions and flat observations.

Gallici et al., "Simplifying Deep Temporal Difference Learning", 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments.making import one_array
from cleanrl_worker.learning.exploration import (
    EpsilonGreedy,
    EpsilonGreedyPolicy,
    epsilon_at,
    first_epsilon,
)
from cleanrl_worker.learning.layers import orthogonal
from cleanrl_worker.learning.rollout import Rollout
from cleanrl_worker.learning.rollout_size import fit_rollout
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "PQN"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 500_000, "num_envs": 8, "num_steps": 32},
    "classic-control": {"total_timesteps": 500_000, "num_envs": 4},
    "box2d": {"total_timesteps": 2_000_000, "num_envs": 16, "num_steps": 64},
    "minigrid": {"total_timesteps": 1_000_000, "num_envs": 16, "num_steps": 64},
}


@dataclass
class Args(SharedArgs):
    """Flags of PQN."""

    num_envs: int = 4
    """environments that are stepped together"""
    learning_rate: float = 2.5e-4
    """how far a step of the optimizer goes"""
    num_steps: int = 128
    """steps of each environment between two updates"""
    num_minibatches: int = 4
    """parts that each pass over the steps is divided into"""
    update_epochs: int = 4
    """passes over the steps of an update"""
    anneal_lr: bool = True
    """lower the learning rate to 0 over the experiment"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    start_e: float = 1.0
    """the share of random actions at the beginning; a warm start begins with end_e"""
    end_e: float = 0.05
    """the share of random actions once exploration is over"""
    exploration_fraction: float = 0.5
    """the part of all steps over which that share falls"""
    max_grad_norm: float = 10.0
    """the largest length of the gradient"""
    q_lambda: float = 0.65
    """how far targets look at what followed (1) rather than at what is expected to (0)"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """The value of each action."""

    def __init__(self, observation_size: int, actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            orthogonal(nn.Linear(observation_size, 120)),
            nn.LayerNorm(120),
            nn.ReLU(),
            orthogonal(nn.Linear(120, 84)),
            nn.LayerNorm(84),
            nn.ReLU(),
            orthogonal(nn.Linear(84, actions)),
        )

    def values_of(self, observations: Any) -> Any:
        """From numpy to numpy, for choosing actions."""
        device = next(self.parameters()).device
        with torch.no_grad():
            return self.network(torch.from_numpy(observations).to(device)).cpu().numpy()


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    fit_rollout(args, session)
    observation_size = int(envs.single_observation_space.shape[0])
    actions = int(envs.single_action_space.n)
    agent = Agent(observation_size, actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = torch.optim.RAdam(agent.parameters(), lr=args.learning_rate)
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    choose = EpsilonGreedy(agent.values_of, actions)
    start_e = first_epsilon(session, start=args.start_e, end=args.end_e)
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=((observation_size,), np.float32),
        action=((), np.int64),
    )
    batch_size = args.num_steps * args.num_envs
    iterations = args.total_timesteps // batch_size

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict(), "first_epsilon": start_e},
        }

    # The last thing before the loop: of a resumed training it also brings random numbers back.
    rollout.observations[-1] = session.first_observations(envs)
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        learning_rate = args.learning_rate
        if args.anneal_lr:
            learning_rate *= 1.0 - iteration / iterations
        optimizer.param_groups[0]["lr"] = learning_rate
        collect(args, rollout, choose, start_e, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout)
        told = {"charts/learning_rate": learning_rate, "charts/SPS": session.sps(step)}
        session.scalars({**told, **losses}, step)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def collect(
    args: Args,
    rollout: Rollout,
    choose: EpsilonGreedy,
    start_e: float,
    envs: SameStepVector,
    session: Session,
    step: int,
) -> None:
    """Fill the rollout."""
    observations = rollout.observations
    observations[0] = observations[-1]
    exploration = args.exploration_fraction * args.total_timesteps
    for t in range(args.num_steps):
        epsilon = epsilon_at(step, start=start_e, end=args.end_e, duration=exploration)
        rollout.actions[t] = chosen = choose(observations[t], epsilon)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.episodes(infos, terminated, truncated, step)


def update(
    args: Args, agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout
) -> dict[str, Any]:
    """Learn from the rollout; returns what is to be told."""
    device = next(agent.parameters()).device

    def tensor(array: Any) -> torch.Tensor:
        """All steps of all environments in one row."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    # The returns of Q(lambda) are those that go with advantages, of the best action's value.
    _, returns, _ = rollout.judge(
        lambda observations: agent.values_of(observations).max(axis=1),
        gamma=args.gamma,
        gae_lambda=args.q_lambda,
    )
    all_observations = tensor(rollout.observations[:-1])
    all_actions = tensor(rollout.actions[..., None])
    all_returns = tensor(returns)
    batch_size = len(all_returns)
    for _ in range(args.update_epochs):
        order = torch.from_numpy(np.random.permutation(batch_size)).to(device)
        for rows in torch.split(order, batch_size // args.num_minibatches):
            values = agent.network(all_observations[rows]).gather(1, all_actions[rows])[:, 0]
            loss = nn.functional.mse_loss(values, all_returns[rows])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    return {"losses/td_loss": loss.item(), "losses/q_values": values.mean().item()}


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: with the random actions that were left at the end of training."""
    tensors = checkpoint.policy
    actions = tensors["network.6.weight"].shape[0]
    agent = Agent(tensors["network.0.weight"].shape[1], actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(agent.values_of, actions, epsilon)


if __name__ == "__main__":
    run_script(Args, train)
