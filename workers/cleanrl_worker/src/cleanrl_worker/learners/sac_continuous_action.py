"""SAC: off-policy maximum-entropy actor-critic with a squashed Gaussian policy.

Twin critics estimate the return including future entropy; actor and targets use the minimum of
both. The entropy coefficient alpha is tuned towards a target entropy. For continuous actions.

Haarnoja et al., "Soft Actor-Critic Algorithms and Applications", 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.continuous_actions import (
    ActionBounds,
    ContinuousPolicy,
    ScaledActions,
    load_bounds,
)
from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork, share_frozen_weights
from cleanrl_worker.common.networks import ContinuousCritic
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.replay_buffer import ReplayBuffer
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.common.replay_buffer import ReplayBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "SAC"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {"total_timesteps": 20_000, "learning_starts": 1_000},
    "box2d": {"total_timesteps": 500_000, "learning_starts": 10_000},
    "mujoco": {"total_timesteps": 1_000_000},
}
REPORT_STEPS = 100
LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


@dataclass
class Args(SharedArgs):
    """Flags of SAC."""

    env_id: str = "Hopper-v5"
    """Id of the environment."""
    total_timesteps: int = 1_000_000
    """Total timesteps of the experiment, over all environments."""
    buffer_size: int = 1_000_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 0.005
    """Target smoothing coefficient."""
    batch_size: int = 256
    """Batch size of an update, sampled from the replay buffer."""
    learning_starts: int = 5_000
    """Steps with random actions before the first update."""
    policy_lr: float = 3e-4
    """Learning rate of the actor."""
    q_lr: float = 1e-3
    """Learning rate of the critics and of alpha."""
    policy_frequency: int = 2
    """Critic updates between delayed updates of the actor."""
    target_network_frequency: int = 1
    """Critic updates per update of the target critics."""
    alpha: float = 0.2
    """Entropy coefficient if autotune is off."""
    autotune: bool = True
    """Tune the entropy coefficient automatically."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """A Gaussian policy, squashed into the action bounds by tanh."""

    def __init__(self, observation_size: int, bounds: ActionBounds) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(observation_size, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, 2 * bounds.size),
        )
        self.scaled = ScaledActions(bounds)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return sampled actions and their log probabilities."""
        mean, log_std = self.network(observations).chunk(2, dim=1)
        log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (torch.tanh(log_std) + 1)
        noise = torch.randn_like(mean)
        squashed = torch.tanh(mean + log_std.exp() * noise)
        # The log density of the normal sample, corrected for squashing and scaling.
        log_prob = -0.5 * noise.square() - log_std - 0.5 * math.log(2 * math.pi)
        correction = torch.log(self.scaled.action_scale * (1 - squashed.square()) + 1e-6)
        return self.scaled(squashed), (log_prob - correction).sum(dim=1)


class SamplingActor:
    """The actor in numpy, for choosing actions."""

    def __init__(self, actor: Agent, bounds: ActionBounds, *, sampled: bool) -> None:
        """Without `sampled`, return the mean action."""
        self._network = NumpyMlp(actor.network)
        self._bounds = bounds
        self._sampled = sampled

    def __call__(self, observations: Any) -> Any:
        """Map rows of observations to rows of actions."""
        self._network.refresh()
        rows = np.asarray(observations, dtype=np.float32)
        mean, log_std = np.split(self._network(rows), 2, axis=1)
        if self._sampled:
            log_std = LOG_STD_MIN + 0.5 * (LOG_STD_MAX - LOG_STD_MIN) * (np.tanh(log_std) + 1)
            noise = np.random.standard_normal(mean.shape).astype(np.float32)
            mean = mean + np.exp(log_std) * noise
        return self._bounds.scale(np.tanh(mean))


class SoftActorCritic:
    """The networks, their optimizers and their update."""

    def __init__(
        self, args: Args, observation_size: int, bounds: ActionBounds, session: TrainingSession
    ) -> None:
        self._args = args
        self.actor = Agent(observation_size, bounds).to(session.device)
        self._critics = ContinuousCritic(2, observation_size + bounds.size).to(session.device)
        if session.warm_start:
            self.actor.load_state_dict(session.warm_start.policy)
            self._critics.load_state_dict(session.warm_start.training["critics"])
        self._actor_optimizer = FlatAdam(self.actor.parameters(), args.policy_lr)
        self._critics_optimizer = FlatAdam(self._critics.parameters(), args.q_lr)
        self._target_critics = TargetNetwork(self._critics, self._critics_optimizer)
        self._frozen_critics = share_frozen_weights(self._critics)
        self._log_alpha = nn.Parameter(torch.zeros(1, device=session.device))
        if session.warm_start:
            self._log_alpha.data.copy_(session.warm_start.training["log_alpha"])
        self._alpha_optimizer = FlatAdam([self._log_alpha], args.q_lr)
        self._target_entropy = -float(bounds.size)
        fixed_alpha = torch.full((1,), args.alpha, device=session.device)
        self._alpha = self._log_alpha.detach().exp() if args.autotune else fixed_alpha
        self._metrics: dict[str, Any] = {}
        if session.resumed:
            self._load(session.resumed.training)

    def update(self, batch: ReplayBatch, global_step: int) -> None:
        """Update the critics, and the actor and the targets if due."""
        args = self._args
        with torch.no_grad():
            next_actions, next_log_prob = self.actor(batch.next_observations)
            qf1_next, qf2_next = self._target_critics.network(batch.next_observations, next_actions)
            min_qf_next = torch.minimum(qf1_next, qf2_next) - self._alpha * next_log_prob
            td_target = batch.rewards + args.gamma * (1.0 - batch.terminated) * min_qf_next
        q_values = self._critics(batch.observations, batch.actions)
        qf_losses = (q_values - td_target).square().mean(dim=1)
        self._critics_optimizer.minimize(qf_losses.sum())
        if global_step % args.policy_frequency == 0:
            # Compensate for the delay, so that the actor is updated as often as the critics.
            for _ in range(args.policy_frequency):
                self._update_actor(batch.observations)
        if global_step % args.target_network_frequency == 0:
            self._target_critics.update(args.tau)
        self._metrics.update(qf_losses=qf_losses.detach(), q_values=q_values.detach())

    def losses(self) -> dict[str, Any]:
        """Return the metrics of the last update under TensorBoard tags."""
        qf1_loss, qf2_loss = self._metrics["qf_losses"].tolist()
        qf1_values, qf2_values = self._metrics["q_values"].mean(dim=1).tolist()
        metrics = {
            "losses/qf1_values": qf1_values,
            "losses/qf2_values": qf2_values,
            "losses/qf1_loss": qf1_loss,
            "losses/qf2_loss": qf2_loss,
            "losses/qf_loss": (qf1_loss + qf2_loss) / 2,
            "losses/alpha": self._alpha,
        }
        for name in ("actor_loss", "alpha_loss"):
            if name in self._metrics:
                metrics[f"losses/{name}"] = self._metrics[name]
        return metrics

    def state(self) -> dict[str, Any]:
        return {
            "critics": self._critics.state_dict(),
            "target": self._target_critics.network.state_dict(),
            "log_alpha": self._log_alpha.detach(),
            "optimizers": [optimizer.state_dict() for optimizer in self._optimizers()],
        }

    def _update_actor(self, observations: torch.Tensor) -> None:
        actions, log_prob = self.actor(observations)
        qf1, qf2 = self._frozen_critics(observations, actions)
        actor_loss = (self._alpha * log_prob - torch.minimum(qf1, qf2)).mean()
        self._actor_optimizer.minimize(actor_loss)
        self._metrics["actor_loss"] = actor_loss.detach()
        if self._args.autotune:
            entropy_error = (log_prob.detach() + self._target_entropy).mean()
            alpha_loss = (-self._log_alpha.exp() * entropy_error).sum()
            self._alpha_optimizer.minimize(alpha_loss)
            self._alpha = self._log_alpha.detach().exp()
            self._metrics["alpha_loss"] = alpha_loss.detach()

    def _optimizers(self) -> tuple[FlatAdam, ...]:
        return self._actor_optimizer, self._critics_optimizer, self._alpha_optimizer

    def _load(self, training: dict[str, Any]) -> None:
        self._target_critics.network.load_state_dict(training["target"])
        for optimizer, state in zip(self._optimizers(), training["optimizers"], strict=True):
            optimizer.load_state_dict(state)


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "box")
    space: Any = envs.single_action_space
    bounds = ActionBounds(space.low, space.high)
    learner = SoftActorCritic(args, envs.observations.shape[1], bounds, session)
    act = SamplingActor(learner.actor, bounds, sampled=True)
    buffer = ReplayBuffer(
        args.buffer_size, envs.num_envs, envs.single_observation_space, space, session.device
    )
    replay_checkpoint = ReplayCheckpoint(buffer, session)
    learning_starts = replay_checkpoint.restore(args.learning_starts)
    # A warm start fills the buffer with the actions of its policy.
    random_steps = 0 if session.warm_start else args.learning_starts
    if session.resumed:
        random_steps = session.resumed.training["random_steps"]

    def get_state() -> dict[str, Any]:
        training = {**learner.state(), "random_steps": random_steps}
        training.update(replay_checkpoint.state())
        return {"policy": learner.actor.state_dict(), "training": training}

    # Must be last: it also restores the random state of a resumed training.
    obs = session.initial_observations(envs)
    step = session.first_step
    while step < args.total_timesteps:
        actions = bounds.sample(envs.num_envs) if step < random_steps else act(obs)
        env_actions = actions.reshape(envs.num_envs, *space.shape).astype(space.dtype, copy=False)
        next_obs, rewards, terminated, truncated, infos = envs.step(env_actions)
        buffer.add(obs, actions, rewards, terminated, next_obs, infos)
        obs = next_obs
        # One update per step of each environment.
        for global_step in range(step, step + envs.num_envs):
            if global_step > learning_starts:
                learner.update(buffer.sample(args.batch_size), global_step)
                if global_step % REPORT_STEPS == 0:
                    scalars = {**learner.losses(), "charts/SPS": session.sps(global_step)}
                    session.log_scalars(scalars, global_step)
        step += envs.num_envs
        session.log_episodes(infos, terminated, truncated, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    """`sampled`: sample actions as in training, instead of taking the mean."""
    bounds = load_bounds(checkpoint)
    actor = Agent(checkpoint.policy["network.0.weight"].shape[1], bounds)
    actor.load_state_dict(checkpoint.policy)
    act = SamplingActor(actor, bounds, sampled=sampled)
    return ContinuousPolicy(act, checkpoint.action_space)


if __name__ == "__main__":
    run_as_script(Args, train)
