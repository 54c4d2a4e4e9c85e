"""PPO for continuous actions: clipped surrogate objective with a diagonal Gaussian policy.

The standard deviation is a learned parameter that does not depend on the state. Observations and
rewards are normalized, because their scales differ between environments.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017; Huang et al., "The 37
Implementation Details of Proximal Policy Optimization", 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from cleanrl_worker.arguments import SharedArgs
from cleanrl_worker.common.distributions import (
    normal_entropy,
    normal_log_prob,
    normal_log_prob_of_noise,
    normal_noise,
)
from cleanrl_worker.common.flat_adam import FlatAdam
from cleanrl_worker.common.networks import tanh_mlp
from cleanrl_worker.common.normalizer import Normalizer, load_observation_normalizer
from cleanrl_worker.common.numpy_mlp import NumpyMlp
from cleanrl_worker.common.rollout import Rollout, validate_rollout_size
from cleanrl_worker.common.update_metrics import UpdateMetrics, normalize_advantages
from cleanrl_worker.environments.make_env import flatten_observation
from cleanrl_worker.session.console import run_as_script

if TYPE_CHECKING:
    from collections.abc import Callable

    from cleanrl_worker.environments.same_step_vector import SameStepVector
    from cleanrl_worker.playing import Policy
    from cleanrl_worker.session.checkpoint import TrainingCheckpoint
    from cleanrl_worker.session.training_session import TrainingSession

    PerturbMean = Callable[[torch.Tensor], torch.Tensor]

LABEL = "PPO for continuous actions"
ACTION_SPACES = ("box",)
LARGE_NETWORK = False
RECOMMENDED = {
    "classic-control": {
        "total_timesteps": 300_000,
        "num_envs": 4,
        "num_steps": 1024,
        "learning_rate": 1e-3,
        "gamma": 0.9,
    },
    "box2d": {"total_timesteps": 2_000_000, "num_envs": 4, "num_steps": 1024},
    "mujoco": {"total_timesteps": 1_000_000, "num_envs": 1, "num_steps": 2048},
}


@dataclass
class Args(SharedArgs):
    """Flags of PPO for continuous actions."""

    env_id: str = "HalfCheetah-v5"
    """Id of the environment."""
    total_timesteps: int = 1_000_000
    """Total timesteps of the experiment, over all environments."""
    learning_rate: float = 3e-4
    """Learning rate of the optimizer."""
    num_steps: int = 2048
    """Steps of each environment per rollout."""
    anneal_lr: bool = True
    """Anneal the learning rate linearly to 0."""
    gamma: float = 0.99
    """Discount factor gamma."""
    gae_lambda: float = 0.95
    """GAE lambda: 0 uses values only, 1 uses rewards only."""
    num_minibatches: int = 32
    """Number of minibatches per epoch."""
    update_epochs: int = 10
    """Epochs per update."""
    norm_adv: bool = True
    """Normalize the advantages of each minibatch."""
    clip_coef: float = 0.2
    """Clipping coefficient of the surrogate objective."""
    clip_vloss: bool = True
    """Clip the value loss as well."""
    ent_coef: float = 0.0
    """Coefficient of the entropy bonus."""
    vf_coef: float = 0.5
    """Coefficient of the value loss."""
    max_grad_norm: float = 0.5
    """Maximum gradient norm."""
    target_kl: float | None = None
    """KL divergence that stops an update early."""


wrap = wrap_for_playing = flatten_observation


class Agent(nn.Module):
    """Separate actor and critic networks, and the bounds of the actions."""

    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, observation_size: int, low: Any, high: Any) -> None:
        super().__init__()
        self.critic = tanh_mlp(observation_size, 1)
        self.actor_mean = tanh_mlp(observation_size, low.size, std=0.01)
        self.actor_logstd = nn.Parameter(torch.zeros(low.size))
        # Infinite bounds become the largest float: infinity marks a broken checkpoint.
        for name, bound in (("low", low), ("high", high)):
            finite = np.nan_to_num(bound.reshape(-1).astype(np.float32))
            self.register_buffer(name, torch.from_numpy(finite))


def keep_mean(mean: torch.Tensor) -> torch.Tensor:
    return mean


def train(args: Args, session: TrainingSession, perturb_mean: PerturbMean = keep_mean) -> None:
    """`perturb_mean` changes the action means of the update, for RPO."""
    envs = session.make_envs(wrap)
    session.require_action_space(envs, "box")
    validate_rollout_size(args, session)
    observation_shape = envs.single_observation_space.shape
    action_space = envs.single_action_space
    agent = Agent(observation_shape[0], action_space.low, action_space.high).to(session.device)
    if session.warm_start:
        agent.load_state_dict(session.warm_start.policy)
    optimizer = FlatAdam(
        agent.parameters(), args.learning_rate, eps=1e-5, max_grad_norm=args.max_grad_norm
    )
    if session.resumed:
        optimizer.load_state_dict(session.resumed.training["optimizer"])
    normalizer = Normalizer(session, args.num_envs, observation_shape, args.gamma)
    actor = NumpyMlp(agent.actor_mean)
    rollout = Rollout(
        args.num_steps,
        args.num_envs,
        observation=(observation_shape, np.float32),
        action=((action_space.low.size,), np.float32),
    )
    batch_size = args.num_steps * args.num_envs
    iterations = max(1, args.total_timesteps // batch_size)

    def get_state() -> dict[str, Any]:
        return {
            "policy": agent.state_dict(),
            "normalization": normalizer.normalization(),
            "training": {"optimizer": optimizer.state_dict(), "rewards": normalizer.training()},
        }

    # Must be last: it also restores the random state of a resumed training.
    rollout.observations[-1] = normalizer.normalize_initial(session.initial_observations(envs))
    step = session.first_step
    for iteration in range(step // batch_size, iterations):
        if args.anneal_lr:
            optimizer.lr = args.learning_rate * (1.0 - iteration / iterations)
        actor.refresh()
        logprobs = collect(rollout, agent, actor, normalizer, envs, session, step)
        step += batch_size
        losses = update(args, agent, optimizer, rollout, logprobs, normalizer, perturb_mean)
        charts = {"charts/learning_rate": optimizer.lr, "charts/SPS": session.sps(step)}
        session.log_scalars({**charts, **losses}, step)
        if not session.on_iteration(step, get_state):
            break
    session.finish(step, get_state)


def collect(
    rollout: Rollout,
    agent: Agent,
    actor: NumpyMlp,
    normalizer: Normalizer,
    envs: SameStepVector,
    session: TrainingSession,
    step: int,
) -> Any:
    """Fill the rollout with the actor's steps; returns the log probabilities of its actions."""
    observations = rollout.observations
    observations[0] = observations[-1]
    low, high = agent.low.cpu().numpy(), agent.high.cpu().numpy()
    shape = (envs.num_envs, *envs.single_action_space.shape)
    log_std = agent.actor_logstd.detach().cpu().numpy()
    noise = normal_noise(*rollout.actions.shape)
    scaled_noise = np.exp(log_std) * noise
    for t in range(len(noise)):
        # The rollout stores the sampled action; the environment gets the clipped one.
        rollout.actions[t] = actions = actor(observations[t]) + scaled_noise[t]
        clipped = np.clip(actions, low, high).reshape(shape)
        next_obs, rewards, terminated, truncated, infos = envs.step(clipped)
        step += envs.num_envs
        observations[t + 1] = normalizer.observations.update(next_obs)
        rewards = normalizer.rewards.update(rewards, terminated | truncated)
        rollout.add(t, rewards, terminated, truncated, infos)
        session.log_episodes(infos, terminated, truncated, step)
    return normal_log_prob_of_noise(noise, log_std)


def update(
    args: Args,
    agent: Agent,
    optimizer: FlatAdam,
    rollout: Rollout,
    logprobs: Any,
    normalizer: Normalizer,
    perturb_mean: PerturbMean,
) -> dict[str, float]:
    """Optimize the policy with the rollout; returns metrics."""
    device = optimizer.flat.device

    def tensor(array: Any) -> torch.Tensor:
        """Flatten the steps of all environments."""
        return torch.from_numpy(array.reshape(-1, *array.shape[2:])).to(device)

    def get_value(observations: Any) -> Any:
        with torch.no_grad():
            values = agent.critic(torch.from_numpy(observations).to(device))
        return values[:, 0].cpu().numpy()

    advantages, returns, values = rollout.compute_gae(
        get_value,
        gamma=args.gamma,
        gae_lambda=args.gae_lambda,
        preprocess=normalizer.observations.normalize,
    )
    arrays = (rollout.observations[:-1], rollout.actions, logprobs, advantages, returns, values)
    batch = [tensor(array) for array in arrays]
    metrics = UpdateMetrics(args.clip_coef)
    low, high = 1.0 - args.clip_coef, 1.0 + args.clip_coef
    for _ in range(args.update_epochs):
        permutation = torch.from_numpy(np.random.permutation(rollout.rewards.size)).to(device)
        # Shuffle everything at once: then the minibatches are slices.
        slices = (array[permutation].tensor_split(args.num_minibatches) for array in batch)
        for minibatch in zip(*slices, strict=True):
            mb_obs, mb_actions, mb_logprobs, mb_advantages, mb_returns, mb_values = minibatch
            if args.norm_adv:
                mb_advantages = normalize_advantages(mb_advantages)
            mean = perturb_mean(agent.actor_mean(mb_obs))
            logratio = normal_log_prob(mb_actions, mean, agent.actor_logstd) - mb_logprobs
            ratio = logratio.exp()
            pg_loss = -torch.min(
                mb_advantages * ratio, mb_advantages * ratio.clamp(low, high)
            ).mean()

            newvalue = agent.critic(mb_obs)[:, 0]
            v_loss = (newvalue - mb_returns).square()
            if args.clip_vloss:
                v_clipped = mb_values + (newvalue - mb_values).clamp(
                    -args.clip_coef, args.clip_coef
                )
                v_loss = torch.max(v_loss, (v_clipped - mb_returns).square())
            v_loss = 0.5 * v_loss.mean()

            entropy = normal_entropy(agent.actor_logstd)
            loss = pg_loss - args.ent_coef * entropy + args.vf_coef * v_loss
            optimizer.minimize(loss)
            metrics.record(logratio, pg_loss, v_loss, entropy)
        if metrics.exceeds_kl(args.target_kl):
            break
    return metrics.as_scalars(values, returns)


class _Policy:
    def __init__(self, agent: Agent, checkpoint: TrainingCheckpoint, *, sampled: bool) -> None:
        self._actor = NumpyMlp(agent.actor_mean)
        self._normalizer = load_observation_normalizer(checkpoint)
        self._low, self._high = agent.low.numpy(), agent.high.numpy()
        self._std = agent.actor_logstd.detach().exp().numpy() if sampled else 0.0
        self._shape = tuple(checkpoint.action_space["shape"])

    def act(self, observation: Any) -> Any:
        mean = self._actor(self._normalizer.normalize(np.asarray(observation)))
        action = mean + self._std * normal_noise(*mean.shape)
        return np.clip(action, self._low, self._high).reshape(self._shape)


def load_policy(checkpoint: TrainingCheckpoint, *, sampled: bool = False) -> Policy:
    tensors = checkpoint.policy
    agent = Agent(
        tensors["actor_mean.0.weight"].shape[1], tensors["low"].numpy(), tensors["high"].numpy()
    )
    agent.load_state_dict(tensors)
    return _Policy(agent, checkpoint, sampled=sampled)


if __name__ == "__main__":
    run_as_script(Args, train)
