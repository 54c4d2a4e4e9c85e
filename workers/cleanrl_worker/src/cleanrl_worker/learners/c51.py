"""C51: distributional Q-learning with a categorical return distribution.

For each action the network predicts the probabilities of evenly spaced returns, the atoms (51 in
the paper, hence the name). The target is the target network's distribution of the best next action,
shifted by the reward, scaled by the discount, and projected onto the atoms. For discrete actions
and flat observations.

Bellemare et al., "A Distributional Perspective on Reinforcement Learning", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.distributions import project_distribution
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
    """Learning rate of the optimizer."""
    n_atoms: int = 101
    """Number of atoms of the return distribution."""
    v_min: float = -100.0
    """Lower bound of the return distribution."""
    v_max: float = 100.0
    """Upper bound of the return distribution."""
    buffer_size: int = 10_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
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
    """The log probabilities of the atoms, for each action."""

    atoms: torch.Tensor

    def __init__(
        self, observation_size: int, num_actions: int, *, n_atoms: int, v_min: float, v_max: float
    ) -> None:
        super().__init__()
        self._shape = (-1, num_actions, n_atoms)
        self.register_buffer("atoms", torch.linspace(v_min, v_max, n_atoms))
        self.network = nn.Sequential(
            nn.Linear(observation_size, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, num_actions * n_atoms),
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return log probabilities [rows, actions, atoms]."""
        return self.network(observations).view(self._shape).log_softmax(dim=2)


class QValues:
    """The mean of each action's return distribution, in numpy, for choosing actions."""

    def __init__(self, agent: Agent, num_actions: int) -> None:
        self.network = NumpyMlp(agent.network)
        self._atoms = agent.atoms.cpu().numpy()
        self._shape = (-1, num_actions, len(self._atoms))

    def __call__(self, observations: Any) -> Any:
        logits = self.network(observations).reshape(self._shape)
        logits -= logits.max(axis=2, keepdims=True)
        unnormalized = np.exp(logits, out=logits)
        return (unnormalized @ self._atoms) / unnormalized.sum(axis=2)


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    num_actions = int(envs.single_action_space.n)
    agent = Agent(
        int(envs.single_observation_space.shape[0]),
        num_actions,
        n_atoms=args.n_atoms,
        v_min=args.v_min,
        v_max=args.v_max,
    ).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate, eps=0.01 / args.batch_size)
    target_network = TargetNetwork(agent, optimizer)
    q_network = QValues(agent, num_actions)
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
                q_network.network.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    charts = {"charts/SPS": session.sps(step), "charts/epsilon": epsilon}
                    session.log_scalars({**charts, **losses}, step)
            if count_due(step, envs.num_envs, args.target_network_frequency):
                target_network.update(1.0)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def update(
    args: Args, agent: Agent, target_network: nn.Module, optimizer: FlatAdam, batch: ReplayBatch
) -> dict[str, Any]:
    """Make one gradient step on a batch; returns metrics."""
    rows = torch.arange(len(batch.actions), device=batch.actions.device)
    with torch.no_grad():
        next_pmfs = target_network(batch.next_observations).exp()
        next_actions = (next_pmfs @ agent.atoms).argmax(dim=1)
        discount = args.gamma * (1.0 - batch.terminated)
        next_atoms = batch.rewards[:, None] + discount[:, None] * agent.atoms
        target_pmfs = project_distribution(next_pmfs[rows, next_actions], next_atoms, agent.atoms)
    log_pmfs = agent(batch.observations)[rows, batch.actions]
    loss = -(target_pmfs * log_pmfs).sum(dim=1).mean()
    optimizer.minimize(loss)
    q_values = log_pmfs.detach().exp() @ agent.atoms
    return {"losses/loss": loss.detach(), "losses/q_values": q_values.mean()}


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: act with the final epsilon of training."""
    tensors = checkpoint.policy
    n_atoms = len(tensors["atoms"])
    num_actions = tensors["network.4.weight"].shape[0] // n_atoms
    inputs = tensors["network.0.weight"].shape[1]
    agent = Agent(inputs, num_actions, n_atoms=n_atoms, v_min=0.0, v_max=0.0)
    agent.load_state_dict(tensors)
    epsilon = checkpoint.args["end_e"] if sampled else 0.0
    return EpsilonGreedyPolicy(QValues(agent, num_actions), num_actions, epsilon)


if __name__ == "__main__":
    run_as_script(Args, train)
