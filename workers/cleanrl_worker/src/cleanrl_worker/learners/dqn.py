"""DQN: learn what each action is worth, from a memory of past steps.

A network tells the return to expect of each action. Its target is the reward plus what a slowly
following copy of it expects of the best next action; the steps it learns from are drawn from a
buffer, so that they do not resemble each other. For discrete actions and flat observations.

Mnih et al., "Human-level control through deep reinforcement learning", 2015.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.environments.making import one_array
from cleanrl_worker.learning.cadence import times_due
from cleanrl_worker.learning.exploration import (
    EpsilonGreedy,
    EpsilonGreedyPolicy,
    epsilon_at,
    first_epsilon,
)
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.numpy_mlp import NumpyMlp
from cleanrl_worker.learning.replay_buffer import ReplayBuffer
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.weight_views import Follower
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

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
    """how far a step of the optimizer goes"""
    buffer_size: int = 10_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 1.0
    """how far the target network moves towards the network at an update of it"""
    target_network_frequency: int = 500
    """steps between two updates of the target network"""
    batch_size: int = 128
    """remembered steps that an update learns from"""
    start_e: float = 1.0
    """the share of random actions at the beginning; a warm start begins with end_e"""
    end_e: float = 0.05
    """the share of random actions once exploration is over"""
    exploration_fraction: float = 0.5
    """the part of all steps over which that share falls"""
    learning_starts: int = 10_000
    """steps before the first update"""
    train_frequency: int = 10
    """steps between two updates"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """The value of each action."""

    def __init__(self, observation_size: int, actions: int) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(observation_size, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, actions),
        )


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), actions).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate)
    target = Follower(agent.network, optimizer)
    values_of = NumpyMlp(agent.network)
    choose = EpsilonGreedy(values_of, actions)
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
                values_of.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    told = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.scalars({**told, **losses}, step)
            if times_due(step, envs.num_envs, args.target_network_frequency):
                target.follow(args.tau)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


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
    actions = tensors["network.4.weight"].shape[0]
    agent = Agent(tensors["network.0.weight"].shape[1], actions)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(NumpyMlp(agent.network), actions, epsilon)


if __name__ == "__main__":
    run_script(Args, train)
