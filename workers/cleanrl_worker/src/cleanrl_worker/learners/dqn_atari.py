"""DQN for Atari: deep Q-learning from stacked frames of 84 x 84 pixels.

The algorithm of `dqn.py`; here the network has convolutions, a lost life ends an episode, rewards
are clipped to -1, 0 or 1, and the replay buffer stores each frame once.

Mnih et al., "Human-level control through deep reinforcement learning", 2015.
"""

from __future__ import annotations

import os
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
from cleanrl_worker.common.frame_buffer import FrameReplayBuffer
from cleanrl_worker.common.networks import nature_dqn
from cleanrl_worker.common.replay_buffer import count_due
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments import atari
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.common.replay_buffer import ReplayBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "DQN for Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {"atari": {"total_timesteps": 10_000_000, "buffer_size": 200_000}}
REPORT_STEPS = 100
MEMORY_FRACTION = 0.8


@dataclass
class Args(SharedArgs):
    """Flags of DQN for Atari."""

    env_id: str = "BreakoutNoFrameskip-v4"
    """Id of the environment."""
    total_timesteps: int = 10_000_000
    """Total timesteps of the experiment, over all environments."""
    learning_rate: float = 1e-4
    """Learning rate of the optimizer."""
    buffer_size: int = 1_000_000
    """Size of the replay buffer; a million frames take 7 GB."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 1.0
    """Target smoothing coefficient; 1 copies the network."""
    target_network_frequency: int = 1_000
    """Steps between two updates of the target network."""
    batch_size: int = 32
    """Batch size of an update, sampled from the replay buffer."""
    start_e: float = 1.0
    """Initial exploration epsilon; a warm start uses end_e."""
    end_e: float = 0.01
    """Final exploration epsilon."""
    exploration_fraction: float = 0.1
    """Fraction of total_timesteps until epsilon reaches end_e."""
    learning_starts: int = 80_000
    """Steps before the first update."""
    train_frequency: int = 4
    """Steps between two updates."""


wrap = atari.wrap_for_training
wrap_for_playing = atari.wrap_for_playing


class Agent(nn.Module):
    """The Q network."""

    def __init__(self, frames: int, num_actions: int) -> None:
        super().__init__()
        self.network = nature_dqn(frames, num_actions)

    def predict_q_values(self, observations: Any) -> Any:
        """Return Q values as an array, without gradients."""
        device = next(self.parameters()).device
        with torch.no_grad():
            return self.network(torch.from_numpy(observations).to(device)).cpu().numpy()


def train(args: Args, session: TrainingSession) -> None:
    # A lost life ends an episode for the learner; reports are about complete games.
    default_kwargs = atari.make_kwargs(args.env_id)
    envs = session.make_envs(wrap, default_kwargs=default_kwargs, reports_every_end=False)
    session.require_action_space(envs, "discrete")
    num_actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate)
    target_network = TargetNetwork(agent.network, optimizer)
    choose = EpsilonGreedy(agent.predict_q_values, num_actions)
    buffer = FrameReplayBuffer(
        args.buffer_size, envs.num_envs, envs.single_observation_space, session.device
    )
    warn_if_memory_low(buffer, session)
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
    if not session.has_restored_envs:
        buffer.start_new_episodes()
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
                updates += 1
                if updates % updates_between_reports == 0:
                    charts = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.log_scalars({**charts, **losses}, step)
            if count_due(step, envs.num_envs, args.target_network_frequency):
                target_network.update(args.tau)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def warn_if_memory_low(buffer: FrameReplayBuffer, session: TrainingSession) -> None:
    """Warn at the start: the buffer allocates memory as it fills, so it would run out later."""
    total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if buffer.frames.nbytes > total_bytes * MEMORY_FRACTION:
        session.log_message(
            "warning",
            f"The replay buffer will grow to {buffer.frames.nbytes / 2**30:.1f} GiB, but this"
            f" machine has {total_bytes / 2**30:.1f} GiB: choose a smaller --buffer-size.",
        )


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
    num_actions = tensors["network.10.weight"].shape[0]
    agent = Agent(tensors["network.1.weight"].shape[1], num_actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(agent.predict_q_values, num_actions, epsilon)


if __name__ == "__main__":
    run_as_script(Args, train)
