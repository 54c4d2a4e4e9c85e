"""Rainbow: DQN with six improvements combined.

Distributional returns (C51), n-step returns, prioritized experience replay, a dueling network with
value and advantage streams, double Q-learning, and noisy networks instead of epsilon-greedy
exploration. For discrete actions and flat observations.

Hessel et al., "Rainbow: Combining Improvements in Deep Reinforcement Learning", 2017.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.distributions import project_distribution
from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork
from cleanrl_worker.common.n_step import NStepReturns
from cleanrl_worker.common.networks import NoisyLinear
from cleanrl_worker.common.prioritized_replay import PrioritizedReplay
from cleanrl_worker.common.replay_buffer import count_due
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.common.prioritized_replay import PrioritizedBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "Rainbow"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 100_000},
    "classic-control": {"total_timesteps": 100_000},
    "box2d": {"total_timesteps": 500_000, "v_min": -300.0, "v_max": 300.0},
    "minigrid": {"total_timesteps": 300_000, "v_min": 0.0, "v_max": 1.0, "n_atoms": 51},
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of Rainbow."""

    total_timesteps: int = 200_000
    """Total timesteps of the experiment, over all environments."""
    learning_rate: float = 2.5e-4
    """Learning rate of the optimizer."""
    buffer_size: int = 50_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 1.0
    """Target smoothing coefficient; 1 copies the network."""
    target_network_frequency: int = 500
    """Steps between two updates of the target network."""
    batch_size: int = 64
    """Batch size of an update, sampled from the replay buffer."""
    learning_starts: int = 2_000
    """Steps before the first update."""
    train_frequency: int = 4
    """Steps between two updates."""
    n_step: int = 3
    """Steps of n-step returns."""
    prioritized_replay_alpha: float = 0.5
    """Prioritization exponent; 0 samples uniformly."""
    prioritized_replay_beta: float = 0.4
    """Initial importance-sampling exponent; it increases to 1."""
    n_atoms: int = 101
    """Number of atoms of the return distribution."""
    v_min: float = -100.0
    """Lower bound of the return distribution."""
    v_max: float = 100.0
    """Upper bound of the return distribution."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """Dueling network: the log probabilities of the atoms, for each action."""

    atoms: torch.Tensor

    def __init__(
        self, observation_size: int, num_actions: int, *, n_atoms: int, v_min: float, v_max: float
    ) -> None:
        super().__init__()
        self._num_actions, self._n_atoms = num_actions, n_atoms
        self.register_buffer("atoms", torch.linspace(v_min, v_max, n_atoms))
        self.torso = nn.Sequential(
            nn.Linear(observation_size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.state_head = NoisyLinear(128, n_atoms)
        self.action_head = NoisyLinear(128, num_actions * n_atoms)

    def reset_noise(self) -> None:
        """Call before each update or exploring step; without noise the mean weights are used."""
        self.state_head.reset_noise()
        self.action_head.reset_noise()

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return log probabilities [rows, actions, atoms]."""
        features = self.torso(observations)
        advantages = self.action_head(features).view(-1, self._num_actions, self._n_atoms)
        values = self.state_head(features).view(-1, 1, self._n_atoms)
        logits = values + advantages - advantages.mean(dim=1, keepdim=True)
        return logits.log_softmax(dim=2)

    def best_actions(self, observations: Any) -> Any:
        """Return the greedy actions as an array."""
        return self.predict_q_values(observations).argmax(axis=1)

    def predict_q_values(self, observations: Any) -> Any:
        """Return the Q values of each row as an array, without gradients."""
        with torch.no_grad():
            rows = torch.from_numpy(np.asarray(observations, dtype=np.float32))
            pmfs = self(rows.to(self.atoms.device)).exp()
            return (pmfs @ self.atoms).cpu().numpy()


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    agent = Agent(
        int(envs.single_observation_space.shape[0]),
        int(envs.single_action_space.n),
        n_atoms=args.n_atoms,
        v_min=args.v_min,
        v_max=args.v_max,
    ).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate, eps=1.5e-4, max_grad_norm=10.0)
    target_network = TargetNetwork(agent, optimizer)
    buffer = PrioritizedReplay(
        args.buffer_size,
        envs.single_observation_space,
        alpha=args.prioritized_replay_alpha,
        device=session.device,
    )
    n_step_returns = NStepReturns(args.n_step, envs.num_envs, args.gamma)
    updates = 0
    if session.resumed:
        training = session.resumed.training
        optimizer.load_state_dict(training["optimizer"])
        target_network.network.load_state_dict(training["target"])
        updates = training["updates"]
    replay_checkpoint = ReplayCheckpoint(buffer, session)
    learning_starts = replay_checkpoint.restore(args.learning_starts)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "optimizer": optimizer.state_dict(),
                "target": target_network.network.state_dict(),
                "open_steps": n_step_returns.state(),
                "updates": updates,
                **replay_checkpoint.state(),
            },
        }

    updates_between_reports = max(1, REPORT_STEPS // args.train_frequency)
    # Must be last: it also restores the random state of a resumed training.
    obs = session.initial_observations(envs)
    # Incomplete transitions belong to the episodes of the checkpoint only.
    if session.resumed and session.has_restored_envs:
        n_step_returns.load(session.resumed.training["open_steps"])
    step = session.first_step
    while step < args.total_timesteps:
        agent.reset_noise()
        actions = agent.best_actions(obs)
        next_obs, rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        session.log_episodes(infos, terminated, truncated, step)
        for transition in n_step_returns.add(obs, actions, rewards, terminated, next_obs, infos):
            buffer.add(transition)
        obs = next_obs

        # The first n-step transition takes several steps, even if learning_starts is smaller.
        if step > learning_starts and len(buffer):
            progress = min(1.0, step / args.total_timesteps)
            beta = args.prioritized_replay_beta + progress * (1.0 - args.prioritized_replay_beta)
            for _ in range(count_due(step, envs.num_envs, args.train_frequency)):
                batch = buffer.sample(args.batch_size, beta)
                errors, losses = update(agent, target_network.network, optimizer, batch)
                buffer.update_priorities(batch.indices, errors)
                updates += 1
                if updates % updates_between_reports == 0:
                    charts = {"charts/SPS": session.sps(step), "charts/beta": beta}
                    session.log_scalars({**charts, **losses}, step)
            if count_due(step, envs.num_envs, args.target_network_frequency):
                target_network.update(args.tau)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def update(
    agent: Agent, target_network: Any, optimizer: FlatAdam, batch: PrioritizedBatch
) -> tuple[Any, dict[str, Any]]:
    """Make one gradient step on a batch; returns the errors of its rows, and metrics."""
    rows = torch.arange(len(batch.actions), device=batch.actions.device)
    agent.reset_noise()
    target_network.reset_noise()
    with torch.no_grad():
        next_actions = (agent(batch.next_observations).exp() @ agent.atoms).argmax(dim=1)
        next_pmfs = target_network(batch.next_observations)[rows, next_actions].exp()
        next_atoms = batch.rewards[:, None] + batch.discounts[:, None] * agent.atoms
        target_pmfs = project_distribution(next_pmfs, next_atoms, agent.atoms)
    log_pmfs = agent(batch.observations)[rows, batch.actions]
    errors = -(target_pmfs * log_pmfs).sum(dim=1)
    loss = (errors * batch.weights).mean()
    optimizer.minimize(loss)
    q_values = log_pmfs.detach().exp() @ agent.atoms
    losses = {"losses/td_loss": loss.detach(), "losses/q_values": q_values.mean()}
    return errors.detach().cpu().numpy(), losses


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self.action_values = agent.predict_q_values
        self._agent = agent
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        if self._sampled:
            self._agent.reset_noise()
        return int(self._agent.best_actions(np.asarray(observation)[None])[0])


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: act with the noise of training."""
    tensors = checkpoint.policy
    n_atoms = len(tensors["atoms"])
    num_actions = tensors["action_head.weight"].shape[0] // n_atoms
    inputs = tensors["torso.0.weight"].shape[1]
    agent = Agent(inputs, num_actions, n_atoms=n_atoms, v_min=0.0, v_max=0.0)
    agent.load_state_dict(tensors)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
