"""DQN for Atari games: learn what each action is worth from 84 x 84 pictures.

The algorithm is that of `dqn.py`; here the network has convolutions, an end of a life counts as an
end, rewards are -1, 0 or 1, and the buffer keeps each picture once.

Mnih et al., "Human-level control through deep reinforcement learning", 2015.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments import atari
from cleanrl_worker.learning.cadence import times_due
from cleanrl_worker.learning.exploration import (
    EpsilonGreedy,
    EpsilonGreedyPolicy,
    epsilon_at,
    first_epsilon,
)
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.frame_buffer import FrameBuffer
from cleanrl_worker.learning.nature_network import nature_network
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.weight_views import Follower
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "DQN for Atari"
ACTION_SPACES = ("discrete",)
FAMILIES = ("atari",)
LARGE_NETWORK = True
RECOMMENDED = {"atari": {"total_timesteps": 10_000_000, "buffer_size": 200_000}}
REPORT_STEPS = 100
SHARE_OF_MEMORY = 0.8


@dataclass
class Args(SharedArgs):
    """Flags of DQN for Atari."""

    env_id: str = "BreakoutNoFrameskip-v4"
    """the id of the environment"""
    total_timesteps: int = 10_000_000
    """steps of the experiment, over all environments"""
    learning_rate: float = 1e-4
    """how far a step of the optimizer goes"""
    buffer_size: int = 1_000_000
    """steps that are remembered; a million take 7 GB of memory"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 1.0
    """how far the target network moves towards the network at an update of it"""
    target_network_frequency: int = 1_000
    """steps between two updates of the target network"""
    batch_size: int = 32
    """remembered steps that an update learns from"""
    start_e: float = 1.0
    """the share of random actions at the beginning; a warm start begins with end_e"""
    end_e: float = 0.01
    """the share of random actions once exploration is over"""
    exploration_fraction: float = 0.1
    """the part of all steps over which that share falls"""
    learning_starts: int = 80_000
    """steps before the first update"""
    train_frequency: int = 4
    """steps between two updates"""


wrap = atari.for_training
wrap_for_playing = atari.for_playing


class Agent(nn.Module):
    """The value of each action."""

    def __init__(self, pictures: int, actions: int) -> None:
        super().__init__()
        self.network = nature_network(pictures, actions)

    def values_of(self, observations: Any) -> Any:
        """From numpy to numpy, for choosing actions."""
        device = next(self.parameters()).device
        with torch.no_grad():
            return self.network(torch.from_numpy(observations).to(device)).cpu().numpy()


def train(args: Args, session: Session) -> None:
    settings = atari.making_settings(args.env_id)
    envs = session.make_envs(wrap, settings=settings, reports_every_end=False)
    session.require_actions(envs, "discrete")
    actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate)
    target = Follower(agent.network, optimizer)
    choose = EpsilonGreedy(agent.values_of, actions)
    buffer = FrameBuffer(
        args.buffer_size, envs.num_envs, envs.single_observation_space, session.device
    )
    warn_of_memory(buffer, session)
    updates = 0
    if session.resumed:
        training = session.resumed.training
        optimizer.load_state_dict(training["optimizer"])
        target.network.load_state_dict(training["target"])
        updates = training["updates"]
    start_e = first_epsilon(session, start=args.start_e, end=args.end_e)
    kept = ReplayInCheckpoint(buffer, session)
    learning_starts = kept.restore(args.learning_starts)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "optimizer": optimizer.state_dict(),
                "target": target.network.state_dict(),
                "updates": updates,
                "first_epsilon": start_e,
                **kept.state(),
            },
        }

    exploration = args.exploration_fraction * args.total_timesteps
    updates_between_reports = max(1, REPORT_STEPS // args.train_frequency)
    # The last thing before the loop: of a resumed training it also brings random numbers back.
    obs = session.first_observations(envs)
    if not session.came_back:
        buffer.begin_anew()
    step = session.first_step
    while step < args.total_timesteps:
        epsilon = epsilon_at(step, start=start_e, end=args.end_e, duration=exploration)
        chosen = choose(obs, epsilon)
        next_obs, rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        session.episodes(infos, terminated, truncated, step)
        buffer.add(obs, chosen, rewards, terminated, next_obs, infos)
        obs = next_obs

        if step > learning_starts:
            for _ in range(times_due(step, envs.num_envs, args.train_frequency)):
                batch = buffer.sample(args.batch_size)
                losses = learn(args, agent, target.network, optimizer, batch)
                updates += 1
                if updates % updates_between_reports == 0:
                    told = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.scalars({**told, **losses}, step)
            if times_due(step, envs.num_envs, args.target_network_frequency):
                target.follow(args.tau)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def warn_of_memory(buffer: FrameBuffer, session: Session) -> None:
    """Memory is taken as the buffer is filled: without a word, training would be killed late."""
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if buffer.pictures.nbytes > installed * SHARE_OF_MEMORY:
        session.say(
            "warning",
            f"The replay buffer will grow to {buffer.pictures.nbytes / 2**30:.1f} GiB, and this"
            f" machine has {installed / 2**30:.1f}: choose a smaller --buffer-size.",
        )


def learn(
    args: Args, agent: Agent, target: nn.Module, optimizer: FlatAdam, batch: Batch
) -> dict[str, Any]:
    """One step towards what the target network expects; returns what may be told."""
    with torch.no_grad():
        best = target(batch.next_observations).amax(dim=1)
        expected = batch.rewards + args.gamma * best * (1.0 - batch.terminated)
    values = agent.network(batch.observations).gather(1, batch.actions[:, None])[:, 0]
    loss = nn.functional.mse_loss(values, expected)
    optimizer.minimise(loss)
    return {"losses/td_loss": loss.detach(), "losses/q_values": values.detach().mean()}


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: with the random actions that were left at the end of training."""
    tensors = checkpoint.policy
    actions = tensors["network.10.weight"].shape[0]
    agent = Agent(tensors["network.1.weight"].shape[1], actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(agent.values_of, actions, epsilon)


if __name__ == "__main__":
    run_script(Args, train)
