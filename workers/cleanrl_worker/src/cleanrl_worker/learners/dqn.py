"""DQN: deep Q-learning with a replay buffer and a target network.

The TD target is the reward plus the discounted maximum Q value of the next state, computed with the
target network. Batches are sampled from a replay buffer, which decorrelates them. For discrete
actions and flat observations.

Mnih et al., "Human-level control through deep reinforcement learning", 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.exploration import (
    EpsilonGreedy,
    EpsilonGreedyPolicy,
    initial_epsilon,
    linear_schedule,
)
from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.replay_buffer import ReplayBuffer, count_due
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.common.replay_buffer import ReplayBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "DQN"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 200_000, "learning_starts": 1_000, "train_frequency": 4},
    "classic-control": {"total_timesteps": 300_000},
    "box2d": {
        "total_timesteps": 1_000_000,
        "learning_rate": 5e-4,
        "buffer_size": 100_000,
        "train_frequency": 4,
        "exploration_fraction": 0.2,
    },
    "minigrid": {
        "total_timesteps": 500_000,
        "buffer_size": 50_000,
        "train_frequency": 4,
    },
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of DQN."""

    learning_rate: float = 2.5e-4
    """Learning rate of the optimizer."""
    buffer_size: int = 10_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 1.0
    """Target smoothing coefficient; 1 copies the network."""
    target_network_frequency: int = 500
    """Steps between two updates of the target network."""
    batch_size: int = 128
    """Batch size of an update, sampled from the replay buffer."""
    start_e: float = 1.0
    """Initial exploration epsilon; a warm start uses end_e."""
    end_e: float = 0.05
    """Final exploration epsilon."""
    exploration_fraction: float = 0.5
    """Fraction of total_timesteps until epsilon reaches end_e."""
    learning_starts: int = 10_000
    """Steps before the first update."""
    train_frequency: int = 10
    """Steps between two updates."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """The Q network."""

    def __init__(self, observation_size: int, num_actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(observation_size, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, num_actions),
        )


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    num_actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate)
    target_network = TargetNetwork(agent.network, optimizer)
    q_network = NumpyMlp(agent.network)
    choose = EpsilonGreedy(q_network, num_actions)
    buffer = ReplayBuffer(
        args.buffer_size,
        envs.num_envs,
        envs.single_observation_space,
        envs.single_action_space,
        session.device,
    )
    updates = 0
    if session.resumed:
        training = session.resumed.training
        optimizer.load_state_dict(training["optimizer"])
        target_network.network.load_state_dict(training["target"])
        updates = training["updates"]
    start_e = initial_epsilon(session, start_e=args.start_e, end_e=args.end_e)
    replay_checkpoint = ReplayCheckpoint(buffer, session)
    learning_starts = replay_checkpoint.restore(args.learning_starts)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "optimizer": optimizer.state_dict(),
                "target": target_network.network.state_dict(),
                "updates": updates,
                "first_epsilon": start_e,
                **replay_checkpoint.state(),
            },
        }

    exploration_steps = args.exploration_fraction * args.total_timesteps
    updates_between_reports = max(1, REPORT_STEPS // args.train_frequency)
    # Must be last: it also restores the random state of a resumed training.
    obs = session.initial_observations(envs)
    step = session.first_step
    while step < args.total_timesteps:
        epsilon = linear_schedule(start_e, args.end_e, exploration_steps, step)
        actions = choose(obs, epsilon)
        next_obs, rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        session.log_episodes(infos, terminated, truncated, step)
        buffer.add(obs, actions, rewards, terminated, next_obs, infos)
        obs = next_obs

        if step > learning_starts:
            for _ in range(count_due(step, envs.num_envs, args.train_frequency)):
                batch = buffer.sample(args.batch_size)
                losses = update(args, agent, target_network.network, optimizer, batch)
                q_network.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    charts = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.log_scalars({**charts, **losses}, step)
            if count_due(step, envs.num_envs, args.target_network_frequency):
                target_network.update(args.tau)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def update(
    args: Args, agent: Agent, target_network: nn.Module, optimizer: FlatAdam, batch: ReplayBatch
) -> dict[str, Any]:
    """Make one gradient step on a batch; returns metrics."""
    with torch.no_grad():
        target_max = target_network(batch.next_observations).amax(dim=1)
        td_target = batch.rewards + args.gamma * target_max * (1.0 - batch.terminated)
    q_values = agent.network(batch.observations).gather(1, batch.actions[:, None])[:, 0]
    loss = nn.functional.mse_loss(q_values, td_target)
    optimizer.minimize(loss)
    return {"losses/td_loss": loss.detach(), "losses/q_values": q_values.detach().mean()}


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: act with the final epsilon of training."""
    tensors = checkpoint.policy
    num_actions = tensors["network.4.weight"].shape[0]
    agent = Agent(tensors["network.0.weight"].shape[1], num_actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(NumpyMlp(agent.network), num_actions, epsilon)


if __name__ == "__main__":
    run_as_script(Args, train)
