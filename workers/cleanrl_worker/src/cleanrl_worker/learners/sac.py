"""SAC for discrete actions: off-policy maximum-entropy actor-critic.

A categorical actor and twin critics; targets use the minimum of both critics. Expectations over
actions are computed exactly instead of sampled. The entropy coefficient alpha is tuned towards a
target entropy. For flat observations; use `sac_continuous_action` for Box action spaces.

Christodoulou, "Soft Actor-Critic for Discrete Action Settings", 2019; Haarnoja et al., "Soft
Actor-Critic Algorithms and Applications", 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.distributions import gumbel_noise
from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.replay_buffer import ReplayBuffer, count_due
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cleanrl_worker.common.replay_buffer import ReplayBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "SAC for discrete actions"
ACTION_SPACES = ("discrete",)
LARGE_NETWORK = False
RECOMMENDED = {
    "toy-text": {"total_timesteps": 100_000, "target_entropy_scale": 0.3},
    "classic-control": {"total_timesteps": 100_000},
    "box2d": {"total_timesteps": 500_000, "batch_size": 256},
    "minigrid": {"total_timesteps": 300_000},
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of SAC for discrete actions."""

    total_timesteps: int = 200_000
    """Total timesteps of the experiment, over all environments."""
    buffer_size: int = 100_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 0.005
    """Target smoothing coefficient."""
    batch_size: int = 128
    """Batch size of an update, sampled from the replay buffer."""
    learning_starts: int = 5_000
    """Steps with random actions before the first update."""
    policy_lr: float = 3e-4
    """Learning rate of the actor."""
    q_lr: float = 3e-4
    """Learning rate of the critics."""
    update_frequency: int = 4
    """Steps between two updates."""
    target_network_frequency: int = 4
    """Steps between two updates of the target critics."""
    alpha: float = 0.2
    """Entropy coefficient if autotune is off."""
    autotune: bool = True
    """Tune the entropy coefficient automatically."""
    target_entropy_scale: float = 0.5
    """Target entropy, as a fraction of the maximum entropy."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """Actor, twin critics, and the entropy coefficient if it is tuned."""

    def __init__(self, observation_size: int, num_actions: int) -> None:
        super().__init__()
        self.actor = relu_mlp(observation_size, num_actions)
        self.critics = nn.ModuleList(relu_mlp(observation_size, num_actions) for _ in range(2))
        self.log_alpha = nn.Parameter(torch.zeros(1))


def relu_mlp(inputs: int, outputs: int, *, hidden: int = 128) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, outputs),
    )


class DiscreteSac:
    """The agent with its optimizers and target critics."""

    def __init__(self, args: Args, agent: Agent, num_actions: int) -> None:
        self._args = args
        self._agent = agent
        self._target_entropy = args.target_entropy_scale * math.log(num_actions)
        self._actor_optimizer = FlatAdam(agent.actor.parameters(), args.policy_lr, eps=1e-4)
        self._critics_optimizer = FlatAdam(agent.critics.parameters(), args.q_lr, eps=1e-4)
        self._alpha_optimizer = FlatAdam([agent.log_alpha], args.q_lr, eps=1e-4)
        self.target_critics = TargetNetwork(agent.critics, self._critics_optimizer)

    def update(self, batch: ReplayBatch) -> dict[str, Any]:
        """Update the critics, the actor and alpha with a batch; returns metrics."""
        agent, args = self._agent, self._args
        alpha = agent.log_alpha.detach().exp() if args.autotune else args.alpha
        with torch.no_grad():
            next_log_pi = agent.actor(batch.next_observations).log_softmax(dim=1)
            min_qf_next = min_q_values(self.target_critics.network, batch.next_observations)
            next_value = (next_log_pi.exp() * (min_qf_next - alpha * next_log_pi)).sum(dim=1)
            td_target = batch.rewards + args.gamma * (1.0 - batch.terminated) * next_value
        actions = batch.actions[:, None]
        q_values = [qf(batch.observations).gather(1, actions)[:, 0] for qf in agent.critics]
        qf_losses = [nn.functional.mse_loss(q_value, td_target) for q_value in q_values]
        self._critics_optimizer.minimize(qf_losses[0] + qf_losses[1])

        log_pi = agent.actor(batch.observations).log_softmax(dim=1)
        action_probs = log_pi.exp()
        with torch.no_grad():
            min_qf = min_q_values(agent.critics, batch.observations)
        actor_loss = (action_probs * (alpha * log_pi - min_qf)).sum(dim=1).mean()
        self._actor_optimizer.minimize(actor_loss)
        metrics = {
            "losses/qf1_values": q_values[0].detach().mean(),
            "losses/qf2_values": q_values[1].detach().mean(),
            "losses/qf1_loss": qf_losses[0].detach(),
            "losses/qf2_loss": qf_losses[1].detach(),
            "losses/qf_loss": (qf_losses[0] + qf_losses[1]).detach() / 2.0,
            "losses/actor_loss": actor_loss.detach(),
            "losses/alpha": alpha,
        }
        if args.autotune:
            entropy = -(action_probs * log_pi).sum(dim=1).mean().detach()
            alpha_loss = (agent.log_alpha.exp() * (entropy - self._target_entropy)).sum()
            self._alpha_optimizer.minimize(alpha_loss)
            metrics["losses/alpha_loss"] = alpha_loss.detach()
        return metrics

    def state(self) -> dict[str, Any]:
        return {
            "targets": self.target_critics.network.state_dict(),
            "actor_optimizer": self._actor_optimizer.state_dict(),
            "critics_optimizer": self._critics_optimizer.state_dict(),
            "alpha_optimizer": self._alpha_optimizer.state_dict(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.target_critics.network.load_state_dict(state["targets"])
        self._actor_optimizer.load_state_dict(state["actor_optimizer"])
        self._critics_optimizer.load_state_dict(state["critics_optimizer"])
        self._alpha_optimizer.load_state_dict(state["alpha_optimizer"])


def min_q_values(critics: Any, observations: torch.Tensor) -> torch.Tensor:
    """Return the minimum of both critics for each action."""
    return torch.min(critics[0](observations), critics[1](observations))


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "discrete")
    num_actions = int(envs.single_action_space.n)
    agent = Agent(int(envs.single_observation_space.shape[0]), num_actions).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    learner = DiscreteSac(args, agent, num_actions)
    actor = NumpyMlp(agent.actor)
    buffer = ReplayBuffer(
        args.buffer_size,
        envs.num_envs,
        envs.single_observation_space,
        envs.single_action_space,
        session.device,
    )
    updates = 0
    # A warm start fills the buffer with the actions of its policy.
    random_steps = 0 if session.warm_start else args.learning_starts
    if session.resumed:
        random_steps = session.resumed.training["random_steps"]
        learner.load(session.resumed.training["learner"])
        updates = session.resumed.training["updates"]
    replay_checkpoint = ReplayCheckpoint(buffer, session)
    learning_starts = replay_checkpoint.restore(args.learning_starts)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "training": {
                "learner": learner.state(),
                "updates": updates,
                "random_steps": random_steps,
                **replay_checkpoint.state(),
            },
        }

    updates_between_reports = max(1, REPORT_STEPS // args.update_frequency)
    # Must be last: it also restores the random state of a resumed training.
    obs = session.initial_observations(envs)
    step = session.first_step
    while step < args.total_timesteps:
        if step < random_steps:
            actions = np.random.randint(0, num_actions, size=envs.num_envs)
        else:
            logits = actor(np.asarray(obs, dtype=np.float32))
            actions = (logits + gumbel_noise(*logits.shape)).argmax(axis=1)
        next_obs, rewards, terminated, truncated, infos = envs.step(actions)
        step += envs.num_envs
        session.log_episodes(infos, terminated, truncated, step)
        buffer.add(obs, actions, rewards, terminated, next_obs, infos)
        obs = next_obs

        if step > learning_starts:
            for _ in range(count_due(step, envs.num_envs, args.update_frequency)):
                losses = learner.update(buffer.sample(args.batch_size))
                actor.refresh()
                updates += 1
                if updates % updates_between_reports == 0:
                    session.log_scalars({**losses, "charts/SPS": session.sps(step)}, step)
            for _ in range(count_due(step, envs.num_envs, args.target_network_frequency)):
                learner.target_critics.update(args.tau)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


class _Policy:
    def __init__(self, agent: Agent, *, sampled: bool) -> None:
        self._actor = NumpyMlp(agent.actor)
        self._sampled = sampled

    def act(self, observation: Any) -> Any:
        logits = self._actor(np.asarray(observation, dtype=np.float32))
        noise = gumbel_noise(*logits.shape) if self._sampled else 0.0
        return int(np.argmax(logits + noise))

    def best_actions(self, observations: Any) -> Any:
        """Return the most likely action of each float32 row."""
        return self._actor(observations).argmax(axis=1)


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    tensors = checkpoint.policy
    agent = Agent(tensors["actor.0.weight"].shape[1], tensors["actor.4.weight"].shape[0])
    agent.load_state_dict(tensors)
    return _Policy(agent, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
