"""TD3: twin delayed deep deterministic policy gradient, which reduces overestimation in DDPG.

Clipped double Q-learning with twin critics, delayed policy updates, and target policy smoothing
with clipped noise. For continuous actions.

Fujimoto et al., "Addressing Function Approximation Error in Actor-Critic Methods", 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.continuous_actions import (
    ActionBounds,
    DeterministicActor,
    NoisyActor,
    load_deterministic_policy,
)
from cleanrl_worker.common.flat_adam import FlatAdam, TargetNetwork, share_frozen_weights
from cleanrl_worker.common.networks import ContinuousCritic
from cleanrl_worker.common.replay_buffer import ReplayBuffer
from cleanrl_worker.common.replay_checkpoint import ReplayCheckpoint
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from cleanrl_worker.common.replay_buffer import ReplayBatch
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

LABEL = "TD3"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {
        "total_timesteps": 20_000,
        "learning_starts": 1_000,
        "learning_rate": 1e-3,
    },
    "box2d": {"total_timesteps": 500_000, "learning_starts": 10_000},
    "mujoco": {"total_timesteps": 1_000_000},
}
REPORT_STEPS = 100


@dataclass
class Args(SharedArgs):
    """Flags of TD3."""

    env_id: str = "Hopper-v5"
    """Id of the environment."""
    total_timesteps: int = 1_000_000
    """Total timesteps of the experiment, over all environments."""
    learning_rate: float = 3e-4
    """Learning rate of the optimizers."""
    buffer_size: int = 1_000_000
    """Size of the replay buffer."""
    gamma: float = 0.99
    """Discount factor gamma."""
    tau: float = 0.005
    """Target smoothing coefficient."""
    batch_size: int = 256
    """Batch size of an update, sampled from the replay buffer."""
    policy_noise: float = 0.2
    """Standard deviation of target policy noise, relative to the action scale."""
    exploration_noise: float = 0.1
    """Standard deviation of exploration noise, relative to the action scale."""
    learning_starts: int = 25_000
    """Steps with random actions before the first update."""
    policy_frequency: int = 2
    """Critic updates per update of the actor and targets."""
    noise_clip: float = 0.5
    """Clipping bound of the target policy noise."""


wrap = wrap_for_playing = flatten_observation
Agent = DeterministicActor


class TwinDelayedDdpg:
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
        self._actor_optimizer = FlatAdam(self.actor.parameters(), args.learning_rate)
        self._critics_optimizer = FlatAdam(self._critics.parameters(), args.learning_rate)
        self._target_actor = TargetNetwork(self.actor, self._actor_optimizer)
        self._target_critics = TargetNetwork(self._critics, self._critics_optimizer)
        self._frozen_critics = share_frozen_weights(self._critics)
        self._metrics: dict[str, torch.Tensor] = {}
        if session.resumed:
            self._load(session.resumed.training)

    def update(self, batch: ReplayBatch, global_step: int) -> None:
        """Update the critics, and the actor and the targets if due."""
        args = self._args
        with torch.no_grad():
            next_actions = self._smoothed_target_actions(batch.next_observations)
            qf1_next, qf2_next = self._target_critics.network(batch.next_observations, next_actions)
            min_qf_next = torch.minimum(qf1_next, qf2_next)
            td_target = batch.rewards + args.gamma * (1.0 - batch.terminated) * min_qf_next
        q_values = self._critics(batch.observations, batch.actions)
        qf_losses = (q_values - td_target).square().mean(dim=1)
        self._critics_optimizer.minimize(qf_losses.sum())
        self._metrics.update(qf_losses=qf_losses.detach(), q_values=q_values.detach())
        if global_step % args.policy_frequency == 0:
            actions = self.actor(batch.observations)
            actor_loss = -self._frozen_critics.q1_forward(batch.observations, actions).mean()
            self._actor_optimizer.minimize(actor_loss)
            self._metrics["actor_loss"] = actor_loss.detach()
            self._target_actor.update(args.tau)
            self._target_critics.update(args.tau)

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
        }
        if "actor_loss" in self._metrics:
            metrics["losses/actor_loss"] = self._metrics["actor_loss"].item()
        return metrics

    def state(self) -> dict[str, Any]:
        return {
            "critics": self._critics.state_dict(),
            "target_actor": self._target_actor.network.state_dict(),
            "target_critics": self._target_critics.network.state_dict(),
            "actor_optimizer": self._actor_optimizer.state_dict(),
            "critics_optimizer": self._critics_optimizer.state_dict(),
        }

    def _load(self, training: dict[str, Any]) -> None:
        self._target_actor.network.load_state_dict(training["target_actor"])
        self._target_critics.network.load_state_dict(training["target_critics"])
        self._actor_optimizer.load_state_dict(training["actor_optimizer"])
        self._critics_optimizer.load_state_dict(training["critics_optimizer"])

    def _smoothed_target_actions(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the target actor's actions with clipped noise."""
        args, scaled = self._args, self.actor.scaled
        actions = self._target_actor.network(observations)
        noise = torch.randn_like(actions).mul_(args.policy_noise)
        noise.clamp_(-args.noise_clip, args.noise_clip).mul_(scaled.action_scale)
        return torch.clamp(actions + noise, scaled.low, scaled.high)


def train(args: Args, session: TrainingSession) -> None:
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "box")
    space: Any = envs.single_action_space
    bounds = ActionBounds(space.low, space.high)
    learner = TwinDelayedDdpg(args, envs.observations.shape[1], bounds, session)
    act = NoisyActor(learner.actor, bounds, args.exploration_noise)
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
    """`sampled`: act with the exploration noise of training."""
    return load_deterministic_policy(checkpoint, checkpoint.args["exploration_noise"] * sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
