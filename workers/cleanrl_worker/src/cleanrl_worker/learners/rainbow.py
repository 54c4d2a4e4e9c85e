"""Rainbow: six improvements of DQN in one.

Distributions of returns instead of their means (C51), rewards of several steps at once, a memory
that draws what was badly predicted more often, a network that tells how good a state is apart from
how much better an action is (dueling), next actions that one network chooses and another one
judges (double), and noisy weights instead of random actions. For discrete actions and flat
observations.

Hessel et al., "Rainbow: Combining Improvements in Deep Reinforcement Learning", 2017.
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
from cleanrl_worker.learning.flat_adam import FlatAdam
from cleanrl_worker.learning.n_step import NStepRewards
from cleanrl_worker.learning.noisy_linear import NoisyLinear
from cleanrl_worker.learning.prioritized_replay import PrioritizedReplay
from cleanrl_worker.learning.replay_in_checkpoint import ReplayInCheckpoint
from cleanrl_worker.learning.return_distribution import share_out
from cleanrl_worker.learning.weight_views import Follower
from cleanrl_worker.session.script import run_script

if TYPE_CHECKING:
    from cleanrl_worker.learning.prioritized_replay import PrioritizedBatch
    from cleanrl_worker.playing.policy import Policy
    from cleanrl_worker.session.checkpoint_file import Checkpoint
    from cleanrl_worker.session.session import Session

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
    """steps of the experiment, over all environments"""
    learning_rate: float = 2.5e-4
    """how far a step of the optimizer goes"""
    buffer_size: int = 50_000
    """steps that are remembered"""
    gamma: float = 0.99
    """the discount of rewards to come"""
    tau: float = 1.0
    """how far the target network moves towards the network at an update of it"""
    target_network_frequency: int = 500
    """steps between two updates of the target network"""
    batch_size: int = 64
    """remembered steps that an update learns from"""
    learning_starts: int = 2_000
    """steps before the first update"""
    train_frequency: int = 4
    """steps between two updates"""
    n_step: int = 3
    """steps whose rewards are taken together"""
    prioritized_replay_alpha: float = 0.5
    """how much more often badly predicted steps are drawn; 0: not at all"""
    prioritized_replay_beta: float = 0.4
    """how far that preference is made up for at the beginning; it grows to 1"""
    n_atoms: int = 101
    """returns that a distribution is made of"""
    v_min: float = -100.0
    """the smallest of these returns"""
    v_max: float = 100.0
    """the largest of these returns"""


wrap = wrap_for_playing = one_array


class Agent(nn.Module):
    """Log probabilities of each return, for each action."""

    atoms: torch.Tensor

    def __init__(
        self, observation_size: int, actions: int, *, n_atoms: int, v_min: float, v_max: float
    ) -> None:
        super().__init__()
        self._actions, self._n_atoms = actions, n_atoms
        self.register_buffer("atoms", torch.linspace(v_min, v_max, n_atoms))
        self.torso = nn.Sequential(
            nn.Linear(observation_size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.state_head = NoisyLinear(128, n_atoms)
        self.action_head = NoisyLinear(128, actions * n_atoms)

    def draw_noise(self) -> None:
        """Before each use for learning or exploring; an agent without noise acts by the mean."""
        self.state_head.draw_noise()
        self.action_head.draw_noise()

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Of the shape [rows, actions, atoms]."""
        features = self.torso(observations)
        of_actions = self.action_head(features).view(-1, self._actions, self._n_atoms)
        of_state = self.state_head(features).view(-1, 1, self._n_atoms)
        logits = of_state + of_actions - of_actions.mean(dim=1, keepdim=True)
        return logits.log_softmax(dim=2)

    def best(self, observations: Any) -> Any:
        """From numpy to numpy: the action of the largest mean return."""
        return self.mean_returns(observations).argmax(axis=1)

    def mean_returns(self, observations: Any) -> Any:
        """From numpy to numpy: of each action, for each row."""
        with torch.no_grad():
            rows = torch.from_numpy(np.asarray(observations, dtype=np.float32))
            probabilities = self(rows.to(self.atoms.device)).exp()
            return (probabilities @ self.atoms).cpu().numpy()


def train(args: Args, session: Session) -> None:
    envs = session.make_envs(wrap)
    session.require_actions(envs, "discrete")
    agent = Agent(
        int(envs.single_observation_space.shape[0]),
        int(envs.single_action_space.n),
        n_atoms=args.n_atoms,
        v_min=args.v_min,
        v_max=args.v_max,
    ).to(session.device)
    if session.warm:
        agent.load_state_dict(session.warm.policy)
    optimizer = FlatAdam(agent.parameters(), args.learning_rate, eps=1.5e-4, max_grad_norm=10.0)
    target = Follower(agent, optimizer)
    replay = PrioritizedReplay(
        args.buffer_size,
        envs.single_observation_space,
        alpha=args.prioritized_replay_alpha,
        device=session.device,
    )
    rewards_of_steps = NStepRewards(args.n_step, envs.num_envs, args.gamma)
    updates = 0
    if session.resumed:
        training = session.resumed.training
        optimizer.load_state_dict(training["optimizer"])
        target.network.load_state_dict(training["target"])
        updates = training["updates"]
    kept = ReplayInCheckpoint(replay, session)
    learning_starts = kept.restore(args.learning_starts)

    def state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "optimizer": optimizer.state_dict(),
                "target": target.network.state_dict(),
                "open_steps": rewards_of_steps.state(),
                "updates": updates,
                **kept.state(),
            },
        }

    updates_between_reports = max(1, REPORT_STEPS // args.train_frequency)
    # The last thing before the loop: of a resumed training it also brings random numbers back.
    obs = session.first_observations(envs)
    # What is not complete belongs to the episodes of the checkpoint, and to no other ones.
    if session.resumed and session.came_back:
        rewards_of_steps.load(session.resumed.training["open_steps"])
    step = session.first_step
    while step < args.total_timesteps:
        agent.draw_noise()
        chosen = agent.best(obs)
        next_obs, rewards, terminated, truncated, infos = envs.step(chosen)
        step += envs.num_envs
        session.episodes(infos, terminated, truncated, step)
        for stretch in rewards_of_steps.add(obs, chosen, rewards, terminated, next_obs, infos):
            replay.add(stretch)
        obs = next_obs

        # The first stretch takes several steps, however early learning is to start.
        if step > learning_starts and len(replay):
            part = min(1.0, step / args.total_timesteps)
            beta = args.prioritized_replay_beta + part * (1.0 - args.prioritized_replay_beta)
            for _ in range(times_due(step, envs.num_envs, args.train_frequency)):
                batch = replay.sample(args.batch_size, beta)
                errors, losses = learn(agent, target.network, optimizer, batch)
                replay.tell_errors(batch.places, errors)
                updates += 1
                if updates % updates_between_reports == 0:
                    told = {"charts/SPS": session.sps(step), "charts/beta": beta}
                    session.scalars({**told, **losses}, step)
            if times_due(step, envs.num_envs, args.target_network_frequency):
                target.follow(args.tau)
        if not session.go_on(step, state):
            break
    session.finish(step, state)


def learn(
    agent: Agent, target: Any, optimizer: FlatAdam, batch: PrioritizedBatch
) -> tuple[Any, dict[str, Any]]:
    """One step towards what the target network expects; the errors, and what may be told."""
    rows = torch.arange(len(batch.actions), device=batch.actions.device)
    agent.draw_noise()
    target.draw_noise()
    with torch.no_grad():
        best = (agent(batch.next_observations).exp() @ agent.atoms).argmax(dim=1)
        future = target(batch.next_observations)[rows, best].exp()
        returns = batch.rewards[:, None] + batch.discounts[:, None] * agent.atoms
        expected = share_out(future, returns, agent.atoms)
    log_probabilities = agent(batch.observations)[rows, batch.actions]
    errors = -(expected * log_probabilities).sum(dim=1)
    loss = (errors * batch.weights).mean()
    optimizer.minimise(loss)
    values = log_probabilities.detach().exp() @ agent.atoms
    losses = {"losses/td_loss": loss.detach(), "losses/q_values": values.mean()}
    return errors.detach().cpu().numpy(), losses


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self.action_values = agent.mean_returns
        self._agent = agent
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        if self._sampled:
            self._agent.draw_noise()
        return int(self._agent.best(np.asarray(observation)[None])[0])


def load_policy(checkpoint: Checkpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: with the noise that was left at the end of training."""
    tensors = checkpoint.policy
    n_atoms = len(tensors["atoms"])
    actions = tensors["action_head.weight"].shape[0] // n_atoms
    inputs = tensors["torso.0.weight"].shape[1]
    agent = Agent(inputs, actions, n_atoms=n_atoms, v_min=0.0, v_max=0.0)
    agent.load_state_dict(tensors)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_script(Args, train)
