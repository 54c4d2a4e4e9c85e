"""C51: learn not only the mean of the return of each action, but its distribution.

For each action the network tells the probability of a number of evenly spaced returns (51 in the
paper, hence the name). Its target is the distribution that a slowly following copy of it expects of
the best next action, moved by the reward and shrunk by the discount, and shared out among the same
returns. For discrete actions and flat observations.

Bellemare et al., "A Distributional Perspective on Reinforcement Learning", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
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
from cleanrl_worker.learning.return_distribution import share_out
from cleanrl_worker.learning.weight_views import Follower
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.replay_buffer import Batch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

LABEL = "C51"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {
        "total_timesteps": 200_000,
        "learning_starts": 1_000,
        "train_frequency": 4,
    },
    "classic-control": {"total_timesteps": 500_000},
    "box2d": {
        "total_timesteps": 1_000_000,
        "v_min": -300.0,
        "v_max": 300.0,
        "buffer_size": 100_000,
        "train_frequency": 4,
        "exploration_fraction": 0.2,
    },
    "minigrid": {
        "total_timesteps": 500_000,
        "v_min": 0.0,
        "v_max": 1.0,
        "n_atoms": 51,
        "buffer_size": 50_000,
        "train_frequency": 4,
    },
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of C51."""

    learning_rate: float = 2.5e-4
    """how far a step of the optimizer goes"""
    n_atoms: int = 101
    """returns that the distribution is made of"""
    v_min: float = -100.0
    """the smallest of these returns"""
    v_max: float = 100.0
    """the largest of these returns"""
    buffer_size: int = 10_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    target_network_frequency: int = 500
    """steps between two copies of the network to the target network"""
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
    """The logits of each return, for each action."""

    atoms: torch.Tensor

    def __init__(
        self, observation_size: int, actions: int, *, n_atoms: int, v_min: float, v_max: float
    ) -> None:
        super().__init__()
        self._shape = (-1, actions, n_atoms)
        self.register_buffer("atoms", torch.linspace(v_min, v_max, n_atoms))
        self.network = nn.Sequential(
            nn.Linear(observation_size, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, actions * n_atoms),
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Log probabilities [rows, actions, atoms]."""
        return self.network(observations).view(self._shape).log_softmax(dim=2)


class MeanReturns:
    """The mean return of each action, in numpy, for choosing actions."""

    def __init__(self, agent: Agent, actions: int) -> None:
        self.network = NumpyMlp(agent.network)
        self._atoms = agent.atoms.cpu().numpy()
        self._shape = (-1, actions, len(self._atoms))

    def __call__(self, observations: Any) -> Any:
        logits = self.network(observations).reshape(self._shape)
        logits -= logits.max(axis=2, keepdims=True)
        weights = np.exp(logits, out=logits)
        return (weights @ self._atoms) / weights.sum(axis=2)


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    actions = int(envs.single_action_space.n)
    agent = Agent(
        int(envs.single_observation_space.shape[0]),
        actions,
        n_atoms=args.n_atoms,
        v_min=args.v_min,
        v_max=args.v_max,
    ).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate, eps=0.01 / args.batch_size)
    target = Follower(agent, optimizer)
    mean_returns = MeanReturns(agent, actions)
    choose = EpsilonGreedy(mean_returns, actions)
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
                mean_returns.network.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    told = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.scalars({**told, **losses}, step)
            if times_due(step, envs.num_envs, args.target_network_frequency):
                target.follow(1.0)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def learn(
    args: Args, agent: Agent, target: nn.Module, optimizer: FlatAdam, batch: Batch
) -> dict[str, Any]:
    """One step towards what the target network expects; returns what may be told."""
    rows = torch.arange(len(batch.actions), device=batch.actions.device)
    with torch.no_grad():
        futures = target(batch.next_observations).exp()
        best = (futures @ agent.atoms).argmax(dim=1)
        goes_on = args.gamma * (1.0 - batch.terminated)
        returns = batch.rewards[:, None] + goes_on[:, None] * agent.atoms
        expected = share_out(futures[rows, best], returns, agent.atoms)
    log_probabilities = agent(batch.observations)[rows, batch.actions]
    loss = -(expected * log_probabilities).sum(dim=1).mean()
    optimizer.minimise(loss)
    values = log_probabilities.detach().exp() @ agent.atoms
    return {"losses/loss": loss.detach(), "losses/q_values": values.mean()}


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: with the random actions that were left at the end of training."""
    tensors = checkpoint.policy
    n_atoms = len(tensors["atoms"])
    actions = tensors["network.4.weight"].shape[0] // n_atoms
    inputs = tensors["network.0.weight"].shape[1]
    agent = Agent(inputs, actions, n_atoms=n_atoms, v_min=0.0, v_max=0.0)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(MeanReturns(agent, actions), actions, epsilon)


if __name__ == "__main__":
    run_script(Args, train)
