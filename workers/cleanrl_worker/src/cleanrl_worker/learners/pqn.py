"""PQN: parallelized Q-learning without a replay buffer and without a target network.

Parallel environments collect a rollout, and Q(lambda) returns are the targets of several epochs of
minibatch updates. Layer normalization keeps it stable. For discrete actions and flat observations.

Gallici et al., "Simplifying Deep Temporal Difference Learning", 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.exploration import (
    EpsilonGreedy,
    EpsilonGreedyPolicy,
    initial_epsilon,
    linear_schedule,
)
from cleanrl_worker.common.networks import layer_init
from cleanrl_worker.common.rollout import Rollout, validate_rollout_size
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

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
    """Number of parallel environments."""
    learning_rate: float = 2.5e-4
    """Learning rate of the optimizer."""
    num_steps: int = 128
    """Steps of each environment per rollout."""
    num_minibatches: int = 4
    """Number of minibatches per epoch."""
    update_epochs: int = 4
    """Epochs per update."""
    anneal_lr: bool = True
    """Anneal the learning rate linearly to 0."""
    gamma: float = 0.99
    """Discount factor gamma."""
    start_e: float = 1.0
    """Initial exploration epsilon; a warm start uses end_e."""
    end_e: float = 0.05
    """Final exploration epsilon."""
    exploration_fraction: float = 0.5
    """Fraction of total_timesteps until epsilon reaches end_e."""
    max_grad_norm: float = 10.0
    """Maximum gradient norm."""
    q_lambda: float = 0.65
    """Q(lambda): 0 uses one-step targets, 1 uses full returns."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """The Q network."""

    def __init__(self, observation_size: int, num_actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Linear(observation_size, 120)),
            nn.LayerNorm(120),
            nn.ReLU(),
            layer_init(nn.Linear(120, 84)),
            nn.LayerNorm(84),
            nn.ReLU(),
            layer_init(nn.Linear(84, num_actions)),
        )

    def predict_q_values(self, observations: Any) -> Any:
        """Return Q values as an array, without gradients."""
        device = next(self.parameters()).device
        with torch.no_grad():
            return self.network(torch.from_numpy(observations).to(device)).cpu().numpy()


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    validate_rollout_size(args, session)
    observation_size = int(envs.single_observation_space.shape[0])
    num_actions = int(envs.single_action_space.n)
    agent = Agent(observation_size, num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = torch.optim.RAdam(agent.parameters(), lr=args.learning_rate)
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    choose = EpsilonGreedy(agent.predict_q_values, num_actions)
    start_e = initial_epsilon(session, start_e=args.start_e, end_e=args.end_e)
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=((observation_size,), np.float32),
        action=((), np.int64),
    )
    batch_size = args.num_steps * args.num_envs
    iterations = args.total_timesteps // batch_size

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {"optimizer": optimizer.state_dict(), "first_epsilon": start_e},
        }

    # Must be last: it also restores the random state of a resumed training.
    rollout.observations[-1] = session.initial_observations(envs)
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        learning_rate = args.learning_rate
        if args.anneal_lr:
            learning_rate *= 1.0 - iteration / iterations
        optimizer.param_groups[0]["lr"] = learning_rate
        collect(args, rollout, choose, start_e, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout)
        charts = {"charts/learning_rate": learning_rate, "charts/SPS": session.sps(step)}
        session.log_scalars({**charts, **losses}, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def collect(
    args: Args,
    rollout: Rollout,
    choose: EpsilonGreedy,
    start_e: float,
    envs: SameStepVector,
    session: TrainingSession,
    step: int,
) -> None:
    """Fill the rollout."""
    observations = rollout.observations
    observations[0] = observations[-1]
    exploration_steps = args.exploration_fraction * args.total_timesteps
    for t in range(args.num_steps):
        epsilon = linear_schedule(start_e, args.end_e, exploration_steps, step)
        rollout.actions[t] = actions = choose(observations[t], epsilon)
        observations[t + 1], rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        rollout.add(t, rewards, terminated, truncated, infos)
        session.log_episodes(infos, terminated, truncated, step)


def update(
    args: Args, agent: Agent, optimizer: torch.optim.Optimizer, rollout: Rollout
) -> dict[str, Any]:
    """Update the Q network with the rollout; returns metrics."""
    device = next(agent.parameters()).device

    def tensor(array: Any) -> torch.Tensor:
        """Flatten the steps of all environments."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    # Q(lambda) returns are the GAE returns of the greedy action's value.
    _, returns, _ = rollout.compute_gae(
        lambda observations: agent.predict_q_values(observations).max(axis=1),
        gamma=args.gamma,
        gae_lambda=args.q_lambda,
    )
    b_obs = tensor(rollout.observations[:-1])
    b_actions = tensor(rollout.actions[..., None])
    b_returns = tensor(returns)
    batch_size = len(b_returns)
    for _ in range(args.update_epochs):
        permutation = torch.from_numpy(np.random.permutation(batch_size)).to(device)
        for mb_inds in torch.split(permutation, batch_size // args.num_minibatches):
            q_values = agent.network(b_obs[mb_inds]).gather(1, b_actions[mb_inds])[:, 0]
            loss = nn.functional.mse_loss(q_values, b_returns[mb_inds])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
    return {"losses/td_loss": loss.item(), "losses/q_values": q_values.mean().item()}


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: act with the final epsilon of training."""
    tensors = checkpoint.policy
    num_actions = tensors["network.6.weight"].shape[0]
    agent = Agent(tensors["network.0.weight"].shape[1], num_actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(agent.predict_q_values, num_actions, epsilon)


if __name__ == "__main__":
    run_as_script(Args, train)
